// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/accepted_flows.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace surety::endpoints {

std::string peer(const Tuple& t) {
  return fmt::format(fmt::runtime(t.remote.is_v6() ? "[{}]:{}" : "{}:{}"), to_string(t.remote),
                     t.remote_port);
}

std::size_t AcceptedFlows::KeyHash::operator()(const Key& k) const {
  std::uint64_t h = k.tuple.local.low ^ k.tuple.local.high;
  const auto mix = [&h](std::uint64_t v) { h = (h ^ v) * 0x9e37'79b9'7f4a'7c15u, h ^= h >> 29; };
  mix(k.tuple.remote.low ^ k.tuple.remote.high);
  mix(std::uint64_t{k.tuple.local_port} << 32 | std::uint64_t{k.tuple.remote_port} << 8 |
      static_cast<std::uint64_t>(k.transport));
  mix(k.port);
  return h;
}

AcceptedFlows::AcceptedFlows(const config::Endpoints& config, std::span<const SenderFlow> senders)
    : config_(config), receivers_(senders.size(), nullptr) {
  for (std::size_t i = 0; i < senders.size(); ++i) {
    const Tuple& t = senders[i].tuple;
    local_senders_.emplace(Key{0, senders[i].transport, {t.remote, t.local, t.remote_port, t.local_port}}, i);
  }
  for (const auto& sink : config.sinks)
    for (const auto& l : sink.listen)
      gone_[{sink.port, l.transport}] = {
          config.ports[sink.port].name, endpoints::name(l.transport), {}, 0, 0, 0, 0, 0};
}

void AcceptedFlows::take(const Snapshot& s) {
  ++snapshots_;
  for (const auto& sample : s.accepted) take(sample);
  for (auto it = flows_.begin(); it != flows_.end();) {
    Flow& f = it->second;
    if (f.seen == snapshots_ || f.sender) {
      if (f.seen != snapshots_) f.state = FlowState::closed, f.delivered = 0;
      ++it;
      continue;
    }
    retire(f, it->first);
    it = flows_.erase(it);
  }
}

void AcceptedFlows::take(const FlowSample& s) {
  const Key key{s.port, s.transport, s.tuple};
  auto [it, fresh] = flows_.try_emplace(key);
  Flow& f = it->second;
  if (!fresh && (s.reading.received_packets < f.last.received_packets ||
                 s.reading.received_bytes < f.last.received_bytes)) {
    // Another flow on the same addresses and ports.
    retire(f, key);
    fresh = true;
  }
  if (fresh) f = begin(key, s);
  measure(f, s);
  const Duration passed = s.at - f.last_at;
  const auto delivered = [&](const FlowReading& r) {
    return received({}, &r, key.transport == Transport::tcp).delivered;
  };
  f.delivered =
      passed.count() > 0 ? std::max(0.0, delivered(s.reading) - delivered(f.last)) / seconds(passed) : 0;
  f.last = s.reading;
  f.last_at = s.at;
  f.state = s.state;
  f.seen = snapshots_;
  if (f.sender) receivers_[*f.sender] = &f.last;
}

// "p0 tcp 5001".
std::string AcceptedFlows::sink_name(const Key& key) const {
  return fmt::format("{} {} {}", config_.ports[key.port].name, endpoints::name(key.transport),
                     key.tuple.local_port);
}

AcceptedFlows::Flow AcceptedFlows::begin(const Key& key, const FlowSample& s) const {
  Flow f;
  f.last = s.reading;
  f.last_at = s.at;
  const auto local = local_senders_.find({0, key.transport, key.tuple});
  if (local != local_senders_.end()) {
    f.sender = local->second;
    return f;
  }
  f.track.emplace(FlowIdentity{sink_name(key), endpoints::name(key.transport), peer(key.tuple), Rate{},
                               key.transport == Transport::tcp},
                  s.at);
  f.track->sample(FlowReading{}, &s.reading, s.at);
  return f;
}

// A second counts once another one has followed it: the first and the last are seldom whole.
void AcceptedFlows::measure(Flow& f, const FlowSample& s) {
  if (!f.track || s.reading.received_bytes == f.last.received_bytes) return;
  if (f.uncommitted) {
    f.track->sample(FlowReading{}, &f.uncommitted->reading, f.uncommitted->at);
    f.committed = true;
  }
  f.uncommitted = s;
}

FlowResult AcceptedFlows::result(const Flow& f) {
  FlowTrack track = *f.track;
  if (!f.committed && f.uncommitted) track.sample(FlowReading{}, &f.uncommitted->reading, f.uncommitted->at);
  FlowResult r = track.result();
  r.received = f.last.received_packets;
  r.lost = f.last.lost_packets;
  r.duplicates = f.last.duplicate_packets;
  r.payload = f.last.payload_bytes;
  r.mismatched = f.last.mismatched_bytes;
  r.state = endpoints::name(f.state);
  r.failure = endpoints::name(Failure::none);
  return r;
}

void AcceptedFlows::retire(const Flow& f, const Key& key) {
  add(gone_[{key.port, key.transport}], f);
  if (f.track && results_.size() < kKeptResults) {
    results_.push_back(result(f));
    results_.back().state = endpoints::name(FlowState::closed);
  }
}

void AcceptedFlows::add(SinkReading& sink, const Flow& f) {
  sink.received_packets += f.last.received_packets;
  sink.received_bytes += f.last.received_bytes;
  sink.payload_bytes += f.last.payload_bytes;
  sink.lost_packets += f.last.lost_packets;
}

std::vector<SinkReading> AcceptedFlows::sinks() const {
  auto sums = gone_;
  for (const auto& [key, f] : flows_) {
    SinkReading& s = sums[{key.port, key.transport}];
    add(s, f);
    s.delivered += f.delivered;
    ++s.flows[static_cast<std::size_t>(f.state)];
  }
  std::vector<SinkReading> out;
  out.reserve(sums.size());
  for (auto& [key, s] : sums) out.push_back(std::move(s));
  return out;
}

std::vector<FlowResult> AcceptedFlows::results() const {
  std::vector<FlowResult> out = results_;
  for (const auto& [key, f] : flows_)
    if (f.track && out.size() < kKeptResults) out.push_back(result(f));
  std::stable_sort(out.begin(), out.end(), [](const FlowResult& a, const FlowResult& b) {
    return std::tie(a.identity.name, a.identity.peer) < std::tie(b.identity.name, b.identity.peer);
  });
  return out;
}

}  // namespace surety::endpoints
