// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "router/process/version.h"

namespace surety::endpoints {

Observer::Observer(const config::Endpoints& config, std::span<const SenderFlow> flows)
    : config_(config), flows_(flows), senders_(flows.size()), accepted_(config, flows), reading_(blank()) {}

EndpointReading Observer::blank() const {
  EndpointReading r;
  r.version = kVersion;
  for (const auto& s : config_.senders) {
    SenderReading line;
    line.name = s.name;
    line.protocol = s.protocol;
    line.target = s.target.bytes_per_second() * s.flows;
    r.senders.push_back(std::move(line));
  }
  for (const auto& p : config_.ports) r.ports.push_back({p.name, {}, {}, 0, 0});
  return r;
}

void Observer::take(const Snapshot& s) {
  accepted_.take(s);
  EndpointReading r = blank();
  r.elapsed = seconds(s.at - s.zero);
  for (std::size_t i = 0; i < s.senders.size(); ++i) {
    follow(i, s.senders[i], s.zero, s.final);
    add(r.senders[flows_[i].line], i, s.senders[i]);
  }
  r.sinks = accepted_.sinks();
  for (std::size_t p = 0; p < s.ports.size(); ++p) {
    r.ports[p].refusals = s.ports[p].refusals;
    r.ports[p].drops = s.ports[p].drops;
    r.ports[p].rx_packets = s.ports[p].rx_packets;
    r.ports[p].tx_packets = s.ports[p].tx_packets;
  }
  const std::scoped_lock lock(mutex_);
  reading_ = std::move(r);
}

void Observer::follow(std::size_t flow, const FlowSample& s, Time zero, bool final) {
  Sender& sender = senders_[flow];
  sender.state = s.state;
  sender.failure = s.failure;
  const Time start = flows_[flow].schedule.start;
  if (sender.complete || s.at < start || s.at < zero) return;
  if (!sender.track) sender.track.emplace(identity(flows_[flow]), start);
  const bool over = s.state == FlowState::closed || final;
  if (s.ended != kNever && !over) return;  // packets on the way are yet to arrive
  const Time at = std::min(s.at, std::max(start, s.ended));
  if (config_.measure && at > zero + config_.measure->to) sender.track->end_measuring();
  sender.track->sample(s.reading, accepted_.receiver_of(flow), at);
  if (config_.measure && !sender.measuring && s.at >= zero + config_.measure->from) {
    sender.track->begin_measuring();
    sender.measuring = true;
  }
  sender.complete = over;
}

void Observer::add(SenderReading& line, std::size_t flow, const FlowSample& s) const {
  const FlowReading* sink = accepted_.receiver_of(flow);
  const FlowReading& there = sink != nullptr ? *sink : s.reading;
  ++line.flows[static_cast<std::size_t>(s.state)];
  line.failed += s.failure != Failure::none;
  line.sent_packets += s.reading.sent_packets;
  line.sent_bytes += s.reading.sent_bytes;
  line.retransmitted_packets += s.reading.retransmitted_packets;
  line.received_packets += there.received_packets;
  line.received_bytes += there.received_bytes;
  line.payload_bytes += there.payload_bytes;
  line.lost_packets += there.lost_packets;
  if (s.reading.rtt.count() > 0) line.rtt.add(seconds(s.reading.rtt));
  if (!std::isnan(s.reading.loss_event_rate)) {
    line.loss_event_rate.add(s.reading.loss_event_rate);
    line.allowed_rate = line.allowed_rate.value_or(0) + s.reading.x.bytes_per_second();
  }
  if (s.reading.g > Rate{})
    line.broken_guarantees = line.broken_guarantees.value_or(0) + (s.reading.guarantee_broken ? 1 : 0);
  const auto& track = senders_[flow].track;
  if (!track) return;
  if (!senders_[flow].complete) line.delivered += track->last_second().bytes_per_second();
  if (const auto respect = track->result().respect) line.respect.add(*respect);
}

FlowIdentity Observer::identity(const SenderFlow& f) const {
  const auto& s = config_.senders[f.line];
  const std::string name = s.flows > 1 ? fmt::format("{}#{}", s.name, f.number + 1) : s.name;
  return {name, s.protocol, peer(f.tuple), s.target, f.transport == Transport::tcp};
}

EndpointReading Observer::reading() const {
  const std::scoped_lock lock(mutex_);
  return reading_;
}

Report Observer::report(double tolerance) const {
  Report r;
  r.tolerance = tolerance;
  const EndpointReading last = reading();
  r.seconds = last.elapsed;
  for (const auto& p : last.ports)
    for (std::size_t i = 0; i < kRefusals; ++i) r.refusals[i] += p.refusals[i];
  for (std::size_t i = 0; i < senders_.size(); ++i) {
    const Sender& s = senders_[i];
    FlowResult result = s.track ? s.track->result() : FlowTrack(identity(flows_[i]), Time{}).result();
    result.state = endpoints::name(s.state);
    result.failure = endpoints::name(s.failure);
    r.flows.push_back(std::move(result));
  }
  r.accepted = accepted_.results();
  return r;
}

bool Observer::any_failed() const {
  return std::any_of(senders_.begin(), senders_.end(),
                     [](const Sender& s) { return s.failure != Failure::none; });
}

}  // namespace surety::endpoints
