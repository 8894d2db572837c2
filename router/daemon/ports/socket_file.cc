// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/socket_file.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>

#include "router/process/fd.h"

namespace surety {

SocketFile look_at_socket(const std::string& path, int type) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) != 0) return errno == ENOENT ? SocketFile::absent : SocketFile::other;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!S_ISSOCK(file.st_mode) || path.size() >= sizeof address.sun_path) return SocketFile::other;
  path.copy(address.sun_path, path.size());
  const Fd probe(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return SocketFile::live;
  if (errno == ECONNREFUSED) return SocketFile::stale;
  if (errno == ENOENT) return SocketFile::absent;  // gone meanwhile
  // EAGAIN: its queue is full; EPROTOTYPE: another type. Both mean that a server is listening.
  return errno == EAGAIN || errno == EPROTOTYPE ? SocketFile::live : SocketFile::other;
}

}  // namespace surety
