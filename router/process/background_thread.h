// SPDX-License-Identifier: BSD-3-Clause
// A background thread with signals blocked, so that the program's first thread gets them.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

#include "router/process/confinement.h"

namespace surety {

// Starts a thread; `run` gets a std::stop_token.
//
// Signals caused by the thread's own instructions stay unblocked: faults, and SIGSYS for refused system calls
// (system_calls.h). Blocked, these would end the process.
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
