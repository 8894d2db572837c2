// SPDX-License-Identifier: BSD-3-Clause
// The congestion signals that leave a worker: packets for its own congested queues, and copies of other
// routers' accepted signals to the other workers.
//
// Neither waits: a signal without a route, or for a worker whose ring is full, is lost, as it may be on the
// wire.
#pragma once

#include <rte_mempool.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "router/daemon/workers/shared.h"
#include "router/pipeline/egress.h"
#include "router/pipeline/ingress.h"
#include "router/pipeline/signals/signal_sender.h"

namespace surety {

class SignalExchange {
 public:
  // `keys`, `wall_clock`: nullptr if signalling is off; `pool`: for the packets, nullptr: none are sent.
  SignalExchange(const config::Config& config, const SignalKeys* keys, const WallClock* wall_clock,
                 rte_mempool* pool, Time now);
  // Connects each other worker, before the first turn.
  void connect(SignalRing* to, SignalRing* from) { peers_.push_back({to, from}); }

  // nullptr: this router's queues do not signal.
  const SignalSender* sender() const { return sender_ ? &*sender_ : nullptr; }

  // Signs and checks signals with these keys, which must outlive this object.
  void use_keys(const SignalKeys& keys, Ingress& ingress);
  // Applies a reload.
  void adopt(const Snapshot& snapshot, Time now);

  // Sends the pending signals of the queues through `ingress`, which has the routes; called once per turn.
  // `egresses`: nullptr for another worker's.
  void send(std::span<const std::unique_ptr<Egress>> egresses, Ingress& ingress, Time now);
  // Passes notes of interfaces' queues (Egress::take_notes()) to `ingress` and the other workers; called once
  // per turn. true: some went to other workers.
  bool note(std::span<const std::unique_ptr<Egress>> egresses, Ingress& ingress, Time now);
  // Passes signals accepted by `ingress` to the other workers, and theirs to `ingress`; called once per turn.
  // true: some went to other workers.
  bool share(Ingress& ingress, Time now);
  // True if other workers have signals for this one.
  bool waits() const;

 private:
  struct Peer {
    SignalRing *to, *from;
  };
  void follow(const config::Config& config) {
    act_ = config.signalling.mode == config::Signalling::Mode::act;
  }
  void send(const CongestionSignal& signal, Ingress& ingress, Time now);

  const WallClock* wall_clock_;
  rte_mempool* pool_;
  std::optional<SignalSender> sender_;
  bool act_ = false;  // true: signals are sent; false: only counted
  std::vector<Peer> peers_;
};

}  // namespace surety
