// SPDX-License-Identifier: BSD-3-Clause
// A router's place in the line of processes that forward under its name: it may take over from an old process
// at its start, and hand over to a new one at its end (hand_over.h has the protocol).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "router/daemon/hand_over.h"

namespace surety {

class EventLog;
class Interfaces;
class Phases;
class ProcessLock;
class WorkerSet;

// The layout of a router's interfaces: contracts' keys have their numbers.
std::string layout_of(const Interfaces& interfaces);

class Succession {
 public:
  // `lock`: on the router's name; nullptr: `old_process` has it, and passes it on with its ports.
  Succession(std::unique_ptr<ProcessLock> lock, std::unique_ptr<OldProcess> old_process);
  ~Succession();
  Succession(const Succession&) = delete;
  Succession& operator=(const Succession&) = delete;

  // Facts of the old process, until it has ended; nullptr: there is none.
  const RouterFacts* old_process() const { return old_process_ ? &old_process_->facts() : nullptr; }
  // Ends the old process's forwarding, and returns its state; empty: there is none, or it has died. Throws
  // std::runtime_error if another process forwards.
  HandoverState inherit(const std::string& router, Phases& starting);
  // Restores the state of contracts, before the workers start. False, with a warning: the old process had
  // another configuration than `self`, whose rules and interfaces have other numbers.
  bool restore(const HandoverState& state, const RouterFacts& self, WorkerSet& workers) const;
  // Waits until the old process has ended its control of the kernel.
  void wait_for_rest();
  // This process forwards now: the old one exits.
  void taken();
  // Takes over a reload request that reached the old process too late.
  void hear_old_process(std::atomic<bool>& reload);

  // Answers a process that wants to take over. Thread-safe, as both below.
  void begin(std::string_view version, const RouterFacts& self, Fd& socket) {
    new_process_.begin(version, self, socket);
  }
  // True while such a process is alive.
  bool has_begun() { return new_process_.is_there(); }
  // True once it wants to forward.
  bool is_due() { return new_process_.takes(); }
  // The steps of a handover after the workers' and the control thread's end, in their order.
  struct Steps {
    std::function<HandoverState()> leave;
    std::function<void()> close_devices, close_rest;
  };
  // Performs them, and exits; `reload`: a reload request to pass on. Throws std::runtime_error if the new
  // process has died.
  [[noreturn]] void hand_over(const Steps& steps, EventLog& events, const std::atomic<bool>& reload);

  // Releases the router's name.
  void close();

 private:
  std::unique_ptr<ProcessLock> lock_;
  std::unique_ptr<OldProcess> old_process_;  // set until the old process has ended
  NewProcess new_process_;
};

}  // namespace surety
