// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "router/process/fd.h"

namespace surety::disk {
namespace {

constexpr std::size_t kMostBytes = 16 << 20;  // largest file

[[noreturn]] void fail(std::string_view what, const fs::path& path, std::string_view why) {
  throw std::runtime_error(fmt::format("cannot {} {}: {}", what, path.string(), why));
}
[[noreturn]] void fail(std::string_view what, const fs::path& path, int error = errno) {
  fail(what, path, std::strerror(error));
}

void sync_directory(const fs::path& directory) {
  const Fd at(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at || ::fsync(at.get()) != 0) fail("write", directory);
}

// Only root can change a file's owner; other users own the file already. A confined router may not do either,
// and need not.
void give(const Fd& to, const Rights& rights, const fs::path& path) {
  struct stat is {};
  if (::fstat(to.get(), &is) != 0) fail("read", path);
  if ((is.st_mode & 07777u) != rights.mode && ::fchmod(to.get(), rights.mode) != 0) fail("write", path);
  const uid_t user = rights.user.value_or(is.st_uid);
  const gid_t group = rights.group.value_or(is.st_gid);
  if ((user != is.st_uid || group != is.st_gid) && ::fchown(to.get(), user, group) != 0 && ::geteuid() == 0)
    fail("set the owner of", path);
}

}  // namespace

std::optional<Rights> rights_of(const fs::path& path) {
  struct stat is {};
  if (::stat(path.c_str(), &is) == 0) return Rights{is.st_mode & 07777u, is.st_uid, is.st_gid};
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  fail("read", path);
}

std::string read(const fs::path& path, config::Links links) {
  config::RegularFile file(path, links);
  std::string text = file.text(kMostBytes);
  if (!file.error().empty()) fail("read", path, file.error());
  if (text.size() > kMostBytes) fail("read", path, "it is larger than 16 MiB");
  return text;
}

void write(const fs::path& file, std::string_view text, const Rights& rights) {
  constexpr int kWriting = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const Fd to(::open(file.c_str(), kWriting, 0600));
  if (!to && errno == ENXIO) fail("write", file, "it is a FIFO or a socket, not a regular file");
  if (!to) fail("write", file);
  if (const auto why = config::not_regular(to.get()); !why.empty()) fail("write", file, why);
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t n = ::write(to.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", file);
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  give(to, rights, file);
  if (::fsync(to.get()) != 0) fail("write", file);
  sync_directory(file.parent_path());
}

void replace(const fs::path& file, std::string_view text, const Rights& rights) {
  const fs::path beside = file.parent_path() / ("." + file.filename().string() + ".new");
  try {
    write(beside, text, rights);
    disk::rename(beside, file);
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
}

void make_directory(const fs::path& directory, const Rights& rights) {
  if (directory.empty() || rights_of(directory)) return;
  make_directory(directory.parent_path(), rights);
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) fail("make", directory);
  const Fd made(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!made) fail("read", directory);
  give(made, rights, directory);
  sync_directory(directory.parent_path());
}

void rename(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail("replace", to);
  sync_directory(to.parent_path());
}

void remove(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  // A path below a file does not exist.
  if (error && error != std::errc::not_a_directory) fail("remove", path, error.value());
}

}  // namespace surety::disk
