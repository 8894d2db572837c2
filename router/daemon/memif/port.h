// SPDX-License-Identifier: BSD-3-Clause
// One end of a memif link, which may connect and disconnect: a thread of its own exchanges messages with
// peers, workers move packets.
//
// A peer is a process that may do anything: with its messages (session.h), with the memory (memory.h,
// queues.h), with its descriptors (doorbell.h). At worst it loses its link, and no new connection is accepted
// for a second. There is one peer at a time, and another cannot displace it; a peer that does not agree in
// time is disconnected.
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

#include "router/daemon/memif/burst_gate.h"
#include "router/daemon/memif/doorbell.h"
#include "router/daemon/memif/queues.h"
#include "router/daemon/memif/session.h"
#include "router/daemon/memif/wake.h"

namespace surety::memif {

class Port {
 public:
  // Serves the socket `path` or connects to it, during its lifetime. `pool`: buffers for received frames.
  // Throws std::system_error if the socket cannot be served.
  Port(const Terms& terms, const std::string& path, bool server, rte_mempool& pool);
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  bool connected() const { return connected_.load(std::memory_order_relaxed); }
  std::uint64_t missed() const {
    return missed_.load(std::memory_order_relaxed);
  }  // frames too long for `pool`

  // Each queue has one thread, and so has transmit().
  std::size_t receive(std::uint16_t queue, std::span<rte_mbuf*> room);
  // Takes over the first n packets of the burst and returns n.
  std::size_t transmit(std::span<rte_mbuf*> burst);

  // Readable when a frame can be received in `queue`, between arm() and disarm(). -1: not available.
  int wake_fd(std::uint16_t queue) const { return doorbell_.able() ? wakes_[queue].fd() : -1; }
  void arm(std::uint16_t queue);
  void disarm(std::uint16_t queue);

 private:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  struct Conversation {
    Fd socket;
    std::unique_ptr<Session> session;
    Time until;  // disconnected unless agreed by then
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
  Fd listener_;  // empty: a client
  Fd event_;     // wakes the thread for work

  // Members of the thread.
  Conversations conversations_;
  Conversations::iterator live_ = conversations_.end();
  Time not_before_{};   // earliest start of the next connection
  Time quiet_until_{};  // refused peers are not logged until then

  // Accessed by the thread while the gate is shut; else by the worker of each queue, through its lane.
  Link link_;
  std::vector<ReceiveQueue> receive_;
  TransmitQueue transmit_;
  Doorbell doorbell_;  // for the transmit lane

  std::vector<Wake> wakes_;  // indexed by queue
  std::atomic<bool> connected_{false};
  std::atomic<Fault> fault_{nullptr};
  std::atomic<std::uint64_t> missed_{0};
  std::jthread thread_;
};

}  // namespace surety::memif
