// SPDX-License-Identifier: BSD-3-Clause
// A snapshot that follows another one: what keeps its place, and what does not.
#include <gmock/gmock.h>

#include <set>

#include "router/pipeline/snapshot.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using test::configured;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace literals;

const std::string kGold =
    "  gold: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: AF12}}\n";
const std::string kFasterGold =
    "  gold: {conditioner: token-bucket, rate: 9 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: AF12}}\n";
const std::string kPolicedGold =
    "  gold: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11}}\n";
const std::string kVoice = "  voice: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: EF}}\n";
const std::string kPlain = "  plain: {conditioner: none}\n";
const std::string kRfc2698 =
    "  two: {conditioner: trtcm, rate: 1 Mbit/s, peak: 2 Mbit/s, committed_burst: 3 kB, peak_burst: 3 kB, "
    "mark: {in: AF11, out: AF12}}\n";
std::string csa(const std::string& name, const std::string& alpha = "max: 0.4",
                const std::string& out = "BE") {
  return "  " + name + ": {conditioner: csa, rate: 1 Mbit/s, in_bucket: 15 kB, out_bucket: 1500 B, alpha: {" +
         alpha + "}, mark: {in: AF11, out: " + out + "}}\n";
}
std::string yaml(const std::string& services, const std::string& rules = "") {
  return "version: 1\n"
         "ports:\n"
         "  lan0: {addresses: [10.1.0.254/24]}\n"
         "  wan0: {addresses: [10.2.0.254/24], trust: core, queues: uplink}\n"
         "queues:\n"
         "  uplink:\n"
         "    - {name: voice, dscp: [EF, CS5]}\n"
         "    - {name: assured, dscp: {in: [AF11], out: [AF12, BE]}}\n" +
         (services.empty() ? "" : "services:\n" + services) + (rules.empty() ? "" : "classify:\n" + rules);
}

// "gold voice - unclassified trusted": by place; retired ones in parentheses.
std::string places(const Snapshot& s) {
  std::string all;
  for (const auto& p : s.services)
    all += (all.empty() ? "" : " ") + (p.retired ? "(" + p.name + ")" : p.name);
  return all;
}
std::string domains(const Snapshot& s) {
  std::string all;
  for (const auto& d : s.domains) all += (all.empty() ? "" : " ") + (d.retired ? "(" + d.name + ")" : d.name);
  return all;
}
TEST(SnapshotReload, ServicesKeepTheirPlaces) {
  struct Case {
    const char* what;
    std::string then, places;
  };
  const Case cases[] = {
      {"nothing", kGold + kVoice + kPlain, "gold voice plain unclassified trusted"},
      {"another order", kPlain + kVoice + kGold, "gold voice plain unclassified trusted"},
      {"parameters", kFasterGold + kVoice + kPlain, "gold voice plain unclassified trusted"},
      {"one inserted", kRfc2698 + kGold + kVoice + kPlain, "gold voice plain unclassified trusted two"},
      {"one removed", kGold + kPlain, "gold (voice) plain unclassified trusted"},
      {"all removed", "", "(gold) (voice) (plain) unclassified trusted"},
      {"another name",
       kGold + "  talk: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: EF}}\n" + kPlain,
       "gold (voice) plain unclassified trusted talk"},
      {"another kind", kPolicedGold + kVoice + kPlain, "(gold) voice plain unclassified trusted gold"},
  };
  for (const Case& c : cases) {
    const Snapshot before(configured(yaml(kGold + kVoice + kPlain)));
    const Snapshot s(configured(yaml(c.then)), before);
    EXPECT_EQ(places(s), c.places) << c.what;
    EXPECT_EQ(s.services[s.unmatched(0)].name, "unclassified") << c.what;
    EXPECT_EQ(s.services[s.unmatched(1)].name, "trusted") << c.what;
    EXPECT_EQ(s.best_effort(), before.best_effort()) << c.what;
    ASSERT_EQ(s.service_of.size(), s.config.services.size()) << c.what;
    for (std::size_t i = 0; i < s.service_of.size(); ++i) {
      EXPECT_EQ(s.services[s.service_of[i]].name, s.config.services[i].name) << c.what;
      EXPECT_FALSE(s.services[s.service_of[i]].retired) << c.what;
    }
  }
}

