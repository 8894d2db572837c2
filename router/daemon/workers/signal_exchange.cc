// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/signal_exchange.h"

#include <rte_ether.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace surety {

SignalExchange::SignalExchange(const config::Config& config, const SignalKeys* keys,
                               const WallClock* wall_clock, rte_mempool* pool, Time now)
    : wall_clock_(wall_clock), pool_(pool) {
  follow(config);
  if (keys != nullptr && config.router.role == config::Router::Role::core &&
      config.signalling.mode != config::Signalling::Mode::off)
    sender_.emplace(config, *keys, now, wall_clock->at(now));
}

void SignalExchange::adopt(const Snapshot& snapshot, Time now) {
  follow(snapshot.config);
  if (!sender_) return;
  for (std::size_t port = 0; port < snapshot.queues.size(); ++port)
    if (const ClassMoves& moves = snapshot.queues[port].moves; !moves.none())
      sender_->move(static_cast<std::uint8_t>(port), moves, now);
}

void SignalExchange::use_keys(const SignalKeys& keys, Ingress& ingress) {
  ingress.use_keys(keys);
  if (sender_) sender_->set_keys(keys);
}

void SignalExchange::send(std::span<const std::unique_ptr<Egress>> egresses, Ingress& ingress, Time now) {
  if (!sender_) return;
  for (const auto& egress : egresses) {
    if (!egress || egress->signals().empty()) continue;
    std::array<CongestionSignal, 16> signals;
    while (const std::size_t n = egress->take_signals(signals))
      for (const auto& s : std::span(signals).first(n)) send(s, ingress, now);
  }
}

void SignalExchange::send(const CongestionSignal& signal, Ingress& ingress, Time now) {
  std::array<std::uint8_t, kMaxSignalBytes> packet;
  const std::size_t length = sender_->write(signal, now, wall_clock_->at(now), packet);
  if (length == 0 || !act_) return;
  rte_mbuf* m = pool_ != nullptr ? rte_pktmbuf_alloc(pool_) : nullptr;
  if (m != nullptr) {
    auto* frame = rte_pktmbuf_append(m, static_cast<std::uint16_t>(RTE_ETHER_HDR_LEN + length));
    std::memcpy(frame + RTE_ETHER_HDR_LEN, packet.data(), length);
    if (ingress.originate(m, now)) return;
  }
  sender_->lost(signal);
}

bool SignalExchange::note(std::span<const std::unique_ptr<Egress>> egresses, Ingress& ingress, Time now) {
  bool any = false;
  for (const auto& egress : egresses) {
    if (!egress || egress->tree() == nullptr) continue;
    std::array<CongestionSignal, 16> notes;
    for (std::size_t n = 0; (n = egress->take_notes(notes)) > 0; any = true)
      for (const auto& s : std::span(notes).first(n)) {
        ingress.on_note(s, now);
        for (const Peer& peer : peers_) peer.to->enqueue({&s, 1});
      }
  }
  return any && !peers_.empty();
}

bool SignalExchange::share(Ingress& ingress, Time now) {
  if (peers_.empty()) return false;
  bool shared = false;
  std::array<CongestionSignal, 16> signals;
  for (std::size_t n = 0; (n = ingress.take_shared(signals)) > 0; shared = true)
    for (const Peer& peer : peers_)
      for (const auto& s : std::span(signals).first(n)) peer.to->enqueue({&s, 1});
  for (const Peer& peer : peers_)
    for (const auto& s : std::span(signals).first(peer.from->dequeue(signals))) ingress.on_shared(s, now);
  return shared;
}

bool SignalExchange::waits() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return !peer.from->empty(); });
}

}  // namespace surety
