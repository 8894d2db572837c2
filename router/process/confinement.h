// SPDX-License-Identifier: BSD-3-Clause
// What a process that has started may still do: so that who takes it over by a packet or a request has won
// little. Capabilities, no new privileges, system calls (seccomp: no new socket of TCP, among others), files
// and, as of Linux 6.7, TCP (Landlock: no listener, no connection by a socket that is there); of all threads.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "router/process/fd.h"

namespace surety {

// All that it will need.
struct Needs {
  std::set<int> capabilities;       // of the calling thread (CAP_...); all others are left with none
  std::vector<std::string> read;    // files, and directories with all that is in them
  std::vector<std::string> change;  // the same; sockets may be made in such directories, files removed
  std::vector<std::string> make;    // the same, and files and directories made
  bool packet_sockets =
      false;  // AF_PACKET and AF_XDP, by the calling thread; all others, found in /proc, are without
};

class Confinement {
 public:
  // For the process, for good; of a kernel that has no seccomp or Landlock, without these. Throws
  // std::system_error where one of its threads cannot be confined.
  //
  // A system call that is not among those that a router needs is refused (EPERM) and told once on standard
  // error, but does not end the process: one that a library has been found to make in rare cases would then
  // stop everybody's packets, and to whoever has taken over the process it is as useless.
  explicit Confinement(const Needs& needs);

  // For a thread that is made later by the one that may do more: it may do what all others do. Before there
  // is a confinement, nothing: then the thread is told like the others.
  static void join_others();

  // By which every thread is told; who blocks signals leaves it.
  static int signal();

  // What holds, for the log.
  const std::string& summary() const { return summary_; }

 private:
  std::string summary_;
  std::vector<Fd> pins_;  // of /proc: what Landlock allows there would be forgotten with the kernel's caches
};

}  // namespace surety
