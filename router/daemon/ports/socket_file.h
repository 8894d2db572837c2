// SPDX-License-Identifier: BSD-3-Clause
// State of the file of a Unix socket.
#pragma once

#include <string>

namespace surety {

enum class SocketFile {
  absent,
  live,   // a server listens
  stale,  // a socket without a listener: its server has died
  other   // not a socket, or not accessible
};

// Connects, and closes at once. `type`: SOCK_STREAM, SOCK_SEQPACKET.
SocketFile look_at_socket(const std::string& path, int type);

}  // namespace surety
