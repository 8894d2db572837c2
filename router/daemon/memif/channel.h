// SPDX-License-Identifier: BSD-3-Clause
// Control messages through a Unix socket (SOCK_SEQPACKET), each with at most one descriptor. Nothing here
// blocks.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <optional>
#include <string>

#include "router/daemon/memif/message.h"
#include "router/process/fd.h"

namespace surety::memif {

struct Letter {
  Message message;
  Fd fd;  // the descriptor that came with it; messages with more are refused
};

// nullopt: the peer has closed the socket or sent no valid message; no more is to be received.
std::optional<Letter> receive(int socket);
// `fd`: -1: none. false: it could not be sent, and cannot be later.
bool send(int socket, const Message& message, int fd = -1);

// Throws std::system_error. Only the file's user may open the socket, whatever the umask.
Fd listen_at(const std::string& path, int backlog);
// Returns an empty Fd if no server listens there now.
Fd connect_to(const std::string& path);
// Credentials of the process that created the other end.
ucred peer_of(int socket);

}  // namespace surety::memif
