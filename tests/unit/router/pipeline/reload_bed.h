// SPDX-License-Identifier: BSD-3-Clause
// A border router whose rules change while it runs. Packets of 1000 bytes at 8 Mbit/s: one per millisecond.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety::test {

// `metered` and `gilt` mark IN what two packets at once have tokens for;
// of `silver` two more go OUT, the others wait.
inline const std::string kReloadServices =
    "  metered: {conditioner: token-bucket, rate: 8 Mbit/s, bucket: 2 kB, mark: {in: AF11, out: AF12}}\n"
    "  gilt: {conditioner: token-bucket, rate: 8 Mbit/s, bucket: 2 kB, mark: {in: AF31, out: AF32}}\n"
    "  plain: {conditioner: none, mark: {in: CS1}}\n"
    "  silver: {conditioner: csa, rate: 8 Mbit/s, in_bucket: 2 kB, out_bucket: 2 kB, buffer: 40 packets,\n"
    "           alpha: {min: 0.2, max: 0.4}, mark: {in: AF21, out: AF22}}\n";
inline constexpr int kAf11Mark = 10, kAf12Mark = 12, kAf21Mark = 18, kAf22Mark = 20, kAf31Mark = 26,
                     kAf32Mark = 28, kCs1Mark = 8, kBeMark = 0;

// One rule for all that comes from customers.
inline std::string all(const std::string& service, const std::string& per = "flow") {
  return "  - {match: {port: lan0}, service: " + service + ", per: " + per + "}\n";
}
inline std::string reload_config(const std::string& rules, const std::string& services = kReloadServices,
                                 const std::string& table = "capacity: 64, held: 400 packets") {
  return "version: 1\n"
         "ports: {lan0: {addresses: [10.1.0.254/16]}, wan0: {addresses: [10.2.0.254/16], trust: core}}\n"
         "services:\n" +
         services + "flow_table: {idle_timeout: 10 s, creation_rate: 0, " + table + "}\n" +
         (rules.empty() ? "" : "classify:\n" + rules);
}

class ReloadBed {
 public:
  explicit ReloadBed(const std::string& yaml) : d(yaml) { d.route("10.2.0.0/24", {ready(1)}); }

  void reload(const std::string& yaml) { d.reload(yaml); }
  // The sweep of the last reload goes round.
  void sweep() {
    while (d.ingress->adopting()) d.turn(d.now);
  }
  void settle(const std::string& yaml) {
    reload(yaml);
    sweep();
  }

  // `n` packets of a flow in one burst, numbered.
  void send(const Udp& u, std::size_t n = 1, std::size_t length = 1000) {
    std::vector<Octets> burst;
    for (std::size_t i = 0; i < n; ++i) burst.push_back(numbered(u, length));
    d.receive(burst, u.port);
  }
  struct Departure {
    int number, dscp;
    friend bool operator==(const Departure&, const Departure&) = default;
    friend void PrintTo(const Departure& x, std::ostream* os) { *os << x.number << " dscp " << x.dscp; }
  };
  // What has come to port 1 since it was asked last.
  std::vector<Departure> departures() {
    std::vector<Departure> all;
    for (auto frames = d.transmit(1); !frames.empty(); frames = d.transmit(1))
      for (const auto& f : frames) all.push_back({f.back() | f[f.size() - 2] << 8, dscp_of(f)});
    return all;
  }
  std::vector<int> numbers() {
    std::vector<int> all;
    for (const Departure& x : departures()) all.push_back(x.number);
    return all;
  }
  std::vector<int> marks() {
    std::vector<int> all;
    for (const Departure& x : departures()) all.push_back(x.dscp);
    return all;
  }
  // The mark of one packet sent now; -1: it waits.
  int mark(const Udp& u) {
    departures();
    send(u);
    const auto m = marks();
    return m.empty() ? -1 : m.back();
  }

  FlowId flow(const Udp& u) {
    const Burst v = parsed(u);
    const FlowTable& flows = d.ingress->flows();
    return flows.find(v.header[0].key, flows.hash(v.header[0].key), d.now);
  }
  // The record that has the state for it.
  FlowId holder(const Udp& u) {
    const FlowId id = flow(u);
    const FlowRecord& r = d.ingress->flows()[id];
    return (r.flags & FlowRecord::redirect) != 0 ? r.state.shared : id;
  }
  std::string service(const Udp& u) {
    const FlowId id = flow(u);
    return id == kNoFlow ? "none" : d.current->services[d.ingress->flows()[id].service].name;
  }
  std::string counts(const char* service) const {
    const ServiceCounters& c = d.service(service);
    return std::to_string(c.flows) + " flows, " + std::to_string(c.contracts) + " contracts";
  }
  std::uint64_t dropped() const {
    std::uint64_t n = 0;
    for (const PortCounters& p : d.ports)
      for (const std::uint64_t r : p.drops) n += r;
    return n;
  }

  // Counters of flows and contracts are what the table says, and each flow fits the state that it uses.
  void expect_census() const {
    const FlowTable& flows = d.ingress->flows();
    std::vector<std::pair<std::uint64_t, std::uint64_t>> counted(d.services.size());
    for (FlowId id = 0; id < flows.capacity(); ++id) {
      const FlowRecord& r = flows[id];
      if ((r.flags & FlowRecord::live) == 0) continue;
      const bool shared = (r.flags & FlowRecord::is_shared) != 0,
                 redirect = (r.flags & FlowRecord::redirect) != 0;
      const bool conditioned = d.current->services[r.service].kind != ServiceProgram::Kind::none;
      if (!shared) ++counted[r.service].first;
      if (shared || (!redirect && conditioned)) ++counted[r.service].second;
      if (shared || !redirect) continue;
      const FlowRecord& contract = flows[r.state.shared];
      EXPECT_EQ(contract.flags & (FlowRecord::live | FlowRecord::is_shared),
                FlowRecord::live | FlowRecord::is_shared);
    }
    for (std::size_t s = 0; s < counted.size(); ++s) {
      EXPECT_EQ(d.services[s].flows, counted[s].first) << d.current->services[s].name;
      EXPECT_EQ(d.services[s].contracts, counted[s].second) << d.current->services[s].name;
    }
  }
  void expect_law() const {
    d.expect_law();
    expect_census();
  }

  Octets numbered(const Udp& u, std::size_t length = 1000) {
    Octets f = udp_frame(u, length);
    f.back() = static_cast<std::uint8_t>(next_);
    f[f.size() - 2] = static_cast<std::uint8_t>(next_++ >> 8);
    return f;
  }

  DataPlane d;

 private:
  Burst parsed(const Udp& u) {
    Burst v;
    const ParseContext context{d.macs[u.port], u.port, d.current->classifier.uses_dscp(), false};
    EXPECT_TRUE(parse(udp_frame(u), context, v.header[0]).forwards());
    return v;
  }

  int next_ = 1;
};

}  // namespace surety::test
