// SPDX-License-Identifier: BSD-3-Clause
// Restricts a process after its start, so that an attacker gains little by taking it over with a packet or a
// request. Covers, for all threads: capabilities, no new privileges, system calls (seccomp: no new TCP
// socket, among others), files and, since Linux 6.7, TCP (Landlock: no listening, no connection by an
// existing socket).
#pragma once

#include <pthread.h>
#include <signal.h>

#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "router/process/fd.h"

namespace surety {

struct Needs;

// Landlock (landlock(7)): restricts the files that a thread and its children may open; if the kernel supports
// it, also prohibits connecting to or listening at TCP ports.
namespace landlock {

// The kernel's ABI version; below 1: no Landlock.
long abi();
// The restrictions of that version, for the log.
std::string_view summary(long abi);

// The ruleset as far as the kernel supports it; empty: no Landlock. Paths that do not exist are left out.
// `pins`: descriptors that must stay open while the ruleset is in force.
Fd ruleset(const Needs& needs, std::vector<Fd>& pins);
// Restricts the calling thread, which has no way to new privileges. May be called by a signal handler.
bool enforce(int ruleset);

}  // namespace landlock

// The system calls that a running router, DPDK and the C library make; no others (seccomp).
namespace system_calls {

// Installs the filter for all threads of the process, permanently. False: the kernel has no seccomp. The
// caller must have no way to new privileges (PR_SET_NO_NEW_PRIVS). `packet_sockets`: permits AF_PACKET and
// AF_XDP, and the other calls that a new port needs.
bool filter(bool packet_sockets = false);
// Forbids packet sockets to the calling thread and its children. May be called by a signal handler.
bool forbid_packet_sockets();

}  // namespace system_calls

// The privileges that a process still needs.
struct Needs {
  std::set<int> capabilities;       // CAP_... of the calling thread; all other threads have none
  std::vector<std::string> read;    // files, and directories with all their content
  std::vector<std::string> change;  // files and directories, in which sockets may be made and files removed
  std::vector<std::string> make;    // directories, in which files and directories may be made, too
  bool packet_sockets =
      false;  // AF_PACKET and AF_XDP, for the calling thread; all others, found in /proc, have none
};

class Confinement {
 public:
  // Confines the process, permanently; without seccomp or Landlock if the kernel has none. Throws
  // std::system_error if one of its threads cannot be confined.
  //
  // A system call that a router does not need is refused (EPERM) and reported once on standard error, but
  // does not end the process: otherwise a library's rare call would stop all packets, and the call is as
  // useless to an attacker.
  explicit Confinement(const Needs& needs);

  // Called on a thread that the privileged thread makes later: restricts it as all others. Does nothing
  // before there is a confinement, which then confines the thread, too.
  static void join_others();

  // The signal that makes each thread confine itself; it must not be blocked.
  static int signal();

  // The restrictions in force, for the log.
  const std::string& summary() const { return summary_; }

 private:
  std::string summary_;
  std::vector<Fd>
      pins_;  // open descriptors in /proc: a Landlock rule there would be lost with the kernel's caches
};

// Starts a background thread with signals blocked, so that the program's first thread gets them; `run` gets a
// std::stop_token.
//
// Signals caused by the thread's own instructions stay unblocked: faults, and SIGSYS for refused system
// calls. Blocked, these would end the process. Confinement::signal() stays unblocked, too.
template <class Run>
std::jthread background_thread(Run&& run) {
  sigset_t others, before;
  sigfillset(&others);
  for (const int open : {Confinement::signal(), SIGSYS, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    sigdelset(&others, open);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  std::jthread thread(std::forward<Run>(run));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace surety
