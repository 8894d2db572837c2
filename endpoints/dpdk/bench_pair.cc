// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/bench_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "config/address.h"

namespace surety::endpoints {

namespace {

using namespace std::chrono_literals;

constexpr std::array<MacAddress, 2> kMacs{{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}}};
constexpr Duration kLeastRoundTrip = 5ms;
constexpr double kLeastWindow = 2;  // packets of a flow in a round-trip time

Duration round_trip(std::uint32_t flows) {
  const double needed = kLeastWindow * flows / BenchPair::kPacketsPerSecond;
  return std::max(kLeastRoundTrip, Duration(std::llround(needed * 1e9)));
}

// A packet is answered once at most.
std::size_t most_answers(std::uint32_t flows) {
  return static_cast<std::size_t>(BenchPair::kPacketsPerSecond * seconds(round_trip(flows))) + 4096;
}

BenchTraffic traffic(const std::string& protocol, std::uint32_t flows, std::uint32_t packet) {
  BenchTraffic t;
  t.protocol = protocol;
  t.flows = flows;
  t.packet = packet;
  const double per_flow = BenchPair::kPacketsPerSecond / flows;
  t.rate = Rate::bytes_per_second(static_cast<std::uint64_t>(std::llround(per_flow * packet)));
  t.window = static_cast<std::uint32_t>(std::lround(per_flow * seconds(round_trip(flows))));
  t.start_spread = round_trip(flows);
  return t;
}

}  // namespace

BenchPair::BenchPair(const std::string& protocol, std::uint32_t flows, std::uint32_t packet)
    : config_(bench_config(traffic(protocol, flows, packet))),
      traffic_(std::make_unique<Traffic>(config_, kMacs, flows, Time{})),
      round_trip_(round_trip(flows)),
      frames_(kBurst * kFrame),
      ring_(std::bit_ceil(most_answers(flows))) {
  for (std::size_t i = 0; i < kBurst; ++i) slots_[i] = {frames_.data() + i * kFrame, kFrame, 0};
  traffic_->resolve(now_);
  while (traffic_->unresolved()) {
    turn();
    if (now_ > Time(10s))
      throw std::runtime_error("the two endpoints of the benchmark do not resolve each other's address");
  }
  traffic_->start(now_);
  for (const Time until = now_ + 10 * round_trip_ + 1500ms; now_ < until;) turn();
  must_be_clean();
}

std::size_t BenchPair::turn() {
  now_ += kTurn;
  deliver_answers();
  std::array<std::span<const std::uint8_t>, kBurst> frames;
  std::size_t total = 0;
  for (std::size_t n = kBurst; n == kBurst;) {
    n = left().poll(slots_, now_);
    for (std::size_t i = 0; i < n; ++i) frames[i] = {slots_[i].data, slots_[i].length};
    right().receive({frames.data(), n}, now_);
    collect_answers();
    total += n;
  }
  sent_ += total;
  return total;
}

void BenchPair::deliver_answers() {
  std::array<std::span<const std::uint8_t>, kBurst> frames;
  while (head_ < tail_) {
    std::size_t n = 0;
    for (; n < kBurst && head_ + n < tail_; ++n) {
      const Answer& a = ring_[(head_ + n) & (ring_.size() - 1)];
      if (a.due > now_) break;
      frames[n] = {a.bytes, a.length};
    }
    if (n == 0) return;
    left().receive({frames.data(), n}, now_);
    head_ += n;
  }
}

void BenchPair::collect_answers() {
  for (std::size_t n = kBurst; n == kBurst;) {
    n = right().poll(slots_, now_);
    for (const FrameSlot& frame : std::span(slots_).first(n)) {
      if (tail_ - head_ == ring_.size() || frame.length > kAnswer)
        throw std::runtime_error("the benchmark has no room for so many answers");
      Answer& a = ring_[tail_++ & (ring_.size() - 1)];
      a.due = now_ + round_trip_;
      a.length = frame.length;
      std::memcpy(a.bytes, frame.data, frame.length);
    }
    answers_ += n;
  }
}

std::size_t BenchPair::memory_per_flow() const {
  return std::max(left().host().memory_bytes(), right().host().memory_bytes()) / traffic_->flows().size();
}

void BenchPair::must_be_clean() const {
  for (const auto& f : traffic_->flows()) {
    const Engine* e = traffic_->engine(f);
    if (e == nullptr || e->state() != FlowState::open)
      throw std::runtime_error(fmt::format("flow {} is {}, not open", f.number,
                                           e == nullptr ? "missing" : endpoints::name(e->state())));
  }
  for (std::size_t p = 0; p < 2; ++p) {
    const auto& refusals = traffic_->station(p).host().refusals();
    for (std::size_t i = 0; i < kRefusals; ++i)
      if (refusals[i] > 0)
        throw std::runtime_error(
            fmt::format("{} packets were refused: {}", refusals[i], kRefusalInfo[i].name));
  }
}

namespace {

constexpr std::uint32_t kFlowsPerLine = 50'000;  // fewer than there are local ports
constexpr std::uint16_t kFirstSinkPort = 5001;
constexpr std::uint32_t kLeastPacket = 64;

config::EndpointPort port(const char* name, const char* address) {
  config::EndpointPort p;
  p.name = name;
  p.device.kind = config::Device::Kind::null;
  p.addresses.push_back(*parse_prefix(address));
  return p;
}

Transport transport_of(const std::string& protocol) {
  if (protocol == "udp") return Transport::udp;
  if (protocol == "gtfrc") return Transport::dccp;
  if (protocol == "newreno") return Transport::tcp;
  throw std::invalid_argument(
      fmt::format("protocol `{}` cannot be measured; use udp, gtfrc or newreno", protocol));
}

void set_params(config::Sender& s, const BenchTraffic& t) {
  SenderParams common;
  common.packet = Bytes(t.packet);
  if (t.protocol == "udp") {
    s.params = UdpParams{common, t.rate, {}, {}};
  } else if (t.protocol == "gtfrc") {
    DccpParams p;
    p.common = common;
    p.tfrc.segment = common.packet;
    p.tfrc.guarantee = p.tfrc.application = t.rate;
    s.params = p;
  } else {
    TcpParams p;
    p.common = common;
    p.window_packets = t.window;
    s.params = p;
  }
}

}  // namespace

config::Endpoints bench_config(const BenchTraffic& t) {
  const Transport transport = transport_of(t.protocol);
  if (t.packet < kLeastPacket || t.packet > 1500)
    throw std::invalid_argument(
        fmt::format("packets of {} bytes cannot be measured; use {} to 1500", t.packet, kLeastPacket));
  config::Endpoints c;
  c.ports = {port("left", "10.0.0.1/24"), port("right", "10.0.0.2/24")};
  config::Sink sink;
  sink.port = 1;
  for (std::uint32_t left = t.flows; left > 0;) {
    config::Sender s;
    const auto to_port = static_cast<std::uint16_t>(kFirstSinkPort + c.senders.size());
    s.name = fmt::format("bench{}", c.senders.size() + 1);
    s.protocol = t.protocol;
    s.to = c.ports[1].addresses[0].address;
    s.to_port = to_port;
    s.flows = std::min(left, kFlowsPerLine);
    s.start = {Duration{}, t.start_spread};
    set_params(s, t);
    sink.listen.push_back({transport, to_port});
    left -= s.flows;
    c.senders.push_back(std::move(s));
  }
  c.sinks.push_back(std::move(sink));
  return c;
}

}  // namespace surety::endpoints
