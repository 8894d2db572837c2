// SPDX-License-Identifier: BSD-3-Clause
// What a full table costs the control thread: 1 million IPv4 and 200,000 IPv6 routes through Routes, alone
// and with a real FIB behind; afterwards single changes, a resynchronisation and a mass withdrawal. Memory is
// what malloc() has given out (Routes) and what DPDK's heap has (FIB).
#include <fmt/format.h>
#include <malloc.h>
#include <rte_eal.h>
#include <rte_malloc.h>

#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "router/pipeline/routes/fib.h"
#include "router/pipeline/routes/routes.h"

namespace surety {
namespace {

constexpr std::size_t kV4 = 1'000'000, kV6 = 200'000;
constexpr std::uint32_t kMaxRoutes = 1'200'000;
constexpr int kGateways = 64;  // as many peers as a large edge has

// Lengths as in a full table: most are /24, a few are longer.
std::uint8_t length4(unsigned draw) {
  if (draw < 60) return 24;
  if (draw < 82) return static_cast<std::uint8_t>(22 + draw % 2);
  if (draw < 97) return static_cast<std::uint8_t>(16 + draw % 6);
  if (draw < 98) return static_cast<std::uint8_t>(8 + draw % 8);
  return static_cast<std::uint8_t>(25 + draw % 8);
}
std::uint8_t length6(unsigned draw) {
  if (draw < 48) return 48;
  if (draw < 65) return 32;
  if (draw < 90) return static_cast<std::uint8_t>(33 + draw % 15);
  return static_cast<std::uint8_t>(49 + draw % 16);
}

std::vector<Prefix> table(bool v6, std::size_t n) {
  std::mt19937 random(v6 ? 6 : 4);
  std::set<Prefix> seen;
  std::vector<Prefix> out;
  while (out.size() < n) {
    Prefix p;
    const auto bits = random(), more = random();
    p.address =
        v6 ? IpAddress{std::uint64_t{more} << 32 | bits, 0} : IpAddress::v4(static_cast<std::uint32_t>(bits));
    if (v6)
      p.address.data()[0] = 0x20, p.address.data()[1] &= 0x0f;
    else
      p.address.data()[0] = static_cast<std::uint8_t>(1 + p.address.data()[0] % 222);
    const auto draw = static_cast<unsigned>(random() % 100);
    p.length = v6 ? length6(draw) : length4(draw);
    p = p.masked();
    if (seen.insert(p).second) out.push_back(p);
  }
  return out;
}

class NoSink : public RouteSink {
 public:
  bool set_route(const Prefix&, RouteTarget) override { return true; }
  void remove_route(const Prefix&) override {}
  void set_next_hop(std::uint32_t, const NextHopEntry&) override {}
};

class FibSink : public RouteSink {
 public:
  bool set_route(const Prefix& p, RouteTarget t) override { return fib.add(p, t.encode()); }
  void remove_route(const Prefix& p) override { fib.remove(p); }
  void set_next_hop(std::uint32_t id, const NextHopEntry& e) override { next_hops.set(id, e); }
  Fib fib{"bench", kMaxRoutes};
  NextHopTable next_hops;
};

constexpr std::uint64_t kNet6 = 0x0100'b80d'0120;  // 2001:db8:1::/64

RouteEvent event(const Prefix& to, int gateway) {
  RouteEvent e;
  e.to = to;
  const auto host = static_cast<std::uint8_t>(2 + gateway);
  const IpAddress via =
      to.address.is_v6() ? IpAddress{kNet6, std::uint64_t{host} << 56} : IpAddress::v4(10, 0, 0, host);
  e.next_hops.push_back({via, 10});
  e.protocol = 186;
  return e;
}

// Time of this thread on a core: what others do on the machine is left out, but for the caches.
class Lap {
 public:
  double milliseconds() const { return now() - start_; }

