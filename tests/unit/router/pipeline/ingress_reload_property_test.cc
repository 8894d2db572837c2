// SPDX-License-Identifier: BSD-3-Clause
// Random reloads among random packets: whatever the rules become, the law of the counters holds after every
// step, and no flow's packets are lost or change their order.
#include <map>

#include "conditioners/rng.h"
#include "router/pipeline/ingress.h"
#include "tests/unit/router/pipeline/reload_bed.h"

namespace surety {
namespace {

using namespace test;
using namespace literals;

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : rng_(seed) {}
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(rng_.next() % n); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  template <std::size_t N>
  const char* of(const std::array<const char*, N>& words) {
    return words[below(N)];
  }

 private:
  Rng rng_;
};

// What may be refused: nothing; what police and small buffers refuse; records, too, and a flow that has none
// is not known to have packets that wait.
enum class Refusals : std::uint8_t { none, some, records };

std::string random_services(Chance& c, Refusals refusals) {
  const char* rate = c.of<4>({"800 kbit/s", "8 Mbit/s", "80 Mbit/s", "8 bit/s"});
  const char* kind = c.of<2>({"token-bucket", "csa"});
  const std::string alpha = std::string("alpha: {min: 0.2, max: ") + c.of<2>({"0.4", "0.8"}) + "}, ";
  const std::string buffer = refusals == Refusals::none ? "5000" : c.of<2>({"2", "40"});
  const auto csa = [&](const char* r) {
    return std::string("{conditioner: csa, rate: ") + r +
           ", in_bucket: 2 kB, out_bucket: 2 kB, buffer: " + buffer + " packets, " + alpha +
           "mark: {in: AF21, out: AF22}}\n";
  };
  const std::string bucket = std::string("{conditioner: token-bucket, rate: ") + rate +
                             ", bucket: 3 kB, mark: {in: AF11, out: AF12}}\n";
  std::string all =
      "  silver: " + csa(rate) + "  gold: " + csa("4 Mbit/s") + "  plain: {conditioner: none}\n" +
      "  turns: " + (std::string(kind) == "csa" ? csa("2 Mbit/s") : bucket) +
      "  meter: {conditioner: srtcm, rate: 1 Mbit/s, committed_burst: 3 kB, excess_burst: 3 kB, mark: "
      "{in: AF11, out: AF12}}\n";
  if (refusals != Refusals::none)
    all += std::string("  capped: {conditioner: police, rate: ") + rate + ", bucket: 4 kB, mark: {in: EF}}\n";
  return all;
}

std::string random_rule(Chance& c, Refusals refusals) {
  const char* match =
      c.of<8>({"port: lan0", "port: lan0, source: 10.1.0.1/32", "port: lan0, destination_port: 1",
               "port: lan0, source_port: 2", "port: lan0, dscp: EF", "protocol: udp",
               "port: lan0, destination: 10.2.0.0/30", "port: wan0"});
  const char* service = refusals == Refusals::none
                            ? c.of<5>({"silver", "gold", "plain", "turns", "meter"})
                            : c.of<6>({"silver", "gold", "plain", "turns", "meter", "capped"});
  const char* per = c.of<6>({"flow", "flow", "source", "destination", "rule", "prefix, prefix: {ipv4: 31}"});
  return std::string("  - {match: {") + match + "}, service: " + service + ", per: " + per + "}\n";
}

// Rules may match the DSCP because the first configuration has one that does.
std::string random_config(Chance& c, Refusals refusals, const std::string& table, bool first = false) {
  std::string rules = first ? "  - {match: {port: lan0, dscp: EF}, service: gold, per: flow}\n" : "";
  for (std::uint32_t n = c.below(5); n > 0; --n) rules += random_rule(c, refusals);
  std::string yaml = reload_config(rules, random_services(c, refusals), table);
  if (c.one_in(4)) yaml.replace(yaml.find("}, wan0"), 1, ", trust: core}");
  return yaml;
}

Udp random_flow(Chance& c) {
  Udp u;
  u.source += c.below(3);
  u.destination += c.below(3);
  u.from = static_cast<std::uint16_t>(1 + c.below(3));
  u.to = static_cast<std::uint16_t>(1 + c.below(2));
  u.tos = (u.source + u.destination + u.from + u.to) % 3 == 0 ? 0xb8 : 0;
  return u;
}

using Key = std::array<std::uint8_t, 12>;  // addresses and ports
Key key_of(const Octets& f) {
  Key k{};
  std::copy_n(f.begin() + 26, 12, k.begin());
  return k;
}

class Run {
 public:
  Run(std::uint64_t seed, Refusals refusals, std::string table)
      : chance_(seed),
        refusals_(refusals),
        table_(std::move(table)),
        b_(random_config(chance_, refusals, table_, true)) {}

