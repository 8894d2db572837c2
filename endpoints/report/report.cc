// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/report/report.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace surety::endpoints {

namespace {

// Acknowledged IP bytes: acknowledged payload at the mean size of the packets that carried it. Repetitions
// carried none that counts.
double acknowledged_bytes(const FlowReading& s) {
  const std::uint64_t repeated = std::max(s.retransmitted_packets, s.lost_packets);
  const std::uint64_t payload = s.payload_bytes + s.in_flight;
  if (s.sent_packets <= repeated || payload == 0) return 0;
  const auto packets = static_cast<double>(s.sent_packets);
  const double mean_packet = static_cast<double>(s.sent_bytes) / packets;
  const double mean_payload = static_cast<double>(payload) / (packets - static_cast<double>(repeated));
  return static_cast<double>(s.payload_bytes) * std::max(1.0, mean_packet / mean_payload);
}

// Payload in order, in packets like those that arrived.
double in_order_bytes(const FlowReading& r) {
  if (r.carried_bytes == 0) return 0;
  return static_cast<double>(r.payload_bytes) * static_cast<double>(r.received_bytes) /
         static_cast<double>(r.carried_bytes);
}

Rate rate(double bytes_per_second) {
  return Rate::bits_per_second(static_cast<std::uint64_t>(std::llround(bytes_per_second * 8)));
}

std::optional<Duration> known(Duration d) {
  return d > Duration::zero() ? std::optional(d) : std::nullopt;
}

}  // namespace

Received received(const FlowReading& sender, const FlowReading* receiver, bool in_order) {
  if (!receiver && sender.received_bytes == 0) {
    const double bytes = acknowledged_bytes(sender);
    return {bytes, bytes};
  }
  const FlowReading& there = receiver ? *receiver : sender;
  const auto arrived = static_cast<double>(there.received_bytes);
  return {arrived, in_order ? in_order_bytes(there) : arrived};
}

bool FlowResult::kept(double tolerance) const {
  return identity.target == Rate{} || delivered >= (1 - tolerance) * identity.target;
}

FlowTrack::FlowTrack(FlowIdentity identity, Time start)
    : identity_(std::move(identity)), start_(start), measured_from_(start), last_(start), bin_{start} {}

double FlowTrack::bin_rate() const {
  return last_ > bin_.start ? std::max(0.0, total_.delivered - bin_.bytes) / seconds(last_ - bin_.start) : 0;
}

bool FlowTrack::full(Time end) const {
  const bool news = own_receiver_ || total_.delivered > bin_.bytes;
  return end - bin_.start >= (news ? kBin : kNewsBin);
}

void FlowTrack::sample(const FlowReading& sender, const FlowReading* receiver, Time now) {
  // A bin is closed by the first sample after its end, so that what arrives at its last moment is in it.
  if (!final_payload_ && now > last_ && full(last_)) {
    last_rate_ = bin_rate();
    if (identity_.target > Rate{}) respected_ += seconds(last_ - bin_.start) * reached(last_rate_);
    bin_ = {last_, total_.delivered};
  }
  sender_ = sender;
  own_receiver_ = receiver != nullptr;
  receiver_ = receiver ? *receiver : FlowReading{};
  if (final_payload_) return;
  const Received seen = received(sender, receiver, identity_.in_order);
  total_ = {std::max(total_.arrived, seen.arrived), std::max(total_.delivered, seen.delivered)};
  known_ = known_ || own_receiver_ || total_.arrived > 0;
  if (now <= start_) {
    base_ = total_;
    bin_.bytes = total_.delivered;
    base_payload_ = receiver ? receiver->payload_bytes : sender.payload_bytes;
    return;
  }
  last_ = std::max(last_, now);
  const double needed = kReached * identity_.target.bytes_per_second();
  if (needed > 0 && reached_at_ == kNever && full(last_) && bin_rate() >= needed) reached_at_ = last_;
}

void FlowTrack::begin_measuring() {
  measured_from_ = last_;
  base_ = total_;
  base_payload_ = own_receiver_ ? receiver_.payload_bytes : sender_.payload_bytes;
  bin_ = {last_, total_.delivered};
  respected_ = 0;
}

void FlowTrack::end_measuring() {
  if (!final_payload_) final_payload_ = own_receiver_ ? receiver_.payload_bytes : sender_.payload_bytes;
}

Rate FlowTrack::last_second() const {
  return rate(full(last_) ? bin_rate() : last_rate_);
}

FlowResult FlowTrack::result() const {
  FlowResult r;
  r.identity = identity_;
  r.seconds = seconds(last_ - measured_from_);
  r.arrival_known = known_;
  const FlowReading& far = own_receiver_ ? receiver_ : sender_;
  if (r.seconds > 0) {
    r.delivered = rate((total_.delivered - base_.delivered) / r.seconds);
    r.throughput = rate((total_.arrived - base_.arrived) / r.seconds);
    const std::uint64_t payload = final_payload_.value_or(far.payload_bytes);
    r.goodput = rate(static_cast<double>(payload - std::min(payload, base_payload_)) / r.seconds);
  }
  r.sent = sender_.sent_packets;
  r.received = far.received_packets;
  r.lost = receiver_.lost_packets > 0 ? receiver_.lost_packets : sender_.lost_packets;
  r.retransmitted = sender_.retransmitted_packets;
  r.duplicates = far.duplicate_packets;
  r.payload = far.payload_bytes;
  r.mismatched = far.mismatched_bytes;
  const bool told = own_receiver_ || identity_.protocol == "udp";  // only UDP's reports count IN packets
  if (told && far.received_packets > 0)
    r.in_share = static_cast<double>(far.received_in_packets) / static_cast<double>(far.received_packets);
  r.rtt = known(sender_.rtt);
  r.min_rtt = known(sender_.min_rtt);
  if (far.one_way_delay_sum > 0 && own_receiver_ && far.received_packets > 0)
    r.one_way_delay =
        Duration(std::llround(far.one_way_delay_sum * 1e9 / static_cast<double>(far.received_packets)));
  const double p = std::isnan(sender_.loss_event_rate) ? receiver_.loss_event_rate : sender_.loss_event_rate;
  if (!std::isnan(p)) r.loss_event_rate = p;
  if (identity_.target > Rate{} && r.seconds > 0) {
    const double open = seconds(last_ - bin_.start);
    r.respect = (respected_ + open * reached(bin_rate())) / r.seconds;
    if (reached_at_ != kNever) r.time_to_target = seconds(reached_at_ - start_);
  }
  return r;
}

}  // namespace surety::endpoints
