// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/memif/session.h"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

namespace surety::memif {

namespace {

constexpr int kSocket = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;

// This holds exactly one descriptor: the padding of CMSG_SPACE() has room for a second.
union Ancillary {
  cmsghdr header;
  char bytes[CMSG_LEN(sizeof(int))];
};

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

Fd fd_in(msghdr& header) {
  const cmsghdr* const c = CMSG_FIRSTHDR(&header);
  if (c == nullptr || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
      c->cmsg_len != CMSG_LEN(sizeof(int)))
    return {};
  int fd;
  std::memcpy(&fd, CMSG_DATA(c), sizeof fd);
  return Fd(fd);
}

[[noreturn]] void fail() {
  throw std::system_error(errno, std::generic_category());
}

}  // namespace

std::optional<ReceivedMessage> receive(int socket) {
  ReceivedMessage received;
  Ancillary ancillary{};
  iovec part{&received.message, sizeof received.message};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = &ancillary;
  header.msg_controllen = sizeof ancillary.bytes;
  const ssize_t n = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0) return std::nullopt;
  received.fd = fd_in(header);
  const bool whole = n == sizeof received.message && (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  return whole ? std::optional(std::move(received)) : std::nullopt;
}

bool send(int socket, const Message& message, int fd) {
  Ancillary ancillary{};
  iovec part{const_cast<Message*>(&message), sizeof message};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (fd >= 0) {
    ancillary.header = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    std::memcpy(CMSG_DATA(&ancillary.header), &fd, sizeof fd);
    header.msg_control = &ancillary;
    header.msg_controllen = sizeof ancillary.bytes;
  }
  return ::sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof message;
}

Fd listen_at(const std::string& path, int backlog) {
  Fd fd(::socket(AF_UNIX, kSocket, 0));
  const sockaddr_un address = address_of(path);
  // The file gets the mode that the socket has when it is bound.
  if (!fd || ::fchmod(fd.get(), S_IRUSR | S_IWUSR) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), backlog) != 0)
    fail();
  return fd;
}

Fd connect_to(const std::string& path) {
  Fd fd(::socket(AF_UNIX, kSocket, 0));
  const sockaddr_un address = address_of(path);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  return fd;
}

ucred peer_of(int socket) {
  ucred peer{.pid = 0, .uid = static_cast<uid_t>(-1), .gid = static_cast<gid_t>(-1)};
  socklen_t size = sizeof peer;
  ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return peer;
}

}  // namespace surety::memif
