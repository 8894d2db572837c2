// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench_paths.h"

#include <algorithm>
#include <array>

#include "router/daemon/bench/bench_traffic.h"

namespace surety {

using namespace literals;

namespace {

// A flow with one packet is removed after two seconds: at 32 times the speed after 1.6 million packets, for
// which a table of 2 million has room.
constexpr int kFaster = 32;
constexpr std::uint32_t kRoomForNew = 2'000'000;
constexpr std::array<BadInput, 11> kBadInputs{{{"new"},
                                               {"new-made", std::chrono::nanoseconds(40 * kFaster)},
                                               {"one-flow"},
                                               {"classes"},
                                               {"1500"},
                                               {"imix"},
                                               {"options", std::chrono::nanoseconds(40), false},
                                               {"families", std::chrono::nanoseconds(40), false},
                                               {"ports"},
                                               {"dropping"},
                                               {"held"}}};

// Frame lengths without FCS. Of 12 packets 7 are short, 4 have 576 bytes and one has 1500.
constexpr std::uint16_t kMiddle = 14 + 576, kLong = 14 + 1500;
constexpr std::array<std::uint16_t, 1> kAllLong{kLong};
constexpr std::array<std::uint16_t, 12> kMixed{0,     kMiddle, 0,       0, kMiddle, 0,
                                               kLong, 0,       kMiddle, 0, kMiddle, 0};

constexpr auto kAllDscps = [] {
  std::array<config::Dscp, 64> v{};
  for (config::Dscp d = 0; d < 64; ++d) v[d] = d;
  return v;
}();
constexpr config::Dscp kBeyond = 18;  // DSCP of flows whose packets are all OUT
constexpr std::array<config::Dscp, 2> kHalves{0, kBeyond};

config::QueueSet class_of_each_dscp() {
  config::QueueSet set;
  set.name = "uplink";
  for (const config::Dscp d : kAllDscps) {
    config::QueueClass c;
    c.scheduling.name = std::to_string(d);
    c.in = {d};
    set.by_dscp[d] = {d, Precedence::in};
    set.classes.push_back(c);
  }
  return set;
}

config::Csa& contract(config::Service& service) {
  return std::get<config::Csa>(service.conditioner);
}

void enlarge(config::Csa& csa) {
  csa.bucket.in = csa.bucket.out = TokenBucketParams(100_Gbps, Depth::packets(1000));
}

// A second service whose packets are all OUT, and a queue that drops those from its 50th packet on, all of
// them at the 500th. 60 bytes in 40 ns are 12 Gbit/s.
void congest(config::Config& c) {
  config::Service beyond = c.services[0];
  beyond.name = "beyond";
  enlarge(contract(beyond));
  contract(beyond).bucket.in = TokenBucketParams(Rate{}, Depth::bytes(0));
  c.services.push_back(beyond);
  config::Rule rule = c.rules[0];
  rule.match.dscp = kBeyond;
  rule.service = 1;
  c.rules.insert(c.rules.begin(), rule);
  c.ports[1].shaper.rate = 9_Gbps;
  c.ports[1].shaper.overhead.per_packet = 14;
  c.queues[0].classes[2].scheduling.queue = {
      1000, RioParams{0.002, {600, 800, Probability(0.1)}, {50, 500, Probability(1)}}};
}

// Sizes buckets so that of four packets one finds a token, one leaves OUT, and two are held 10 and 20 us.
void shorten_buckets(config::Config& c) {
  config::Csa& csa = contract(c.services[0]);
  const Rate rate = csa.bucket.in.rate();
  csa.bucket.in = csa.bucket.out = TokenBucketParams(rate, Depth::bytes(64));
}

}  // namespace

std::span<const BadInput> bad_inputs() {
  return kBadInputs;
}

const BadInput* bad_input(const std::string& path) {
  const auto* const found = std::ranges::find(kBadInputs, path, &BadInput::path);
  return found != kBadInputs.end() ? found : nullptr;
}

std::size_t ports_of(const std::string& path) {
  return path == "ports" ? config::kMaxPorts : 2;
}

void spoil(config::Config& c, const BadInput& bad) {
  if (bad.path == "new-made") {
    c.flow_table.capacity = std::max(c.flow_table.capacity, kRoomForNew);
    c.flow_table.creation_rate = 0;
  } else if (bad.path == "one-flow" || bad.path == "1500" || bad.path == "imix") {
    enlarge(contract(c.services[0]));
    config::Aggregate& aggregate = c.aggregates[0];
    c.ports[1].shaper.rate = aggregate.marker.tpr_max = 1000_Gbps;
    aggregate.marker.bucket = Depth::packets(1000);  // 64 packets arrive at once
  } else if (bad.path == "classes") {
    c.services[0].mark_in = c.services[0].mark_out = std::nullopt;
    c.queues[0] = class_of_each_dscp();
  } else if (bad.path == "dropping") {
    congest(c);
  } else if (bad.path == "held") {
    shorten_buckets(c);
  }
}

void spoil(BenchTraffic& t, const BadInput& bad, std::span<const Prefix> other_family) {
  t.new_flows = bad.path.starts_with("new");
  t.options = bad.path == "options";
  if (bad.path == "one-flow") t.flows = 1;
  if (bad.path == "classes") t.dscps = kAllDscps;
  if (bad.path == "dropping") t.dscps = kHalves;
  if (bad.path == "1500") t.lengths = kAllLong;
  if (bad.path == "imix") t.lengths = kMixed;
  if (bad.path == "families") t.other_family = other_family;
  if (bad.path == "held") t.in_a_row = 4;
}

bool may_drop(const BadInput* bad, DropReason reason) {
  return bad != nullptr && bad->path == "dropping" &&
         (reason == DropReason::early || reason == DropReason::forced);
}

}  // namespace surety
