// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include "tests/unit/lab/scenario/scenario_text.h"

namespace surety::lab {
namespace {

using namespace surety::literals;
using testing::ElementsAre;

const std::string kTwoRouters = "routers: {r: {ports: {a: {}, b: {}}}, q.1: {ports: {a: {}, b.2: {}}}}";

Scenario linked(const std::string& links, const std::string& hosts = "h, s") {
  return clean(
      {.hosts = "hosts: [" + hosts + "]", .links = "links: [" + links + "]", .senders = "senders: []"});
}
std::vector<std::string> wrong(const std::string& links, const std::string& hosts = "h, s") {
  return messages(
      {.hosts = "hosts: [" + hosts + "]", .links = "links: [" + links + "]", .senders = "senders: []"});
}

TEST(LabLinks, AreAlikeInBothDirectionsUnlessTheySayOtherwise) {
  const auto s = linked(
      "{between: [h, r.a], rate: 10 Mbit/s, delay: 5 ms, loss: 1 %, queue: 50 packets,"
      " back: {rate: 1 Mbit/s, delay: 0 ms, queue: 1 packet}}, {between: [r.b, s], forth: {loss: 0.5}}");
  const auto& both = s.links.at(0);
  EXPECT_EQ(both.forth.rate, 10_Mbps);
  EXPECT_EQ(both.forth.delay, 5ms);
  EXPECT_EQ(both.forth.loss, Probability(0.01));
  EXPECT_EQ(both.forth.queue, 50u);
  EXPECT_EQ(both.back.rate, 1_Mbps);
  EXPECT_EQ(both.back.delay, 0ms);
  EXPECT_EQ(both.back.loss, Probability(0.01));
  EXPECT_EQ(both.back.queue, 1u);
  const auto& plain = s.links.at(1);
  EXPECT_FALSE(plain.forth.rate);
  EXPECT_EQ(plain.forth.delay, 0ms);
  EXPECT_EQ(plain.forth.loss, Probability(0.5));
  EXPECT_EQ(plain.back.loss, Probability(0));
  EXPECT_FALSE(plain.back.queue);
}

TEST(LabLinks, OfReplicasAreOneEachWithGrowingDelays) {
  const auto s =
      linked("{between: [r.a, h], delay: 5 ms, delay_step: 10 ms, back: {delay: 1 ms}}, {between: [r.b, s]}",
             "{name: h, times: 3}, s");
  ASSERT_EQ(s.links.size(), 4u);
  EXPECT_EQ(s.links[2].name, "r.a h#3");
  EXPECT_EQ(s.links[2].a, (NodePort{true, 0, 0}));
  EXPECT_EQ(s.links[2].b, (NodePort{false, 2, 0}));
  EXPECT_EQ(s.links[2].forth.delay, 25ms);
  EXPECT_EQ(s.links[2].back.delay, 21ms);
  EXPECT_EQ(s.links[3].name, "r.b s");
}

TEST(LabLinks, OfReplicasOnBothSidesGoOneToOne) {
  const auto s = clean({.routers = "",
                        .hosts = "hosts: [{name: h, times: 2}, {name: s, times: 2}]",
                        .links = "links: [{between: [h, s]}]",
                        .senders = "senders: []"});
  ASSERT_EQ(s.links.size(), 2u);
  EXPECT_EQ(s.links[1].name, "h#2 s#2");
  EXPECT_THAT(wrong("{between: [h, s]}", "{name: h, times: 2}, {name: s, times: 3}"),
              ElementsAre("4:19 2 `h` and 3 `s`: they cannot be linked one to one"));
}

TEST(LabLinks, OfOneReplicaAlone) {
  const auto s = linked("{between: [h#2, r.a]}, {between: [h#1, r.b]}", "{name: h, times: 2}");
  EXPECT_EQ(s.links.at(0).name, "h#2 r.a");
  EXPECT_EQ(s.links.at(0).a.node, 1u);
  EXPECT_THAT(wrong("{between: [h#3, r.a]}, {between: [h, r.b]}", "{name: h, times: 2}"),
              ElementsAre("4:20 there is no host or port `h#3`; there are: h, r.a, r.b"));
}

TEST(LabLinks, NamesMayHaveDots) {
  const auto s =
      clean({.routers = kTwoRouters,
             .hosts = "hosts: [h.a, s]",
             .links = "links: [{between: [h.a, r.a]}, {between: [r.b, q.1.b.2]}, {between: [q.1.a, s]}]",
             .senders = "senders: []"});
  EXPECT_EQ(s.links.at(1).b, (NodePort{true, 1, 1}));
  EXPECT_EQ(s.links.at(0).a, (NodePort{false, 0, 0}));
}

TEST(LabLinks, HostsShareAPortButRoutersDoNot) {
  EXPECT_EQ(linked("{between: [h, r.a]}, {between: [s, r.a]}, {between: [t, r.b]}", "h, s, t").links.size(),
            3u);
  const auto with = [](const std::string& links) {
    return messages({.routers = kTwoRouters, .links = "links: [" + links + "]", .senders = "senders: []"});
  };
  EXPECT_THAT(with("{between: [r.a, q.1.a]}, {between: [h, r.a]}, {between: [s, q.1.b.2]}"),
              ElementsAre("4:48 `r.a` has a link already, to `q.1.a` at line 4; only hosts share a port"));
  EXPECT_THAT(with("{between: [h, r.a]}, {between: [r.a, q.1.a]}, {between: [s, q.1.b.2]}"),
              ElementsAre("4:41 `r.a` has a link already, to `h` at line 4; only hosts share a port"));
}

const std::string kTagged =
    "routers: {r: {ports: {a: {}, b: {}}, interfaces: {acme: {port: a, vlan: 107}, homes: {port: a, vlan: "
    "200, "
    "inner_vlan: 5-7, addresses: [100.64.0.1/24]}}}}";

TEST(LabLinks, EndAtInterfacesWithTags) {
  const auto s = clean({.routers = kTagged,
                        .hosts = "hosts: [h, {name: m, times: 2}, n, s]",
                        .links = "links: [{between: [h, r.acme]}, {between: [m, r.homes], delay_step: 1 ms}, "
                                 "{between: [r.homes.7, n]}, {between: [r.b, s]}]",
                        .senders = "senders: []"});
  ASSERT_EQ(s.links.size(), 5u);
  EXPECT_EQ(s.links[0].b, (NodePort{true, 0, 0, NodePort::Tagged{0, 0}}));
  EXPECT_EQ(s.links[1].name, "m#1 r.homes.5");
  EXPECT_EQ(s.links[1].b, (NodePort{true, 0, 0, NodePort::Tagged{1, 0}}));
  EXPECT_EQ(s.links[2].name, "m#2 r.homes.6");
  EXPECT_EQ(s.links[2].b, (NodePort{true, 0, 0, NodePort::Tagged{1, 1}}));
  EXPECT_EQ(s.links[3].name, "r.homes.7 n");
  EXPECT_EQ(s.links[3].a, (NodePort{true, 0, 0, NodePort::Tagged{1, 2}}));
  EXPECT_EQ(s.links[4].a, (NodePort{true, 0, 1}));
}

TEST(LabLinks, AtInterfacesWithTagsAreHosts) {
  const auto with = [](const std::string& links, const std::string& hosts = "h, s") {
    return messages({.routers = kTagged.substr(0, kTagged.size() - 1) + ", q: {ports: {a: {}}}}",
                     .hosts = "hosts: [" + hosts + "]",
                     .links = "links: [" + links + "]",
                     .senders = "senders: []"});
  };
  EXPECT_THAT(with("{between: [r.acme, q.a]}, {between: [h, r.b]}, {between: [s, r.b]}"),
              ElementsAre("4:20 `r.acme` has tags: only hosts are behind it"));
  EXPECT_THAT(with("{between: [h, r.homes]}, {between: [s, r.b]}"),
              ElementsAre("4:23 `r.homes` is 3 interfaces: link hosts that have `times`, or say which, "
                          "by its tag, like `r.homes.7`"));
  EXPECT_THAT(with("{between: [h, r.homes]}, {between: [s, r.b]}", "{name: h, times: 4}, s"),
              ElementsAre("4:23 4 `h` and 3 interfaces `r.homes`: each host has one of its own"));
  EXPECT_THAT(with("{between: [h, r.homes.8]}, {between: [s, r.b]}"),
              ElementsAre("4:23 there is no port `r.homes.8`; did you mean `r.homes`?"));
}

TEST(LabLinks, AHostHasExactlyOne) {
  EXPECT_THAT(wrong("{between: [h, r.a]}, {between: [r.b, s]}, {between: [s, r.a]}"),
              ElementsAre("4:62 a host has one link, and `s` has its at line 4"));
  EXPECT_THAT(wrong("{between: [h, r.a]}"), ElementsAre("3:12 host `s` has no link"));
  EXPECT_THAT(wrong("{between: [h, s]}", "{name: h, times: 2}, s"),
              ElementsAre("4:23 a host has one link, and `s` has its at line 4"));
}

TEST(LabLinks, LeadFromOneEndToAnother) {
  EXPECT_THAT(wrong("{between: [h, r.a]}, {between: [s, r.a]}, {between: [r.b, r.b]}"),
              ElementsAre("4:67 a link from `r.b` to itself"));
  EXPECT_THAT(wrong("{between: [h, h]}, {between: [s, r.a]}"), ElementsAre("4:23 a link from `h` to itself"));
  EXPECT_THAT(wrong("{between: [h]}, {between: [s, r.a]}, {between: [h, r.b]}"),
              ElementsAre("4:19 a link is between two: `[h1, edge.a]`"));
  EXPECT_THAT(wrong("{rate: 1 Mbit/s}, {between: [h, r.a]}, {between: [s, r.b]}"),
              ElementsAre("4:9 a link needs `between`"));
}

TEST(LabLinks, SayWhatThereIsWhereAnEndIsUnknown) {
  EXPECT_THAT(wrong("{between: [h, r.c]}, {between: [r.b, s]}"),
              ElementsAre("4:23 there is no port `r.c`; did you mean `r.a`?"));
  EXPECT_THAT(wrong("{between: [h, r]}, {between: [r.b, s]}"),
              ElementsAre("4:23 `r` is a router: say which port, like `r.a`"));
  EXPECT_THAT(wrong("{between: [server, r.a]}, {between: [r.b, client]}", "client, severs"),
              ElementsAre("3:17 host `severs` has no link",
                          "4:20 there is no host or port `server`; did you mean `severs`?"));
}

TEST(LabLinks, APortWithoutOneIsAWarning) {
  EXPECT_THAT(wrong("{between: [h, r.a]}, {between: [s, r.a]}"),
              ElementsAre("2:30 warning: port `r.b` has no link"));
}

TEST(LabLinks, ReportWhatCannotBe) {
  EXPECT_THAT(wrong("{between: [h, r.a], delay_step: 1 ms}, {between: [r.b, s]}"),
              ElementsAre("4:41 `delay_step` goes with a host that has `times`"));
  EXPECT_THAT(wrong("{between: [h, r.a], queue: 5 packets}, {between: [r.b, s]}"),
              ElementsAre("4:9 warning: `queue` does nothing without `rate`: nothing ever waits"));
  EXPECT_THAT(wrong("{between: [h, r.a], delay: 2 h}, {between: [r.b, s], loss: 2}"),
              ElementsAre("4:36 a delay is at most 1 h",
                          "4:68 `2` is too large; a fraction is at most 1; did you mean `2 %`?"));
  EXPECT_THAT(wrong("{between: [h, r.a], forth: {dealy: 2 h}}, {between: [r.b, s]}"),
              ElementsAre("4:37 unknown key `dealy` in `forth` of a link; did you mean `delay`?"));
}

}  // namespace
}  // namespace surety::lab
