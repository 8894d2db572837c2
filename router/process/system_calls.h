// SPDX-License-Identifier: BSD-3-Clause
// The system calls that a running router, DPDK and the C library make; no others.
#pragma once

namespace surety::system_calls {

// Installs the filter for all threads of the process, permanently. False: the kernel has no seccomp. The
// caller must have no way to new privileges (PR_SET_NO_NEW_PRIVS). `packet_sockets`: permits AF_PACKET and
// AF_XDP, and the other calls that a new port needs.
bool filter(bool packet_sockets = false);
// Forbids packet sockets to the calling thread and its children. May be called by a signal handler.
bool forbid_packet_sockets();

}  // namespace surety::system_calls
