// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/process_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "config/text/regular_file.h"

namespace surety {

namespace {

std::string path_of(const std::string& what) {
  const bool root = geteuid() == 0;
  const std::string directory = ProcessLock::directory();
  if (root && access(directory.c_str(), F_OK) != 0) mkdir(directory.c_str(), 0755);
  return root ? fmt::format("{}/{}.lock", directory, what)
              : fmt::format("{}/surety-{}-{}.lock", directory, geteuid(), what);
}

constexpr auto kPatience = std::chrono::seconds(10);
constexpr auto kLookAgain = std::chrono::milliseconds(10);
constexpr unsigned long kExiting = 4;  // PF_EXITING of proc(5), stat: flags

// True if the process has ended, and the kernel is freeing its memory and files.
bool is_ending(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  const auto name_ends = stat.rfind(')');
  if (name_ends == std::string::npos) return true;
  std::istringstream fields(stat.substr(name_ends + 1));
  std::string state, skipped;
  unsigned long flags = 0;
  fields >> state;
  for (int i = 0; i < 5; ++i) fields >> skipped;
  fields >> flags;
  return state == "Z" || state == "X" || (flags & kExiting) != 0;
}

[[noreturn]] void cannot_write(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), "cannot write " + path);
}

}  // namespace

ProcessLock::ProcessLock(const std::string& what) : path_(path_of(what)) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!take()) {
    std::array<char, 16> pid{};
    const auto n = read(fd_.get(), pid.data(), pid.size());
    holder_ = n > 0 ? std::string(pid.data(), static_cast<std::size_t>(n)) : "unknown";
    if (n <= 0 || !is_ending(*holder_) || std::chrono::steady_clock::now() > until) return;
    std::this_thread::sleep_for(kLookAgain);
  }
  holder_.reset();
  write_pid();
}

bool ProcessLock::take() {
  fd_ = Fd(open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644));
  if (!fd_) cannot_write(path_);
  if (const auto why = config::not_regular(fd_.get()); !why.empty())
    throw std::runtime_error("cannot write " + path_ + ": " + why);
  if (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) return false;
  // A lock on a file that its holder has removed meanwhile is no lock.
  struct stat ours {
  }, there{};
  if (fstat(fd_.get(), &ours) == 0 && stat(path_.c_str(), &there) == 0 && ours.st_ino == there.st_ino)
    return true;
  return take();
}

ProcessLock::ProcessLock(const std::string& what, Fd fd) : path_(path_of(what)), fd_(std::move(fd)) {
  write_pid();
}

void ProcessLock::write_pid() const {
  const std::string pid = std::to_string(getpid());
  if (ftruncate(fd_.get(), 0) != 0 || pwrite(fd_.get(), pid.data(), pid.size(), 0) < 0) cannot_write(path_);
}

std::string ProcessLock::directory() {
  return geteuid() == 0 ? "/run/surety" : "/tmp";
}

ProcessLock::~ProcessLock() {
  if (!holder_ && !left_) unlink(path_.c_str());
}

}  // namespace surety
