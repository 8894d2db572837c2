// SPDX-License-Identifier: BSD-3-Clause
// Whatever the order of events, the data plane holds what the live inputs say: random sequences against a
// model that keeps only the inputs and answers each question from scratch.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "router/pipeline/routes/routes.h"
#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

constexpr std::size_t kPorts = 3;

// What share of the flows goes where: a block may have several places for one next hop.
std::string shares(const std::string& words) {
  std::map<std::string, int> places;
  for (std::size_t from = 0; from <= words.size();) {
    const auto to = std::min(words.find(" | ", from), words.size());
    ++places[words.substr(from, to - from)];
    from = to + 3;
  }
  int common = 0;
  for (const auto& [word, n] : places) common = std::gcd(common, n);
  std::string text;
  for (const auto& [word, n] : places) text += std::to_string(n / common) + " of " + word + "; ";
  return text;
}

struct Model {
  config::Config config;
  std::array<int, kPorts> ifindex{};
  std::array<bool, kPorts> device_up{true, true, true};
  std::map<int, bool> link_up;
  std::set<std::pair<int, Prefix>> addresses;                     // of the kernel
  std::map<std::pair<Prefix, std::uint32_t>, RouteEvent> routes;  // by prefix and metric
  std::map<std::pair<int, IpAddress>, MacAddress> neighbors;

  struct Member {
    std::size_t port;
    std::optional<IpAddress> gateway;
  };

