// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/change_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "config/text/regular_file.h"

namespace surety {

// Returns the holder, in words; nullopt: this process has the lock. The file stays: a lock on a file that is
// removed meanwhile is no lock.
std::optional<std::string> ChangeLock::take(const std::filesystem::path& directory, std::string_view who,
                                            std::string_view what) {
  const auto path = directory / "lock";
  const auto fail = [&] {
    throw std::runtime_error(fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
  };
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!file) fail();
  if (const auto why = config::not_regular(file.get()); !why.empty())
    throw std::runtime_error(fmt::format("cannot write {}: {}", path.string(), why));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) fail();
    std::array<char, 512> text{};
    const ssize_t n = ::pread(file.get(), text.data(), text.size(), 0);
    return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : "another process";
  }
  // Shared with the router's own user, whichever process is first.
  if (struct stat owner{}; ::stat(directory.c_str(), &owner) == 0 && owner.st_uid != ::geteuid())
    if (::fchown(file.get(), owner.st_uid, owner.st_gid) != 0 && ::geteuid() == 0) fail();
  // The lock is held even if a full disk prevents writing the name.
  const std::string name = fmt::format("{} ({}, process {})", who, what, ::getpid());
  if (::ftruncate(file.get(), 0) == 0 && ::pwrite(file.get(), name.data(), name.size(), 0) < 0) {
  }
  file_ = std::move(file);
  return std::nullopt;
}

ChangeLock::ChangeLock(const std::filesystem::path& directory, std::string_view who, std::string_view what) {
  auto holder = take(directory, who, what);
  for (int i = 0; holder && i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    holder = take(directory, who, what);
  }
  if (holder)
    throw std::runtime_error(
        fmt::format("{} is changing this at the moment: try again when that is done", *holder));
}

std::optional<ChangeLock> ChangeLock::if_free(const std::filesystem::path& directory, std::string_view who,
                                              std::string_view what) {
  ChangeLock lock;
  if (lock.take(directory, who, what)) return std::nullopt;
  return lock;
}

}  // namespace surety
