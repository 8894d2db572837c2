// SPDX-License-Identifier: BSD-3-Clause
// What a router's telemetry socket looks like from outside: a directory of its own,
// a greeting, an answer per request.
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace surety::test {

// A runtime directory that others may enter, gone with the object.
class RuntimeDirectory {
 public:
  RuntimeDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "suretyXXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = pattern;
    chmod(pattern.c_str(), 0755);
  }
  ~RuntimeDirectory() { std::filesystem::remove_all(path_); }
  RuntimeDirectory(const RuntimeDirectory&) = delete;
  RuntimeDirectory& operator=(const RuntimeDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A socket bound where a router of that name has it; nobody listens yet.
inline int bind_router(const RuntimeDirectory& directory, const std::string& name) {
  const auto folder = directory.path() / "dpdk" / ("surety-" + name);
  std::filesystem::create_directories(folder);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder / "dpdk_telemetry.v2";
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("bind");
  return fd;
}

// Answers each request with answer(request); an empty answer closes the connection instead.
class FakeRouter {
 public:
  using Answer = std::function<std::string(const std::string&)>;
  FakeRouter(const RuntimeDirectory& directory, const std::string& name, Answer answer,
             std::uint64_t network_namespace = 0)
      : answer_(std::move(answer)),
        network_namespace_(network_namespace),
        listener_(bind_router(directory, name)) {
    listen(listener_, 8);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeRouter() {
    shutdown(listener_, SHUT_RDWR);  // accept() returns
    thread_.join();
    close(listener_);
  }
  FakeRouter(const FakeRouter&) = delete;
  FakeRouter& operator=(const FakeRouter&) = delete;

 private:
  void serve() {
    for (int fd; (fd = accept(listener_, nullptr, nullptr)) >= 0; close(fd)) converse(fd);
  }
  void converse(int fd) {
    const std::string greeting =
        R"({"version":"surety 0.1.0","pid":1,"max_output_len":16384,"network_namespace":)" +
        std::to_string(network_namespace_) + '}';
    if (send(fd, greeting.data(), greeting.size(), MSG_NOSIGNAL) < 0) return;
    std::string request(1024, '\0');
    for (ssize_t n; (n = recv(fd, request.data(), request.size(), 0)) > 0;) {
      const std::string answer = answer_(request.substr(0, static_cast<std::size_t>(n)));
      if (answer.empty() || send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return;
    }
  }

  Answer answer_;
  std::uint64_t network_namespace_;
  int listener_;
  std::thread thread_;
};

}  // namespace surety::test