  std::optional<std::size_t> port_of(int i) const {
    for (std::size_t p = 0; p < kPorts; ++p)
      if (i != 0 && ifindex[p] == i) return p;
    return {};
  }
  // Every own address with its port, if it has one; collected after each change, not for each question.
  std::vector<std::pair<Prefix, std::optional<std::size_t>>> own;
  void collect_own() {
    own.clear();
    for (std::size_t p = 0; p < kPorts; ++p)
      for (const auto& a : config.ports[p].addresses) own.emplace_back(a, p);
    for (const auto& [i, a] : addresses) own.emplace_back(a, port_of(i));
  }
  std::optional<std::size_t> subnet_port(const IpAddress& a) const {
    if (a.is_v6() && a.data()[0] == 0xfe) return {};  // a link-local gateway must name its port
    std::optional<std::size_t> best;
    int longest = -1;
    for (const auto& [p, port] : own)
      if (port && !is_host(p) && p.contains(a) &&
          (p.length > longest || (p.length == longest && *port < *best)))
        longest = p.length, best = port;
    return best;
  }
  std::optional<MacAddress> mac_of(const Member& m) const {
    for (const auto& n : config.neighbors)
      if (n.port == m.port && n.address == *m.gateway) return n.mac;
    const auto it = neighbors.find({ifindex[m.port], *m.gateway});
    if (it == neighbors.end()) return {};
    return it->second;
  }
  std::string word(const Member& m) const {
    const auto link = link_up.find(ifindex[m.port]);
    if (!device_up[m.port] || (link != link_up.end() && !link->second)) return "none";
    const std::string port = std::to_string(m.port);
    if (!m.gateway) return "glean " + port;
    const auto mac = mac_of(m);
    if (!mac) return "unresolved " + port;
    auto hosts = hosts_of(to, m.port);
    if (hosts.empty()) hosts = hosts_of(*m.gateway, m.port);
    return "ready " + port + hosts + " " + to_string(*mac);
  }
  // Hosts with queues: the definition with the address.
  std::optional<std::size_t> hosts_with(const IpAddress& a) const {
    for (std::size_t d = 0; d < config.interfaces.size(); ++d)
      for (const Prefix& p : config.interfaces[d].prefixes)
        if (p.contains(a)) return d;
    return {};
  }
  std::string hosts_of(const IpAddress& a, std::size_t port) const {
    const auto d = hosts_with(a);
    return d && config.interfaces[*d].port == port ? "/" + std::to_string(place_of(*d)) : "";
  }
  std::function<InterfaceIndex(std::size_t)> place_of;
  mutable IpAddress to;  // the destination asked for
  std::string words(std::vector<Member> members) const {
    const auto key = [](const Member& m) { return std::tuple(m.port, m.gateway); };
    std::sort(members.begin(), members.end(), [&](auto& a, auto& b) { return key(a) < key(b); });
    members.erase(
        std::unique(members.begin(), members.end(), [&](auto& a, auto& b) { return key(a) == key(b); }),
        members.end());
    std::vector<std::string> each, best;
    for (const auto& m : members) each.push_back(word(m));
    const auto keep = [&](auto wanted) {
      if (best.empty()) std::copy_if(each.begin(), each.end(), std::back_inserter(best), wanted);
    };
    keep([](const std::string& w) { return w.starts_with("ready"); });
    keep([](const std::string& w) { return w != "none"; });
    std::string text;
    for (std::size_t i = 0; i < each.size(); ++i) {
      const bool usable = best.empty() || std::find(best.begin(), best.end(), each[i]) != best.end();
      text += (i == 0 ? "" : " | ") + (usable ? each[i] : best[i % best.size()]);
    }
    return text;
  }
  // An answer for this address from one route; none: the route is passed over.
  std::optional<std::string> use(
      const std::vector<std::pair<std::optional<IpAddress>, std::optional<std::size_t>>>& hops, bool foreign,
      const IpAddress& a) const {
    std::vector<Member> members;
    for (const auto& [via, port] : hops)
      if (port) members.push_back({*port, via});
    if (members.empty()) return foreign ? std::optional<std::string>("local") : std::nullopt;
    for (std::size_t p = 0; p < kPorts; ++p)  // on link, and its neighbour is known
      if (std::any_of(members.begin(), members.end(), [&](auto& m) { return m.port == p && !m.gateway; }) &&
          mac_of({p, a}))
        return words({{p, a}});
    return words(members);
  }
  std::optional<std::string> yaml(const config::Route& r, const IpAddress& a) const {
    if (r.blackhole) return "blackhole";
    std::vector<std::pair<std::optional<IpAddress>, std::optional<std::size_t>>> hops;
    for (const auto& h : r.next_hops) hops.emplace_back(h.via, h.port ? h.port : subnet_port(*h.via));
    return use(hops, false, a);
  }
  std::optional<std::string> kernel(const RouteEvent& r, const IpAddress& a) const {
    if (r.blackhole) return "blackhole";
    std::vector<std::pair<std::optional<IpAddress>, std::optional<std::size_t>>> hops;
    bool foreign = false;
    for (const auto& h : r.next_hops) {
      hops.emplace_back(h.via, port_of(h.ifindex));
      foreign |= !port_of(h.ifindex);
    }
    return use(hops, foreign, a);
  }
  std::string forward(const IpAddress& a) const {
    to = a;
    for (const auto& [p, port] : own)
      if (p.address == a || (port && p.address.is_v6() && p.length < 127 && p.masked().address == a))
        return "local";
    for (const auto& [p, port] : own)
      if (port && !p.address.is_v6() && p.length < 31 && (p.masked().address == a || last_address(p) == a))
        return "blackhole";
    for (int length = a.bits(); length >= 0; --length) {
      const auto here = [&](const Prefix& p) { return p.length == length && p.contains(a); };
      std::optional<std::size_t> subnet;
      for (const auto& [p, port] : own)
        if (port && !is_host(p) && here(p) && (!subnet || *port < *subnet)) subnet = port;
      if (subnet) return *use({{std::nullopt, subnet}}, false, a);
      for (const auto& r : config.routes)
        if (here(r.to))
          if (const auto answer = yaml(r, a)) return *answer;
      for (const auto& [key, r] : routes)  // equal prefixes are in the order of their metrics
        if (here(r.to))
          if (const auto answer = kernel(r, a)) return *answer;
    }
    return "none";
  }
};

