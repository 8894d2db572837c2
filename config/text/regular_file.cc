// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace surety::config {
namespace {

constexpr std::size_t kAtFirst = 4096;  // for files of unknown size, like the kernel's own
constexpr int kReading = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::string kind(mode_t mode) {
  const auto not_one = [](const char* what) { return fmt::format("it is a {}, not a regular file", what); };
  switch (mode & S_IFMT) {
    case S_IFREG:
      return {};
    case S_IFDIR:
      return std::strerror(EISDIR);
    case S_IFIFO:
      return not_one("FIFO");
    case S_IFSOCK:
      return not_one("socket");
    case S_IFCHR:
    case S_IFBLK:
      return not_one("device");
    case S_IFLNK:
      return not_one("symbolic link");
    default:
      return "it is not a regular file";
  }
}

// Opens the examined inode by its descriptor, or by its path where no /proc is mounted. The caller examines
// what it gets again.
int open_again(int inode, const std::string& path, int nofollow) {
  const int fd = ::open(fmt::format("/proc/self/fd/{}", inode).c_str(), kReading);
  return fd < 0 && errno == ENOENT ? ::open(path.c_str(), kReading | nofollow) : fd;
}

bool is_passed_descriptor(const std::string& path) {
  return path == "/dev/stdin" || path.starts_with("/dev/fd/");
}

}  // namespace

std::string not_regular(int descriptor) {
  struct stat is {};
  return ::fstat(descriptor, &is) == 0 ? kind(is.st_mode) : std::strerror(errno);
}

RegularFile::RegularFile(const std::string& path, Links links) {
  if (links == Links::followed && is_passed_descriptor(path)) {
    fd_ = ::open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (fd_ < 0) error_ = std::strerror(errno);
    return;
  }
  const int nofollow = links == Links::refused ? O_NOFOLLOW : 0;
  const int inode = ::open(path.c_str(), O_PATH | O_CLOEXEC | nofollow);
  if (inode < 0) {
    error_ = std::strerror(errno);
    return;
  }
  error_ = not_regular(inode);
  if (error_.empty() && (fd_ = open_again(inode, path, nofollow)) < 0) error_ = std::strerror(errno);
  ::close(inode);
  if (!error_.empty()) return;
  struct stat is {};
  error_ = ::fstat(fd_, &is) == 0 ? kind(is.st_mode) : std::strerror(errno);
  mode_ = is.st_mode & 07777u;
}

RegularFile::~RegularFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::string RegularFile::text(std::size_t limit) {
  if (!error_.empty()) return {};
  struct stat is {};
  ::fstat(fd_, &is);
  // The buffer has the size of the file, so that a secret leaves no copy in a smaller buffer.
  const auto says = static_cast<std::size_t>(std::max<off_t>(is.st_size, 0));
  std::string text(std::min(limit, std::max(says, kAtFirst)) + 1, '\0');
  for (std::size_t have = 0;;) {
    const ssize_t n = ::read(fd_, text.data() + have, text.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return error_ = std::strerror(errno), std::string();
    have += static_cast<std::size_t>(n);
    if (n == 0 || have > limit) {
      text.resize(have);
      return text;
    }
    if (have == text.size()) text.resize(std::min(2 * have, limit + 1));
  }
}

}  // namespace surety::config
