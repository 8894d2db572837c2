// SPDX-License-Identifier: BSD-3-Clause
// The flows at our sinks, as the observing thread follows them from snapshot to snapshot.
//
// Senders in this process get the readings of their flows' receivers; other flows have results of their own.
// These are measured over the whole seconds in which something arrived, since the exact times of their
// senders' start and stop are unknown here. Counters count from the first packet to the last. Of flows that
// are over, at most kKeptResults results are kept, the first ones; sums have them all.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "endpoints/config/endpoints.h"
#include "endpoints/dpdk/snapshot.h"
#include "endpoints/dpdk/traffic.h"
#include "endpoints/report/report.h"

namespace surety::endpoints {

// "198.51.100.1:5001" or "[2001:db8::1]:5001": the other end.
std::string peer(const Tuple& t);

class AcceptedFlows {
 public:
  static constexpr std::size_t kKeptResults = 10'000;

  AcceptedFlows(const config::Endpoints& config, std::span<const SenderFlow> senders);

  void take(const Snapshot& s);

  // The receiver's reading of the sender's flow with this index; null: its sink is not in this process, or
  // has received nothing.
  const FlowReading* receiver_of(std::size_t sender) const { return receivers_[sender]; }
  // One per port and transport that listens.
  std::vector<SinkReading> sinks() const;
  // Results of flows whose senders are elsewhere, by sink ("p0 tcp 5001") and peer; on the same addresses and
  // ports, flows that are over come first.
  std::vector<FlowResult> results() const;

 private:
  struct Key {
    std::size_t port = 0;
    Transport transport = Transport::tcp;
    Tuple tuple;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& k) const;
  };
  struct Flow {
    std::optional<std::size_t> sender;      // in this process
    std::optional<FlowTrack> track;         // for other senders' flows
    std::optional<FlowSample> uncommitted;  // perhaps of a second that is not whole
    FlowReading last;
    FlowState state = FlowState::idle;
    std::uint64_t seen = 0;  // number of the snapshot that had it last
    double delivered = 0;    // in the last second
    Time last_at{};
    bool committed = false;
  };
  using Flows = std::unordered_map<Key, Flow, KeyHash>;

  void take(const FlowSample& s);
  std::string sink_name(const Key& key) const;
  Flow begin(const Key& key, const FlowSample& s) const;
  static void measure(Flow& f, const FlowSample& s);
  static FlowResult result(const Flow& f);
  void retire(const Flow& f, const Key& key);
  static void add(SinkReading& sink, const Flow& f);

  const config::Endpoints& config_;
  std::unordered_map<Key, std::size_t, KeyHash> local_senders_;  // keys as seen by their sink; port 0
  std::vector<const FlowReading*> receivers_;                    // indexed by sender
  Flows flows_;
  std::map<std::pair<std::size_t, Transport>, SinkReading> gone_;  // sums of flows that are over
  std::vector<FlowResult> results_;                                // finished flows
  std::uint64_t snapshots_ = 0;
};

}  // namespace surety::endpoints
