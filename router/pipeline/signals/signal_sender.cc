// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/signal_sender.h"

#include <algorithm>

#include "config/address.h"

namespace surety {

namespace {

using Trust = config::Port::Trust;

// 2^-32 seconds: a queue sends signals at a far lower rate.
std::uint64_t first_sequence(UnixTime wall) {
  const auto ms = static_cast<std::uint64_t>(wall.time_since_epoch().count());
  return (ms / 1000) << 32 | ((ms % 1000) << 32) / 1000;
}

std::optional<IpAddress> own_address(const config::Config& config, bool v6) {
  for (const bool core_only : {true, false}) {
    for (const auto& port : config.ports) {
      if (core_only && port.trust != Trust::core) continue;
      for (const auto& a : port.addresses)
        if (a.address.is_v6() == v6 && !is_link_local_v6(a.address)) return a.address;
    }
  }
  return {};
}

}  // namespace

SignalSender::SignalSender(const config::Config& config, const SignalKeys& keys, Time now, UnixTime wall)
    : keys_(&keys),
      id_(config.router.id),
      dscp_(config.router.dscp),
      from_{own_address(config, false), own_address(config, true)},
      borders_(config.signalling.borders),
      limit_(config.signalling.queue_limit) {
  std::stable_sort(borders_.begin(), borders_.end(),
                   [](const auto& a, const auto& b) { return a.source.length > b.source.length; });
  queues_.resize(config.ports.size() * kQueues);
  for (Queue& q : queues_) {
    q.next = first_sequence(wall);
    limit_.reset(q.bucket, now);
  }
}

std::size_t SignalSender::write(const CongestionSignal& signal, Time now, UnixTime wall,
                                std::span<std::uint8_t> room) {
  Queue& queue = queue_of(signal);
  const auto& from = from_[signal.source.is_v6()];
  const std::vector<SignalKey>& keys = keys_->of(id_);
  if (!from || keys.empty()) {
    ++queue.counters.lost;
    return 0;
  }
  if (!limit_.permit(queue.bucket, now)) {
    ++queue.counters.limited;
    return 0;
  }
  ++queue.counters.sent;
  SignalMessage m;
  m.from = *from;
  m.to = destination_of(signal.source);
  m.router = id_;
  m.port = signal.port;
  m.queue = signal.class_index;
  m.sequence = queue.next++;
  m.sent = wall;
  m.source = signal.source;
  m.destination = signal.destination;
  m.dscp = signal.dscp;
  m.kind = signal.kind;
  m.quote = signal.quote;
  return write_signal(m, keys.front(), room, dscp_);
}

void SignalSender::lost(const CongestionSignal& signal) {
  auto& counters = queue_of(signal).counters;
  --counters.sent;
  ++counters.lost;
}

SignalSender::QueueCounters SignalSender::counters(std::uint8_t port, std::uint8_t class_index) const {
  return queues_[port * kQueues + class_index].counters;
}

void SignalSender::move(std::uint8_t port, const ClassMoves& moves, Time now) {
  const std::span<Queue, kQueues> queues(queues_.data() + port * kQueues, kQueues);
  std::array<Queue, kQueues> before;
  std::ranges::copy(queues, before.begin());
  for (Queue& q : queues) {
    q.counters = {};
    limit_.reset(q.bucket, now);
  }
  for (std::size_t c = 0; c < moves.to.size(); ++c) {
    if (moves.to[c] == ClassMoves::kGone) continue;
    queues[moves.to[c]].counters = before[c].counters;
    queues[moves.to[c]].bucket = before[c].bucket;
  }
}

const IpAddress& SignalSender::destination_of(const IpAddress& source) const {
  for (const auto& b : borders_)
    if (b.source.contains(source)) return b.border;
  return source;
}

}  // namespace surety