// Of an empty bucket, in bytes after a millisecond.
int refill(const std::optional<Meter>& meter) {
  Meter::State state;
  meter->reset(state);
  const auto drain = [&](Time now) {
    int bytes = 0;
    while (meter->check(state, now, 1) == Color::green) ++bytes;
    return bytes;
  };
  drain(Time{});
  return drain(Time{} + std::chrono::milliseconds(1));
}

TEST(SnapshotReload, KeptServicesHaveTheNewParametersRetiredOnesTheirOwn) {
  const Snapshot before(configured(yaml(kGold + kVoice)));
  const Snapshot s(configured(yaml(kFasterGold)), before);
  EXPECT_EQ(refill(s.services[0].meter), 1125);
  EXPECT_EQ(s.services[0].committed, 9_Mbps);
  EXPECT_EQ(refill(s.services[1].meter), 125);
  EXPECT_EQ(s.services[1].mark_in, 46);
}

TEST(SnapshotReload, AServiceThatComesBackHasItsPlaceAgain) {
  const Snapshot first(configured(yaml(kGold + kVoice)));
  const Snapshot second(configured(yaml(kVoice)), first);
  const Snapshot third(configured(yaml(kVoice + kPlain)), second);
  const Snapshot fourth(configured(yaml(kVoice + kFasterGold)), third);
  EXPECT_EQ(places(fourth), "gold voice unclassified trusted (plain)");
  EXPECT_EQ(refill(fourth.services[0].meter), 1125);
  const Snapshot fifth(configured(yaml(kPolicedGold)), fourth), sixth(configured(yaml(kGold)), fifth);
  EXPECT_EQ(places(fifth), "(gold) (voice) unclassified trusted (plain) gold");
  EXPECT_EQ(places(sixth), "gold (voice) unclassified trusted (plain) (gold)");
}

// Their states differ.
TEST(SnapshotReload, MetersOfDifferentStandardsAreDifferentKinds) {
  std::string rfc4115 = kRfc2698;
  rfc4115.replace(rfc4115.find("trtcm"), 5, "trtcm, rfc4115: true");
  const Snapshot before(configured(yaml(kRfc2698)));
  EXPECT_EQ(places(Snapshot(configured(yaml(kRfc2698)), before)), "two unclassified trusted");
  EXPECT_EQ(places(Snapshot(configured(yaml(rfc4115)), before)), "(two) unclassified trusted two");
}

TEST(SnapshotReload, RulesGiveTheServicesOfTheirNames) {
  const std::string rules =
      "  - {match: {port: lan0, destination_port: 1}, service: voice, per: flow}\n"
      "  - {match: {port: lan0}, service: plain}\n";
  const Snapshot before(configured(yaml(kGold + kVoice)));
  const Snapshot s(configured(yaml(kPlain + kVoice, rules)), before);
  EXPECT_EQ(s.service_of_rule(0), 1);
  EXPECT_EQ(s.service_of_rule(1), 4);
}

TEST(SnapshotReload, DomainsKeepTheirPlaces) {
  struct Case {
    const char* what;
    std::string then, domains;
  };
  const Case cases[] = {
      {"nothing", csa("a") + csa("b", "max: 0.2"),
       "lan0/default/a lan0/default/b wan0/assured/a wan0/assured/b"},
      {"another order", csa("b", "max: 0.2") + csa("a"),
       "lan0/default/a lan0/default/b wan0/assured/a wan0/assured/b"},
      {"one gone", csa("b", "max: 0.2"), "(lan0/default/a) lan0/default (wan0/assured/a) wan0/assured"},
      {"all gone", kGold, "(lan0/default/a) (lan0/default/b) (wan0/assured/a) (wan0/assured/b)"},
      {"one joins the other's", csa("a") + csa("b"),
       "lan0/default (lan0/default/b) wan0/assured (wan0/assured/b)"},
      {"another name", csa("x") + csa("b", "max: 0.2"),
       "lan0/default/x lan0/default/b wan0/assured/x wan0/assured/b"},
      {"another alpha", csa("a", "max: 0.3") + csa("b", "max: 0.2"),
       "(lan0/default/a) lan0/default/b (wan0/assured/a) wan0/assured/b lan0/default/a wan0/assured/a"},
      {"another class", csa("a", "max: 0.4", "CS5") + csa("b", "max: 0.2"),
       "lan0/default/a lan0/default/b (wan0/assured/a) wan0/assured wan0/voice"},
  };
  for (const Case& c : cases) {
    const Snapshot before(configured(yaml(csa("a") + csa("b", "max: 0.2"))));
    const Snapshot s(configured(yaml(c.then)), before);
    EXPECT_EQ(domains(s), c.domains) << c.what;
    EXPECT_EQ(s.domain_capacity, 4 + kSpareDomains) << c.what;
    std::set<std::string> names;
    for (const auto& d : s.domains) EXPECT_TRUE(d.retired || names.insert(d.name).second) << c.what;
    for (std::size_t d = 0; d < before.domains.size(); ++d) {
      EXPECT_EQ(s.domains[d].port, before.domains[d].port) << c.what;
      EXPECT_EQ(s.domains[d].class_index, before.domains[d].class_index) << c.what;
      EXPECT_EQ(s.domains[d].params, before.domains[d].params) << c.what;
    }
  }
}