class RoutesProperty : public testing::TestWithParam<unsigned> {
 protected:
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[random() % from.size()];
  }
  bool coin() { return random() % 2 == 0; }
  static std::vector<IpAddress> hosts_of(std::initializer_list<const char*> texts) {
    std::vector<IpAddress> all;
    for (const char* text : texts) all.push_back(address(text));
    return all;
  }
  static std::vector<Prefix> prefixes_of(std::initializer_list<const char*> texts) {
    std::vector<Prefix> all;
    for (const char* text : texts) all.push_back(prefix(text));
    return all;
  }

  const std::vector<Prefix> addresses =
      prefixes_of({"10.0.0.1/24", "10.0.0.2/24", "10.0.1.1/30", "10.0.0.1/16", "10.2.0.0/31", "192.0.2.1/32",
                   "2001:db8::1/64", "2001:db8::1/48", "fe80::1/64", "2001:db8:0:1::/127"});
  const std::vector<Prefix> prefixes = prefixes_of(
      {"0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/24", "10.0.0.0/25", "10.0.0.5/32", "10.0.0.255/32",
       "192.0.2.0/24", "::/0", "2001:db8::/32", "2001:db8::/64", "2001:db8::5/128", "2001:db8:0:1::/64"});
  const std::vector<IpAddress> hosts = hosts_of({"10.0.0.5", "10.0.0.130", "10.0.1.2", "10.2.0.1",
                                                 "192.0.2.7", "2001:db8::5", "2001:db8:0:1::1", "fe80::5"});
  const std::vector<IpAddress> probes =
      hosts_of({"0.0.0.0",         "8.8.8.8",      "10.0.0.0",    "10.0.0.1",
                "10.0.0.2",        "10.0.0.5",     "10.0.0.6",    "10.0.0.130",
                "10.0.0.255",      "10.0.1.0",     "10.0.1.1",    "10.0.1.2",
                "10.0.1.3",        "10.0.255.255", "10.2.0.0",    "10.2.0.1",
                "192.0.2.1",       "192.0.2.7",    "::",          "2001:db8::",
                "2001:db8::1",     "2001:db8::5",  "2001:db8::6", "2001:db8:0:1::",
                "2001:db8:0:1::1", "2001:db8:1::1"});
  const std::vector<int> interfaces{10, 11, 12, 99};

  // Not host prefixes alone, and with routes around and within them.
  const std::vector<Prefix> host_prefixes =
      prefixes_of({"8.8.0.0/16", "10.0.0.5/32", "10.0.0.128/25", "10.2.0.0/15", "192.0.2.7/32",
                   "2001:db8::/63", "2001:db8:1::/64"});
  std::shared_ptr<const Interfaces> table;

  RouteEvent random_route() {
    RouteEvent e;
    e.to = pick(prefixes);
    e.metric = static_cast<std::uint32_t>(random() % 2 * 100);
    e.blackhole = random() % 8 == 0;
    for (std::size_t n = 1 + random() % 3; !e.blackhole && n > 0; --n) {
      RouteNextHop hop{{}, pick(interfaces)};
      if (random() % 3 != 0) hop.via = pick(hosts);
      e.next_hops.push_back(hop);
    }
    return e;
  }
  void change_route() {
    RouteEvent e = random_route();
    const std::pair key{e.to, e.metric};
    if (const auto it = model.routes.find(key); it != model.routes.end() && coin()) {
      e = it->second;
      e.action = EventAction::remove;
      model.routes.erase(it);
    } else {
      model.routes[key] = e;
    }
    routes.on(e);
  }
  void change_neighbor() {
    NeighborEvent e{coin() ? EventAction::add : EventAction::remove, pick(interfaces), pick(hosts),
                    mac(static_cast<std::uint8_t>(random() % 4))};
    const std::pair key{e.ifindex, e.address};
    if (e.action == EventAction::add)
      model.neighbors[key] = e.mac;
    else
      model.neighbors.erase(key);
    routes.on(e);
  }
  void change_address() {
    const std::pair key{pick(interfaces), pick(addresses)};
    const auto action = coin() ? EventAction::add : EventAction::remove;
    if (action == EventAction::add)
      model.addresses.insert(key);
    else
      model.addresses.erase(key);
    routes.on(AddressEvent{action, key.first, key.second});
  }
  void change_link() {
    const int i = pick(interfaces);
    model.link_up[i] = coin();
    routes.on(LinkEvent{i, "eth", model.link_up[i], 1500, {}});
  }
  void change_port() {
    const std::size_t p = random() % kPorts;
    if (coin()) return routes.set_port_up(p, model.device_up[p] = coin());
    model.ifindex[p] = coin() ? 0 : 10 + static_cast<int>(p);
    routes.bind_port(p, model.ifindex[p]);
  }
  void change_config() {
    model.config.ports.resize(kPorts);
    for (auto& port : model.config.ports) {
      port.name = "a";
      port.addresses.clear();
      if (coin()) port.addresses.push_back(pick(addresses));
    }
    model.config.routes.clear();
    std::set<std::string> used;
    for (int i = 0; i < 3; ++i) {
      config::Route r{pick(prefixes), {}, random() % 4 == 0};
      if (!used.insert(to_string(r.to)).second) continue;
      if (!r.blackhole) {
        r.next_hops.push_back({pick(hosts), {}});
        if (coin()) r.next_hops.push_back({{}, random() % kPorts});
      }
      model.config.routes.push_back(r);
    }
    model.config.neighbors.clear();
    if (coin()) model.config.neighbors.push_back({pick(hosts), mac(9), random() % kPorts});
    model.config.interfaces.clear();
    for (const Prefix& p : host_prefixes) {
      if (coin()) continue;
      auto& i = model.config.interfaces.emplace_back();
      i.name = "h" + to_string(p), i.port = random() % kPorts, i.prefixes = {p};
    }
    table = std::make_shared<const Interfaces>(model.config, table.get());
    model.place_of = [this](std::size_t d) { return table->of_definition(d); };
    routes.configure(model.config, table);
  }
  void sync() {
    routes.begin_kernel_sync();
    std::erase_if(model.addresses, [&](auto&) { return coin(); });
    std::erase_if(model.routes, [&](auto&) { return coin(); });
    std::erase_if(model.neighbors, [&](auto&) { return coin(); });
    for (const auto& [i, a] : model.addresses) routes.on(AddressEvent{EventAction::add, i, a});
    for (const auto& [key, r] : model.routes) routes.on(r);
    for (const auto& [key, m] : model.neighbors)
      routes.on(NeighborEvent{EventAction::add, key.first, key.second, m});
    routes.end_kernel_sync();
  }
  void change_something() {
    switch (random() % 32) {
      case 0:
        return sync();
      case 1:
        return change_config();
      case 2:
      case 3:
        return change_port();
      case 4:
      case 5:
        return change_link();
      case 6:
      case 7:
      case 8:
      case 9:
      case 10:
        return change_address();
      default:
        return random() % 2 ? change_route() : change_neighbor();
    }
  }

  std::mt19937 random{GetParam()};
  Model model;
  TableSink sink;
  Routes routes{sink, 4096};
};

TEST_P(RoutesProperty, ForwardsAsTheLiveInputsSay) {
  if (GetParam() % 2 == 1) routes.limit_work(7);
  change_config();
  for (int i = 0; i < 600; ++i) {
    change_something();
    while (routes.work()) {
    }
    model.collect_own();
    for (const auto& a : probes) {
      const auto is = sink.forward(a), should = model.forward(a);
      if (is != should) {
        ASSERT_EQ(shares(is), shares(should)) << "after " << i << ", for " << to_string(a);
      }
    }
    ASSERT_EQ(routes.routes(), sink.routes.size());
  }
  model = {};
  model.config.ports.resize(kPorts);
  for (auto& port : model.config.ports) port.name = "a";
  table = std::make_shared<const Interfaces>(model.config, table.get());
  routes.configure(model.config, table);
  routes.begin_kernel_sync();
  routes.end_kernel_sync();
  while (routes.work()) {
  }
  EXPECT_TRUE(sink.routes.empty());
  EXPECT_EQ(routes.next_hops(), 0U);
  EXPECT_EQ(routes.neighbors(), 0U);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RoutesProperty, testing::Range(0U, 16U));

}  // namespace
}  // namespace surety
