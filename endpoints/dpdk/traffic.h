// SPDX-License-Identifier: BSD-3-Clause
// The flows of a configuration: a `Station` for each port, the sinks, and the senders with their tuples and
// schedules. No port, no clock: a driver moves the frames.
//
// Everything is planned when made; start() sets it going. Errors are one sentence with the fix, thrown as
// std::runtime_error when made. Then single writer: the thread that drives the ports.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/address.h"
#include "endpoints/config/endpoints.h"
#include "endpoints/engine/engine.h"
#include "endpoints/engine/sender_params.h"
#include "endpoints/host/station.h"

namespace surety::endpoints {

struct SenderFlow {
  std::size_t line = 0, port = 0;  // indices into Endpoints::senders and ::ports
  std::uint32_t number = 0;        // number within the line's flows, from 0
  Transport transport = Transport::tcp;
  Tuple tuple;
  Schedule schedule;               // from start() on; before, relative to Time{}
  FlowIndex index = kNoFlowIndex;  // in the port's host, from start() on
};

class Traffic {
 public:
  // `secret`: what initial sequence numbers and the flow directory's key must not be guessed without; the
  // configuration's seed alone is public. `macs`: of each port. `accepted_flows`: the most that the sinks of
  // one port keep at a time. `config` outlives it.
  Traffic(const config::Endpoints& config, std::span<const MacAddress> macs, std::uint32_t accepted_flows,
          Time now, std::uint64_t secret = 0);
  ~Traffic();

  std::size_t ports() const { return stations_.size(); }
  Station& station(std::size_t port) const { return *stations_[port]; }

  // A line of `senders` whose next hop's MAC address is not known yet; none: start() may come.
  std::optional<std::size_t> unresolved() const;

  // Requests the next hops that are not resolved.
  void resolve(Time now);

  // Adds the senders; their schedules count from `zero`.
  void start(Time zero);
  // Ends flows in an orderly way: of the ports that have senders, or of the others.
  void close(bool with_senders, Time now);

  // In the order of the lines, then of their numbers. Constant but for `schedule` and `index`.
  std::span<const SenderFlow> flows() const { return flows_; }
  // Null: the host had no room for it.
  const Engine* engine(const SenderFlow& f) const;

 private:
  struct Listening {
    std::size_t sink;  // index into Endpoints::sinks
    config::Listen listen;
    std::unique_ptr<Acceptor> acceptor;
  };
  void make_stations(std::span<const MacAddress> macs, std::uint32_t accepted_flows, Time now);
  void make_acceptors();
  std::size_t largest_engine(std::size_t port) const;
  void listen();
  void plan_flows();

  const config::Endpoints& config_;
  std::uint64_t secret_;
  std::vector<Listening> acceptors_;
  // Behind the acceptors: engines refer to them until the end.
  std::vector<std::unique_ptr<Station>> stations_;
  std::vector<SenderFlow> flows_;
};

}  // namespace surety::endpoints
