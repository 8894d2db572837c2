// SPDX-License-Identifier: BSD-3-Clause
// The congestion signals that leave a worker: packets that its own congested queues ask for, and to the other
// workers of the router those of other routers that it has believed.
//
// Neither waits for anything: a signal that finds no way out, or another worker's ring full, is lost, as one
// on the wire may be.
#pragma once

#include <rte_mempool.h>

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "router/dpdk/workers/fabric.h"
#include "router/egress.h"
#include "router/ingress.h"
#include "router/signals/signal_sender.h"

namespace surety {

class SignalExchange {
 public:
  // `keys`, `wall_clock`: null where signalling is off; `pool`: for the packets, null: none are sent.
  SignalExchange(const config::Config& config, const SignalKeys* keys, const WallClock* wall_clock,
                 rte_mempool* pool, Time now);
  // With each other worker, before the first turn.
  void connect(SignalRing* to, SignalRing* from) { peers_.push_back({to, from}); }

  // null: this router's queues do not signal.
  const SignalSender* sender() const { return sender_ ? &*sender_ : nullptr; }

  // Any thread: from the next take_keys() on signals are signed and checked with these.
  void use_keys(const SignalKeys& keys) { keys_.store(&keys, std::memory_order_release); }
  // For the worker, at the beginning of a turn.
  void take_keys(Ingress& ingress) {
    if (keys_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      change_keys(*keys_.exchange(nullptr, std::memory_order_acquire), ingress);
  }
  // A reload.
  void adopt(const Snapshot& snapshot, Time now);

  // Once per turn: sends what the queues ask for, by `ingress`, which knows the routes. `egresses`: null
  // stands for another worker's.
  void send(std::span<const std::unique_ptr<Egress>> egresses, Ingress& ingress, Time now);
  // Once per turn: what queues of interfaces note (Egress::take_notes()), for `ingress` and the other
  // workers. true: for them.
  bool note(std::span<const std::unique_ptr<Egress>> egresses, Ingress& ingress, Time now);
  // Once per turn: what `ingress` has believed, to the other workers, and theirs to it. true: to them.
  bool share(Ingress& ingress, Time now);
  // Others have something for this worker.
  bool waits() const;

 private:
  struct Peer {
    SignalRing *to, *from;
  };
  void follow(const config::Config& config) {
    act_ = config.signalling.mode == config::Signalling::Mode::act;
  }
  void change_keys(const SignalKeys& keys, Ingress& ingress);
  void send(const CongestionSignal& signal, Ingress& ingress, Time now);

  const WallClock* wall_clock_;
  rte_mempool* pool_;
  std::optional<SignalSender> sender_;
  bool act_ = false;  // signals are sent; else only counted
  std::vector<Peer> peers_;
  std::atomic<const SignalKeys*> keys_{nullptr};  // not taken yet
};

}  // namespace surety
