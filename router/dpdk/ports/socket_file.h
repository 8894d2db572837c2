// SPDX-License-Identifier: BSD-3-Clause
// The file of a Unix socket: is somebody there, or has it been left behind?
#pragma once

#include <string>

namespace surety {

enum class SocketFile {
  absent,
  live,   // a server listens
  stale,  // a socket, but nobody listens: its server has died
  other   // not a socket, or not ours to ask
};

// Asks by connecting, and closes at once. `type`: SOCK_STREAM, SOCK_SEQPACKET.
SocketFile look_at_socket(const std::string& path, int type);

}  // namespace surety
