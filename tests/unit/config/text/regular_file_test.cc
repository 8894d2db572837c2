// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/regular_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "config/parse.h"

namespace surety::config {
namespace {

namespace fs = std::filesystem;

class RegularFileTest : public testing::Test {
 protected:
  RegularFileTest() {
    char name[] = "/tmp/regular-XXXXXX";
    home_ = ::mkdtemp(name);
    ::alarm(60);  // a FIFO that is opened to be read stops whoever opens it
  }
  ~RegularFileTest() override {
    ::alarm(0);
    fs::remove_all(home_);
  }

  std::string at(const std::string& name) const { return (home_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name)) << text;
    return at(name);
  }
  std::string fifo(const std::string& name) const {
    EXPECT_EQ(::mkfifo(at(name).c_str(), 0600), 0);
    return at(name);
  }
  std::string link(const std::string& name, const std::string& to) const {
    fs::create_symlink(to, at(name));
    return at(name);
  }
  static std::string error_of(const std::string& path, Links links = Links::followed) {
    return RegularFile(path, links).error();
  }

  fs::path home_;
};

TEST_F(RegularFileTest, ReadsWhatARegularFileHas) {
  const std::string text = std::string(100'000, 'a') + '\0' + "b";
  const std::string path = write("a", text);
  RegularFile file(path);
  EXPECT_EQ(file.text(1 << 20), text);
  EXPECT_EQ(file.error(), "");
  RegularFile empty(write("empty", ""));
  EXPECT_EQ(empty.text(1 << 20), "");
  EXPECT_EQ(empty.error(), "");
  EXPECT_EQ(RegularFile(link("linked", path)).text(1 << 20), text);
  EXPECT_NE(RegularFile("/proc/self/status").text(1 << 20).find("Name:"), std::string::npos);
}

TEST_F(RegularFileTest, ReadsOneByteMoreThanTheLimitAndNoMore) {
  const std::string path = write("a", std::string(10'000, 'a'));
  for (const std::size_t limit : {std::size_t{1}, std::size_t{4096}, std::size_t{9'999}})
    EXPECT_EQ(RegularFile(path).text(limit).size(), limit + 1);
  EXPECT_EQ(RegularFile(path).text(10'000).size(), 10'000U);
  const std::string sparse = write("sparse", "");
  fs::resize_file(sparse, std::uintmax_t{1} << 40);
  EXPECT_EQ(RegularFile(sparse).text(4096).size(), 4097U);
}

TEST_F(RegularFileTest, SaysWhatElseItIs) {
  EXPECT_EQ(error_of(fifo("fifo")), "it is a FIFO, not a regular file");
  EXPECT_EQ(error_of(link("to-fifo", at("fifo"))), "it is a FIFO, not a regular file");
  EXPECT_EQ(error_of("/dev/zero"), "it is a device, not a regular file");
  EXPECT_EQ(error_of(link("to-device", "/dev/zero")), "it is a device, not a regular file");
  EXPECT_EQ(error_of(home_.string()), "Is a directory");
  EXPECT_EQ(error_of(at("nothing")), "No such file or directory");
  EXPECT_EQ(error_of(link("to-nothing", at("nothing"))), "No such file or directory");
  const int s = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{AF_UNIX, {}};
  std::strncpy(name.sun_path, at("socket").c_str(), sizeof name.sun_path - 1);
  ASSERT_EQ(::bind(s, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  EXPECT_EQ(error_of(at("socket")), "it is a socket, not a regular file");
  ::close(s);
}

// A shell passes `<(...)` so. A link to such a path is somebody else's, and examined like any other.
TEST_F(RegularFileTest, ReadsAPipeThatTheCallerHasPassed) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  EXPECT_EQ(error_of(link("to-pipe", path)), "it is a FIFO, not a regular file");
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  ::close(ends[1]);
  RegularFile file(path);
  EXPECT_EQ(file.text(100), "text");
  EXPECT_EQ(file.error(), "");
  ::close(ends[0]);
  EXPECT_EQ(error_of(path), "No such file or directory");
}

TEST_F(RegularFileTest, FollowsNoLinkToWhatAProgramHasWritten) {
  const std::string path = write("a", "a");
  EXPECT_EQ(error_of(path, Links::refused), "");
  EXPECT_EQ(error_of(link("linked", path), Links::refused), "it is a symbolic link, not a regular file");
}

TEST_F(RegularFileTest, AFifoThatIsSwappedInIsNeverOpened) {
  const std::string file = at("file");
  std::atomic<bool> stop = false;
  std::thread swapping([&] {
    while (!stop) {
      write("regular", "text");
      ::mkfifo(at("fifo").c_str(), 0600);
      ::rename(at("regular").c_str(), file.c_str());
      ::rename(at("fifo").c_str(), file.c_str());
    }
  });
  std::size_t read = 0, refused = 0;
  for (int i = 0; i < 1'000'000 && (i < 20'000 || read < 100 || refused < 100); ++i) {
    RegularFile opened(file);
    const std::string text = opened.text(100);
    if (opened.error().empty()) {
      EXPECT_EQ(text, "text");
      ++read;
    } else if (opened.error() != "No such file or directory") {  // before the first one
      ASSERT_EQ(opened.error(), "it is a FIFO, not a regular file");
      ++refused;
    }
  }
  stop = true;
  swapping.join();
  EXPECT_GT(read, 0U);
  EXPECT_GT(refused, 0U);
}

TEST_F(RegularFileTest, AConfigurationNamesTheFifoThatItIncludes) {
  fs::create_directory(at("customers"));
  fifo("customers/acme.yaml");
  const std::string main =
      write("edge.yaml", "version: 1\ninclude: customers/*.yaml\nservices: {a: !file secret}\n");
  fifo("secret");
  const auto result = parse_file(main);
  std::string said;
  for (const auto& d : result.diagnostics) said += d.format();
  EXPECT_NE(said.find("edge.yaml:2:10: error: `customers/acme.yaml`: cannot be read: it is a FIFO"),
            said.npos)
      << said;
  EXPECT_NE(said.find("`!file secret`: cannot be read: it is a FIFO, not a regular file"), said.npos) << said;
  EXPECT_FALSE(parse_file(at("secret")).ok());
}

TEST_F(RegularFileTest, WhatAConfigurationTakesFromFilesIsBounded) {
  std::string main = "version: 1\nservices:\n";
  write("large", std::string(3 << 20, 'a'));
  for (int i = 0; i < 100; ++i) main += "  s" + std::to_string(i) + ": !file large\n";
  fs::permissions(at("large"), fs::perms::owner_read);
  const auto result = parse_file(write("edge.yaml", main));
  const auto refused = std::ranges::count_if(result.diagnostics, [](const Diagnostic& d) {
    return d.message.find("larger than 4 MiB in all") != std::string::npos;
  });
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace surety::config
