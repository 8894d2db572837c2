// SPDX-License-Identifier: BSD-3-Clause
// The system calls that a running router, DPDK and the C library make; no others.
#pragma once

namespace surety::system_calls {

// For all threads of the process, from now on. False: the kernel has no seccomp. Whoever calls has no way to
// new privileges (PR_SET_NO_NEW_PRIVS). `packet_sockets`: AF_PACKET and AF_XDP are among them, and what
// else takes a new port.
bool filter(bool packet_sockets = false);
// For the calling thread, and those that it makes: they are not. May be called by a signal handler.
bool forbid_packet_sockets();

}  // namespace surety::system_calls
