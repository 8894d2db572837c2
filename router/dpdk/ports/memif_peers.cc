// SPDX-License-Identifier: BSD-3-Clause
// What makes DPDK's memif driver survive a peer that leaves at the wrong moment.
//
// A server greets whoever connects at once, from its listening socket's interrupt. Where that peer has gone
// already, sendmsg() fails, and the driver frees the connection but leaves its interrupt registered, of a
// descriptor that is closed: the interrupt thread ends the process (rte_panic), or, where the number has been
// taken anew, is called for somebody else's descriptor without end (DPDK 22.11, memif_listener_handler() of
// memif_socket.c). Any process that may connect can bring this about; a client that is stopped while it
// connects does, and one that looks whether somebody serves the socket (socket_file.h).
//
// So the process has a sendmsg() of its own, which the driver, as all shared libraries, finds before libc's:
// a message to a peer that has gone counts as sent. The driver then hears of the end where it expects it, by
// recvmsg(), and takes the connection down in order. Only sockets of memif's kind (SOCK_SEQPACKET) are
// treated so; and no peer that leaves raises SIGPIPE.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace {

bool has_peer_of_memif(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

ssize_t length_of(const msghdr& message) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < message.msg_iovlen; ++i) n += message.msg_iov[i].iov_len;
  return static_cast<ssize_t>(n);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  const ssize_t sent = syscall(SYS_sendmsg, fd, message, flags | MSG_NOSIGNAL);
  if (sent >= 0 || (errno != EPIPE && errno != ECONNRESET) || !has_peer_of_memif(fd)) return sent;
  return length_of(*message);
}
