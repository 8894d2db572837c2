// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include "tests/unit/lab/scenario/scenario_text.h"

namespace surety::lab {
namespace {

using namespace surety::literals;
using testing::ElementsAre;

const ScenarioText kText{
    .routers =
        "routers: {r: {ports: {a: {}, b: {shape: 1 Mbit/s, queues: q}}, queues: {q: [{name: x, limit: 9 "
        "packets}, "
        "{name: assured, limit: 10 packets}]}}}",
    .links = "links: [{between: [h, r.a], delay: 5 ms}, {between: [r.b, s], delay: 7 ms}]"};

Scenario with(const std::string& path, const std::string& value) {
  return clean(kText, {{path, value}});
}
std::vector<std::string> wrong(const std::string& path, const std::string& value) {
  return messages(kText, {{path, value}});
}
std::uint32_t limit(const Scenario& s, std::size_t class_index) {
  return s.routers.at(0).config.queues.at(0).classes.at(class_index).scheduling.queue.limit;
}

TEST(LabSettings, ReplaceValuesByTheirKeys) {
  EXPECT_EQ(with("duration", "3 s").duration, 3s);
  EXPECT_EQ(with("routers.r.ports.b.shape", "2 Mbit/s").routers.at(0).config.ports[1].shaper.rate, 2_Mbps);
}

TEST(LabSettings, FindItemsOfListsByNameOrPlace) {
  EXPECT_EQ(limit(with("routers.r.queues.q.assured.limit", "3 packets"), 1), 3u);
  EXPECT_EQ(limit(with("routers.r.queues.q.0.limit", "3 packets"), 0), 3u);
  EXPECT_EQ(with("senders.f.target", "400 kbit/s").senders.at(0).sender.target, 400_kbps);
  EXPECT_EQ(with("hosts.h", "{name: h, address: 192.0.2.1}").hosts.at(0).address,
            IpAddress::v4(192, 0, 2, 1));
  EXPECT_EQ(with("hosts.1", "{name: s, address: 192.0.2.1}").hosts.at(1).address,
            IpAddress::v4(192, 0, 2, 1));
}

TEST(LabSettings, FindLinksByTheirEnds) {
  for (const auto* path : {"links.h~r.a.delay", "links.r.a~h.delay", "links.0.delay"}) {
    const auto s = with(path, "1 ms");
    EXPECT_EQ(s.links.at(0).forth.delay, 1ms) << path;
    EXPECT_EQ(s.links.at(1).forth.delay, 7ms) << path;
  }
}

TEST(LabSettings, MakeWhatMapsDoNotHave) {
  const auto s = with("links.r.b~s.forth.rate", "3 Mbit/s");
  EXPECT_EQ(s.links.at(1).forth.rate, 3_Mbps);
  EXPECT_FALSE(s.links.at(1).back.rate);
  const ScenarioText null{.routers = "routers: {r: {ports: {a: {}, b: }}}"};
  EXPECT_EQ(clean(null, {{"routers.r.ports.b.mtu", "1400"}}).routers.at(0).config.ports[1].mtu, 1400);
  EXPECT_EQ(with("seed", "9").seed, 9u);
}

TEST(LabSettings, TakeWholeTreesOfYaml) {
  const auto s =
      with("routers.r.queues.q",
           "[{name: one, rio: {in: {min: 5, max: 6, pmax: 0.1}, out: {min: 1, max: 2, pmax: 1}}}]");
  EXPECT_EQ(s.routers.at(0).config.queues.at(0).classes.at(0).scheduling.queue.rio.value().out.max, 2);
  EXPECT_EQ(s.routers.at(0).config.queues.at(0).classes.size(), 1u);
}

TEST(LabSettings, NullTakesAway) {
  for (const auto* null : {"null", "~"}) {
    EXPECT_FALSE(with("routers.r.ports.b.shape", null).routers.at(0).config.ports[1].shaper.rate) << null;
    EXPECT_EQ(with("routers.r.queues.q.x", null).routers.at(0).config.queues.at(0).classes.size(), 1u)
        << null;
  }
  EXPECT_THAT(
      wrong("senders.f.windwo", "null"),
      ElementsAre("senders.f.windwo=null: warning: nothing is removed: there is no `windwo`; there are: "
                  "name, host, to, protocol"));
  EXPECT_THAT(
      wrong("routers.r.ports.a.mtu", "null"),
      ElementsAre(
          "routers.r.ports.a.mtu=null: warning: nothing is removed: there is no `mtu`; there are none"));
}

TEST(LabSettings, ApplyInTheirOrder) {
  EXPECT_EQ(clean(kText,
                  {{"senders.f.mark", "{rate: 1 Mbit/s, bucket: 9 kB}"}, {"senders.f.mark.rate", "2 Mbit/s"}})
                .senders.at(0)
                .sender.common()
                .mark->rate(),
            2_Mbps);
  EXPECT_EQ(clean(kText, {{"duration", "5 s"}, {"duration", "6 s"}}).duration, 6s);
}

TEST(LabSettings, ChangeOneUseOfWhatAnAliasShares) {
  const auto s = clean(
      {.links = "links: [{between: [h, r.a], forth: &x {delay: 5 ms}}, {between: [r.b, s], forth: *x}]"},
      {{"links.1.forth.delay", "9 ms"}});
  EXPECT_EQ(s.links.at(0).forth.delay, 5ms);
  EXPECT_EQ(s.links.at(1).forth.delay, 9ms);
}

TEST(LabSettings, NameThemselvesWhereTheirValuesAreWrong) {
  EXPECT_THAT(
      wrong("senders.f.target", "400 kbits"),
      ElementsAre("senders.f.target=400 kbits: `kbits` is not a unit of a rate; did you mean `kbit/s`?"));
  EXPECT_THAT(
      wrong("links.0", "{between: [h, r.a], delay: 5 ms, delay: 6 ms}"),
      ElementsAre(
          "links.0={between: [h, r.a], delay: 5 ms, delay: 6 ms}: `delay` is already there, at a setting"));
  const auto result = result_of(kText, {{"senders.f.target", "x"}});
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.diagnostics.at(0).format(),
            "--set senders.f.target=x: error: " + result.diagnostics[0].message + "\n");
}

TEST(LabSettings, ComeBeforeTheFileInTheirOrder) {
  ScenarioText text = kText;
  text.hosts = "hosts: [h, s, x y]";
  const auto all = messages(text, {{"seed", "x"}, {"duration", "y"}, {"seed.a", "1"}});
  ASSERT_EQ(all.size(), 4u);
  EXPECT_TRUE(all[0].starts_with("seed=x: ")) << all[0];
  EXPECT_TRUE(all[1].starts_with("duration=y: ")) << all[1];
  EXPECT_EQ(all[2], "seed.a=1: `seed` is `x`: it has no `a`");
  EXPECT_TRUE(all[3].starts_with("3:15 ")) << all[3];
}

TEST(LabSettings, SuggestWhereAnItemIsMissing) {
  EXPECT_THAT(wrong("senders.g.target", "1 Mbit/s"),
              ElementsAre("senders.g.target=1 Mbit/s: `senders` has no item `g`; there are: f"));
  EXPECT_THAT(wrong("links.h~r.delay", "1 ms"),
              ElementsAre("links.h~r.delay=1 ms: `links` has no item `h~r`; there are: h~r.a, r.b~s"));
  EXPECT_THAT(wrong("links.2.delay", "1 ms"),
              ElementsAre("links.2.delay=1 ms: `links` has no item `2`; there are: h~r.a, r.b~s"));
  EXPECT_THAT(wrong("hosts.h.times", "3"),
              ElementsAre("hosts.h.times=3: `hosts.h` is `h`: it has no `times`"));
  EXPECT_THAT(wrong("sender.f", "{}"),
              ElementsAre("sender.f={}: unknown key `sender` in the scenario; did you mean `senders`?"));
}

TEST(LabSettings, NeedAPathAndAValue) {
  for (const auto* path : {"", ".", "a.", ".a", "a..b"}) {
    const auto all = wrong(path, "1");
    ASSERT_EQ(all.size(), 1u) << path;
    EXPECT_TRUE(
        all[0].ends_with("a path is keys and names with dots between them, like `senders.long.target`"));
  }
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  EXPECT_EQ(wrong(deep, "1").size(), 1u);
  for (const auto* value : {"", " ", "# 3"}) {
    EXPECT_THAT(wrong("seed", value), ElementsAre(std::string("seed=") + value +
                                                  ": a setting needs a value; `null` removes the key"));
  }
  const auto broken = wrong("seed", "[");
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_TRUE(broken[0].starts_with("seed=[: not YAML: ")) << broken[0];
}

}  // namespace
}  // namespace surety::lab