  void step() {
    switch (chance_.below(12)) {
      case 0:
        b_.reload(random_config(chance_, refusals_, table_));
        break;
      case 1:
      case 2:
      case 3:
        b_.d.turn(b_.d.now + Duration(chance_.below(20'000'000)));
        break;
      case 4:
        b_.d.turn(b_.d.now);
        break;
      default:
        burst();
    }
    collect();
    b_.expect_law();
  }
  // All that waits has left.
  void finish() {
    b_.settle(reload_config(all("plain"), "  plain: {conditioner: none}\n", table_));
    for (int n = 0; n < 5000 && b_.d.ingress->held() > 0; ++n) {
      burst();
      b_.d.turn(b_.d.now + 1ms);
      collect();
    }
    collect();
    EXPECT_EQ(b_.d.ingress->held(), 0u);
    b_.expect_law();
    EXPECT_EQ(arrived_ + b_.dropped(), sent_);
    EXPECT_TRUE(refusals_ != Refusals::none || b_.dropped() == 0);
  }

 private:
  void burst() {
    std::vector<Octets> frames;
    for (std::uint32_t n = 1 + chance_.below(16); n > 0; --n) {
      const Udp u = random_flow(chance_);
      for (std::uint32_t k = 1 + chance_.below(3); k > 0; --k) {
        frames.push_back(udp_frame(u, 1000));
        const std::uint16_t number = ++given_[key_of(frames.back())];
        frames.back().back() = static_cast<std::uint8_t>(number);
        frames.back()[frames.back().size() - 2] = static_cast<std::uint8_t>(number >> 8);
      }
    }
    sent_ += frames.size();
    b_.d.receive(frames);
  }
  void collect() {
    for (auto frames = b_.d.transmit(1); !frames.empty(); frames = b_.d.transmit(1)) {
      for (const Octets& f : frames) {
        const auto number = static_cast<std::uint16_t>(f.back() | f[f.size() - 2] << 8);
        std::uint16_t& last = last_[key_of(f)];
        ASSERT_TRUE(refusals_ == Refusals::records || number > last) << number << " behind " << last;
        ASSERT_TRUE(refusals_ != Refusals::none || number == last + 1) << "one is missing before " << number;
        last = number;
        ++arrived_;
      }
    }
  }

  Chance chance_;
  Refusals refusals_;
  std::string table_;
  ReloadBed b_;
  std::map<Key, std::uint16_t> given_, last_;
  std::uint64_t sent_ = 0, arrived_ = 0;
};

void run(std::uint64_t seed, Refusals refusals, const std::string& table) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Run r(seed, refusals, table);
  for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i) r.step();
  if (!testing::Test::HasFailure()) r.finish();
}

TEST(IngressReloadProperty, NothingIsLostAndNoFlowIsReordered) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    run(seed, Refusals::none, "capacity: 1024, held: 8000 packets");
}

TEST(IngressReloadProperty, TheLawHoldsWhereMuchIsRefused) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    run(seed, Refusals::some, "capacity: 1024, held: 60 packets");
}

// Records are made, forgotten and degraded all the time.
TEST(IngressReloadProperty, TheLawHoldsInAFullTable) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    run(seed, Refusals::records, "capacity: 64, held: 60 packets");
}

// A sweep of several turns: reloads meet it half way.
TEST(IngressReloadProperty, NothingIsLostWhileReloadsOvertakeEachOther) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    run(seed, Refusals::none, "capacity: 8192, held: 8000 packets");
}

}  // namespace
}  // namespace surety
