// SPDX-License-Identifier: BSD-3-Clause
// One end of a memif link, which may connect and disconnect: a thread of its own exchanges messages with
// peers, workers move packets.
//
// A peer is a process that may do anything: with its messages (session.h), with the memory (memory.h,
// queues.h), with its descriptors. At worst it loses its link, and no new connection is accepted
// for a second. There is one peer at a time, and another cannot displace it; a peer that does not agree in
// time is disconnected.
#pragma once

#include <linux/aio_abi.h>
#include <rte_mbuf.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "router/daemon/memif/queues.h"
#include "router/daemon/memif/session.h"
#include "router/process/fd.h"

namespace surety {

// Keeps workers out of a device while another thread stops it, starts it, or frees its memory.
//
// A lane is one queue in one direction, used by one thread. Passing costs one atomic exchange per burst; a
// worker never waits: while the gate is shut it receives nothing and has no room to transmit.
class BurstGate {
 public:
  static constexpr std::size_t kLanes = 17;  // 16 receive queues, and the transmit queue

  // Constructed shut.
  BurstGate() {
    for (auto& l : lanes_) l.taken.store(true, std::memory_order_relaxed);
  }

  // Called by the lane's thread. false: do not enter. After true, call leave().
  bool enter(std::size_t lane) { return !lanes_[lane].taken.exchange(true, std::memory_order_acquire); }
  void leave(std::size_t lane) { lanes_[lane].taken.store(false, std::memory_order_release); }

  // Called by one other thread at a time; returns when no worker is inside; a burst takes microseconds. The
  // workers' accesses inside happen before; accesses after open() see what this thread did in between.
  void shut() {
    if (!std::exchange(open_, false)) return;
    for (auto& l : lanes_)
      while (l.taken.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void open() {
    if (std::exchange(open_, true)) return;
    for (auto& l : lanes_) l.taken.store(false, std::memory_order_release);
  }

 private:
  struct alignas(64) Lane {
    std::atomic<bool> taken;
  };
  std::array<Lane, kLanes> lanes_;
  bool open_ = false;  // only for the thread that calls shut() and open()
};

}  // namespace surety

namespace surety::memif {

// Writes to a peer's eventfd without ever blocking.
//
// write(2) to an eventfd blocks while its count is at the maximum, unless O_NONBLOCK is set. A peer can
// change both at any time through its own descriptor, and so could block a worker for ever. The kernel's
// asynchronous I/O adds to an eventfd without blocking (io_submit(2), IOCB_FLAG_RESFD), and accepts only
// eventfds. The request "reads" /dev/null.
class Doorbell {
 public:
  // Used by one thread at a time.
  Doorbell();
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // True if this kernel has asynchronous I/O.
  bool able() const { return context_ != 0; }
  // false: `eventfd` is no eventfd, or not able().
  bool ring(int eventfd);

 private:
  void forget();

  Fd null_;
  aio_context_t context_ = 0;
  unsigned rung_ = 0;  // completions that the kernel still holds
};

// One descriptor for the lifetime of a queue, readable when the current peer has written its eventfd.
//
// Edge-triggered: the eventfd, which the peer shares, is never read, so that the peer cannot block the
// reader.
class Wake {
 public:
  Wake() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), own_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    follow(own_.get());
  }

  int fd() const { return epoll_.get(); }
  // `event`: an eventfd.
  void follow(int event) {
    epoll_event e{.events = EPOLLIN | EPOLLET, .data = {}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, event, &e);
  }
  void leave(int event) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, event, nullptr); }
  void ring() { ::eventfd_write(own_.get(), 1); }
  // Clears the descriptor until the next write.
  void calm() {
    epoll_event events[2];
    ::epoll_wait(epoll_.get(), events, 2, 0);
  }

 private:
  Fd epoll_, own_;
};

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
  void handle(Conversations::iterator from);
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
