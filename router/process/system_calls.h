// SPDX-License-Identifier: BSD-3-Clause
// The system calls that a running router, DPDK and the C library make; no others.
#pragma once

namespace surety::system_calls {

// For all threads of the process, from now on. False: the kernel has no seccomp. Whoever calls has no way to
// new privileges (PR_SET_NO_NEW_PRIVS).
bool filter();

}  // namespace surety::system_calls
