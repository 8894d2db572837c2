// SPDX-License-Identifier: BSD-3-Clause
// A thread of a library of ours, beside the program's first one, which alone hears signals.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

#include "router/process/confinement.h"

namespace surety {

// `run` gets a std::stop_token.
//
// What the thread's own instructions bring stays open: a fault, and SIGSYS, by which a system call that no
// router makes is refused (system_calls.h). Blocked, these would end the process.
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