 private:
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
  }
  double start_ = now();
};

void report(const std::string& what, const Lap& lap, std::size_t changes) {
  const double ms = lap.milliseconds();
  fmt::print("{:<46} {:>9.3f} ms {:>9.0f} ns each\n", what, ms, ms * 1e6 / static_cast<double>(changes));
}

std::size_t fib_bytes() {
  rte_malloc_socket_stats s{};
  rte_malloc_get_socket_stats(0, &s);
  return s.heap_allocsz_bytes;
}

template <class Sink>
void measure(const std::string& name, const std::vector<Prefix>& v4, const std::vector<Prefix>& v6) {
  fmt::print("-- {}\n", name);
  const std::size_t dpdk = fib_bytes();
  auto sink = std::make_unique<Sink>();
  auto routes = std::make_unique<Routes>(*sink);
  config::Config config;
  config.ports.resize(1);
  config.ports[0].name = "port";
  config.ports[0].addresses = {{IpAddress::v4(10, 0, 0, 1), 16}, {{kNet6, std::uint64_t{1} << 56}, 64}};
  routes->configure(config);
  routes->bind_port(0, 10);
  const std::size_t before = mallinfo2().uordblks;
  const auto add_all = [&](const std::vector<Prefix>& all, int shift) {
    for (std::size_t i = 0; i < all.size(); ++i)
      routes->on(event(all[i], static_cast<int>(i + static_cast<std::size_t>(shift)) % kGateways));
  };
  {
    const Lap lap;
    add_all(v4, 0);
    report("load IPv4", lap, v4.size());
  }
  {
    const Lap lap;
    add_all(v6, 0);
    report("load IPv6", lap, v6.size());
  }
  fmt::print("{} routes, {} refused; {:.0f} bytes each in Routes; FIB {} MB\n", routes->routes(),
             routes->rejected(),
             static_cast<double>(mallinfo2().uordblks - before) / static_cast<double>(v4.size() + v6.size()),
             (fib_bytes() - dpdk) >> 20);
  const auto single = [&](const std::string& what, const std::string& to) {
    RouteEvent e = event(parse_prefix(to).value(), 1);
    const Lap add;
    routes->on(e);
    report("add " + what, add, 1);
    e.next_hops = event(e.to, 2).next_hops;
    const Lap replace;
    routes->on(e);
    report("replace " + what, replace, 1);
    e.action = EventAction::remove;
    const Lap remove;
    routes->on(e);
    report("remove " + what, remove, 1);
  };
  single("0.0.0.0/0", "0.0.0.0/0");
  single("100.0.0.0/8", "100.0.0.0/8");
  single("223.1.2.0/24", "223.1.2.0/24");
  single("::/0", "::/0");
  single("2000::/3", "2000::/3");
  single("2fff::/48", "2fff::/48");
  {
    const Lap lap;
    routes->begin_kernel_sync();
    add_all(v4, 0);
    add_all(v6, 0);
    report("resync, everything told again", lap, v4.size() + v6.size());
    const Lap end;
    routes->end_kernel_sync();
    report("its end", end, 1);
  }
  {
    const Lap lap;
    routes->set_port_up(0, false);
    report("port down", lap, 1);
    routes->set_port_up(0, true);
  }
  {
    const Lap lap;
    add_all(v4, 1);
    report("every IPv4 route to another gateway", lap, v4.size());
  }
  {
    const Lap lap;
    routes->begin_kernel_sync();
    routes->end_kernel_sync();
    report("everything withdrawn", lap, v4.size() + v6.size());
  }
}

}  // namespace
}  // namespace surety

int main() {
  std::vector<std::string> words{
      "routes_bench",
      "--no-huge",
      "--no-pci",
      "--no-shconf",
      "--no-telemetry",
      "-m",
      std::to_string((surety::Fib::memory_bytes(surety::kMaxRoutes, true) >> 20) + 64),
      "--log-level=lib.eal:4"};
  std::vector<char*> arguments;
  for (auto& w : words) arguments.push_back(w.data());
  if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) return 1;
  const auto v4 = surety::table(false, surety::kV4), v6 = surety::table(true, surety::kV6);
  surety::measure<surety::NoSink>("Routes alone", v4, v6);
  surety::measure<surety::FibSink>("with the FIB", v4, v6);
  return 0;
}
