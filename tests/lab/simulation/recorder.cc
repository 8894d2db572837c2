// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/recorder.h"

#include <algorithm>
#include <utility>

#include "tests/lab/simulation/lab_frame.h"

namespace surety::lab {

namespace {

std::uint8_t dscp_of(const std::uint8_t* ip) {
  const auto traffic_class = ip[0] >> 4 == 6 ? static_cast<std::uint8_t>(ip[0] << 4 | ip[1] >> 4) : ip[1];
  return traffic_class >> 2;
}
}  // namespace

FlowCount FlowCount::operator-(const FlowCount& e) const {
  return {sent - e.sent,   received - e.received,         in_received - e.in_received,
          lost - e.lost,   buffer_drops - e.buffer_drops, reordered - e.reordered,
          bytes - e.bytes, in_bytes - e.in_bytes,         delay_sum - e.delay_sum};
}

Recorder::Recorder(const Plan& plan, std::vector<Time> starts, Delivered delivered)
    : delivered_(std::move(delivered)) {
  for (std::size_t i = 0; i < plan.flows().size(); ++i) {
    const LabSender& s = plan.scenario().senders[plan.flows()[i].sender];
    Flow& f = flows_.emplace_back();
    f.in_dscps = s.sink.in_dscps;
    f.target = s.sender.target.bytes_per_second();
    f.in_order = std::holds_alternative<endpoints::TcpParams>(s.sender.params);
    f.start = starts[i];
    f.bin_end = starts[i] + kBin;
  }
}

Precedence Recorder::precedence(const PacketNote& note, const rte_mbuf* m) const {
  if (!note.data) return Precedence::out;
  const auto* const frame = rte_pktmbuf_mtod(m, const std::uint8_t*);
  const bool in = (flows_[note.flow].in_dscps >> dscp_of(frame + ip_offset(frame)) & 1) != 0;
  return in ? Precedence::in : Precedence::out;
}

void Recorder::on_drop(const PacketNote& note, const rte_mbuf* m) {
  if (!note.data) return;
  ++flows_[note.flow].count.lost;
  if (note.router > 0) ++drops_[{note.flow, note.router - 1u}][index(precedence(note, m))];
}

void Recorder::on_buffer_drop(const PacketNote& note, Precedence came_as) {
  if (!note.data) return;
  ++flows_[note.flow].count.buffer_drops;
  --drops_[{note.flow, note.router - 1u}][index(came_as)];
}

void Recorder::on_arrival(const PacketNote& note, const rte_mbuf* m, Time now) {
  if (note.flow >= flows_.size()) return;
  Flow& f = flows_[note.flow];
  if (!note.data) return;
  const std::uint64_t length = ip_length(m);
  const bool in = precedence(note, m) == Precedence::in;
  if (now >= f.bin_end) close_bins(f, now);
  if (!f.in_order) f.bin_bytes += static_cast<double>(length);
  ++f.count.received;
  f.count.reordered += note.number < f.latest;
  f.latest = std::max(f.latest, note.number);
  f.count.in_received += in;
  f.count.bytes += length;
  f.count.in_bytes += in ? length : 0;
  f.count.delay_sum += seconds(now - note.sent);
}

// The bytes of the bin that ends.
double Recorder::bin(Flow& f) {
  if (!f.in_order) return std::exchange(f.bin_bytes, 0.0);
  if (f.target <= 0) return 0;
  const double now = std::max(f.bin_bytes, delivered_(static_cast<std::uint32_t>(&f - flows_.data())));
  return now - std::exchange(f.bin_bytes, now);
}

void Recorder::close_bins(Flow& f, Time now) {
  while (now >= f.bin_end) {
    const double part = bin(f) / std::max(f.target, 1.0);
    if (f.target > 0 && !f.reached_s && part >= kReached) f.reached_s = seconds(f.bin_end - f.start);
    if (f.bin_end - kBin >= from_ && f.bin_end <= to_) {
      f.respected += std::min(1.0, part);
      ++f.bins;
    }
    f.bin_end += kBin;
  }
}

void Recorder::settle(Time now) {
  for (Flow& f : flows_) close_bins(f, now);
}

std::optional<double> Recorder::respect(std::size_t flow) const {
  const Flow& f = flows_[flow];
  if (f.target <= 0 || f.bins == 0) return std::nullopt;
  return f.respected / f.bins;
}

}  // namespace surety::lab