// However often something is sold: the flows there are go on by the same alpha.
TEST(SnapshotReload, WithAnAutomaticMaximumDomainsStayAndFollowWhatIsSold) {
  const auto sold = [](int contracts) {
    std::string text = yaml(
        csa("a", "max: auto") + csa("b", "max: 0.4"),
        "  - {match: {port: lan0}, service: a, per: source, contracts: " + std::to_string(contracts) + "}\n");
    return configured(text.replace(text.find("trust: core"), 11, "trust: core, shape: 200 Mbit/s"));
  };
  auto s = std::make_unique<Snapshot>(sold(100));
  const std::uint16_t domain = s->domain(1, 0);
  EXPECT_EQ(s->domains[domain].params.max, Ratio::of(1));
  for (int contracts = 101; contracts <= 190; ++contracts)
    s = std::make_unique<Snapshot>(sold(contracts), *s);
  EXPECT_EQ(domains(*s), "lan0/default/a lan0/default/b wan0/assured/a wan0/assured/b");
  EXPECT_EQ(s->domain(1, 0), domain);
  EXPECT_EQ(s->domains[domain].params.max, Ratio::millionths(52'632)) << "200 / 190 - 1";
  EXPECT_EQ(s->domains[s->domain(1, 1)].params.max, Ratio::of(0.4));
}

TEST(SnapshotReload, EachServiceHasTheDomainOfItsParametersAndARetiredOneWhatItHad) {
  const Snapshot before(configured(yaml(csa("a") + csa("b", "max: 0.2"))));
  const Snapshot s(configured(yaml(csa("c", "max: 0.3") + csa("b", "max: 0.4"))), before);
  for (PortIndex port = 0; port < 2; ++port) {
    EXPECT_EQ(s.domain(port, 0), before.domain(port, 0)) << "a, retired";
    EXPECT_EQ(s.domain(port, 1), before.domain(port, 0)) << "b, as a was";
    EXPECT_EQ(s.domains[s.domain(port, 4)].params.max, Ratio::of(0.3));
    EXPECT_EQ(s.domains[s.domain(port, 4)].port, port);
    EXPECT_EQ(s.domain(port, s.best_effort()), kNoDomain);
  }
}

TEST(SnapshotReload, DomainsThatComeBackTakeNoRoom) {
  auto s = std::make_unique<Snapshot>(configured(yaml(csa("a"))));
  for (int i = 0; i < 200; ++i)
    s = std::make_unique<Snapshot>(configured(yaml(csa("a", i % 2 == 0 ? "max: 0.2" : "max: 0.4"))), *s);
  EXPECT_EQ(s->domains.size(), 4u);
}

TEST(SnapshotReload, WhereThereIsNoRoomForMoreARetiredDomainGivesItsPlace) {
  auto s = std::make_unique<Snapshot>(configured(yaml(csa("a"))));
  const auto alpha = [](int i) { return "max: 0." + std::to_string(1000 + i); };
  for (int i = 0; i < 300; ++i) {
    const std::uint16_t kept = i == 0 ? kNoDomain : s->domain(1, s->service_of[1]);
    // b, behind a, is as it was: nobody new takes its place.
    s = std::make_unique<Snapshot>(configured(yaml(csa("a", alpha(i)) + csa("b", "max: 0.5"))), *s);
    EXPECT_LE(s->domains.size(), s->domain_capacity);
    if (i > 0) {
      EXPECT_EQ(s->domain(1, s->service_of[1]), kept);
    }
    for (PortIndex port = 0; port < 2; ++port) {
      const CsaDomain& d = s->domains[s->domain(port, s->service_of[0])];
      EXPECT_EQ(d.port, port);
      EXPECT_FALSE(d.retired);
    }
  }
}

TEST(SnapshotReload, MoreDomainsThanThereIsRoomForAreRefused) {
  const Snapshot before(configured(yaml(csa("a"))));
  std::string many;
  for (std::size_t i = 0; i <= before.domain_capacity / 2; ++i)  // two each: one per port
    many += csa("s" + std::to_string(i), "max: 0." + std::to_string(1000 + i));
  try {
    const Snapshot more(configured(yaml(many)), before);
    FAIL() << "there is no room";
  } catch (const std::runtime_error& e) {
    // 68 for 66 places, and the retired one of lan0, where there was room still, keeps its own.
    EXPECT_THAT(e.what(), HasSubstr("this configuration needs 3 more alphas"));
  }
}

std::vector<std::uint32_t> ids(const Snapshot& s) {
  std::vector<std::uint32_t> all;
  for (std::size_t r = 0; r < s.config.rules.size(); ++r)
    all.push_back(s.classifier.id(static_cast<std::uint16_t>(r)));
  return all;
}
std::string rule(const std::string& match, const std::string& per = "source",
                 const std::string& service = "gold") {
  return "  - {match: {port: lan0" + match + "}, service: " + service + ", per: " + per + "}\n";
}

TEST(SnapshotReload, RulesKeepTheirIds) {
  const std::string a = rule(", destination_port: 1"), b = rule(", destination_port: 2"),
                    c = rule(", source: 10.1.0.0/24", "prefix, prefix: {ipv4: 28}");
  struct Case {
    const char* what;
    std::string then;
    std::vector<std::uint32_t> ids;
  };
  const Case cases[] = {
      {"nothing", a + b + c, {0, 1, 2}},
      {"another order", c + a + b, {2, 0, 1}},
      {"one inserted", rule(", vlan: 5") + a + b + c, {3, 0, 1, 2}},
      {"one removed", b + c, {1, 2}},
      {"another service", a + rule(", destination_port: 2", "source", "voice") + c, {0, 1, 2}},
      {"another match", rule(", destination_port: 3") + b + c, {3, 1, 2}},
      {"another per", rule(", destination_port: 1", "destination") + b + c, {3, 1, 2}},
      {"another prefix length",
       a + b + rule(", source: 10.1.0.0/24", "prefix, prefix: {ipv4: 29}"),
       {0, 1, 3}},
      {"one twice", a + a + b + c, {0, 3, 1, 2}},
  };
  for (const Case& x : cases) {
    const Snapshot before(configured(yaml(kGold + kVoice, a + b + c)));
    EXPECT_EQ(ids(Snapshot(configured(yaml(kGold + kVoice, x.then)), before)), x.ids) << x.what;
  }
}

// A contract of the rule that had it may be in the table still.
TEST(SnapshotReload, AnIdIsNeverUsedAgain) {
  const Snapshot first(configured(yaml(kGold, rule(", vlan: 1") + rule(", vlan: 2"))));
  const Snapshot second(configured(yaml(kGold, rule(", vlan: 1"))), first);
  const Snapshot third(configured(yaml(kGold, rule(", vlan: 2") + rule(", vlan: 1") + rule(", vlan: 3"))),
                       second);
  EXPECT_THAT(ids(third), ElementsAre(2, 0, 3));
}

TEST(SnapshotReload, ContractsOfAKeptRuleKeepTheirKeys) {
  const std::string a = rule(""), b = rule(", destination_port: 5001");
  const Snapshot before(configured(yaml(kGold, a))), after(configured(yaml(kGold, b + a)), before);
  ParsedPacket p;
  const ParseContext context{test::port_mac(0), 0, false, false};
  ASSERT_TRUE(parse(test::udp_frame(), context, p).forwards());
  EXPECT_EQ(before.classifier.contract_key(0, p), after.classifier.contract_key(1, p));
  EXPECT_NE(before.classifier.contract_key(0, p), after.classifier.contract_key(0, p));
}

}  // namespace
}  // namespace surety
