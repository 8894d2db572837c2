// SPDX-License-Identifier: BSD-3-Clause
// One end of a memif link that comes and goes: a thread of its own talks to peers, workers move packets.
//
// A peer is a process that may do anything: with its messages (session.h), with the memory (memory.h,
// queues.h), with its descriptors (doorbell.h). At worst it loses its link, and nobody new is let in for a
// second. There is one peer at a time, and no other can push it out; who does not say in time what it wants
// is sent away.
#pragma once

#include <rte_mbuf.h>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "router/dpdk/memif/burst_gate.h"
#include "router/dpdk/memif/doorbell.h"
#include "router/dpdk/memif/queues.h"
#include "router/dpdk/memif/session.h"
#include "router/dpdk/memif/wake.h"

namespace surety::memif {

class Port {
 public:
  // Serves the socket `path` or is its client, for as long as it lives. `pool`: what frames are received
  // into. std::system_error where the socket cannot be served.
  Port(const Terms& terms, const std::string& path, bool server, rte_mempool& pool);
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  bool connected() const { return connected_.load(std::memory_order_relaxed); }
  std::uint64_t missed() const { return missed_.load(std::memory_order_relaxed); }  // frames too long for us

  // Each queue has one thread, and so has transmit().
  std::size_t receive(std::uint16_t queue, std::span<rte_mbuf*> room);
  // Takes the first n of the burst over and returns n.
  std::size_t transmit(std::span<rte_mbuf*> burst);

  // Readable when something can be received in `queue`, between arm() and disarm(). -1: it has nothing of the
  // kind here.
  int wake_fd(std::uint16_t queue) const { return doorbell_.able() ? wakes_[queue].fd() : -1; }
  void arm(std::uint16_t queue);
  void disarm(std::uint16_t queue);

 private:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  struct Conversation {
    Fd socket;
    std::unique_ptr<Session> session;
    Time until;  // agreed by then, or gone
    unsigned heard = 0;
  };
  using Conversations = std::list<Conversation>;

  void run(const std::stop_token& stop);
  void tend(Time now);
  void wait(Time now);
  bool lets_in(Time now) const;
  void let_in(Time now);
  void call(Time now);
  void begin(Fd socket, std::unique_ptr<Session> session, Time now);
  void hear(Conversations::iterator from);
  bool say(Conversation& to);
  bool claimed_by_another(const Conversation& than) const;
  void connect(Conversations::iterator with);
  void disconnect();
  void part(Conversations::iterator from, const char* why);
  void refuse(Conversations::iterator whom, const char* why, Time now);
  void report(const Conversation& of, const char* why, Time now);
  void blame(Fault fault);

  BurstGate gate_;  // a cache line of its own
  const Terms terms_;
  const std::string path_;
  rte_mempool& pool_;
  Fd listener_;  // none: a client
  Fd event_;     // for the thread: there is something to do

  // The thread's.
  Conversations conversations_;
  Conversations::iterator live_ = conversations_.end();
  Time not_before_{};   // of the next conversation
  Time quiet_until_{};  // nothing is said before of those who were refused

  // The thread's while the gate is shut; else each queue is its worker's, who has its lane.
  Link link_;
  std::vector<ReceiveQueue> receive_;
  TransmitQueue transmit_;
  Doorbell doorbell_;  // of the transmit lane

  std::vector<Wake> wakes_;  // by queue
  std::atomic<bool> connected_{false};
  std::atomic<Fault> fault_{nullptr};
  std::atomic<std::uint64_t> missed_{0};
  std::jthread thread_;
};

}  // namespace surety::memif
