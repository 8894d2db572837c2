// SPDX-License-Identifier: BSD-3-Clause
// Control messages through a Unix socket (SOCK_SEQPACKET), each with at most one descriptor. Nothing here
// waits.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <optional>
#include <string>

#include "router/dpdk/memif/message.h"
#include "router/process/fd.h"

namespace surety::memif {

struct Letter {
  Message message;
  Fd fd;  // what comes with it; more than one are not let in
};

// none: the peer has gone, or says what is no message; nothing more is to be expected of it.
std::optional<Letter> receive(int socket);
// `fd`: -1: none. false: it cannot be said, now or ever.
bool send(int socket, const Message& message, int fd = -1);

// As std::system_error, what the kernel refuses. The socket's file is its user's alone, whatever the umask.
Fd listen_at(const std::string& path, int backlog);
// Empty: nobody to talk to there, for now.
Fd connect_to(const std::string& path);
// Of whom the kernel says that it made the other end.
ucred peer_of(int socket);

}  // namespace surety::memif
