// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include "tests/unit/lab/scenario/scenario_text.h"

namespace surety::lab {
namespace {

using testing::ElementsAre;

std::string at(const HostNode& h) {
  return h.name + " " + to_string(h.address);
}
// The hosts of a list, all linked to one port.
std::vector<std::string> hosts(const std::string& list, const std::string& links) {
  const auto s = clean({.routers = "routers: {r: {ports: {a: {addresses: 10.0.0.3/24}}}}",
                        .hosts = "hosts: [" + list + "]",
                        .links = "links: [" + links + "]",
                        .senders = "senders: []"});
  std::vector<std::string> out;
  for (const auto& h : s.hosts) out.push_back(at(h));
  return out;
}
std::vector<std::string> wrong(const std::string& list) {
  return messages({.routers = "routers: {r: {ports: {a: {addresses: 10.9.0.3/24}}}}",
                   .hosts = "hosts: " + list,
                   .links = "links: [{between: [h, r.a]}]",
                   .senders = "senders: []"});
}

TEST(LabHosts, GetAddressesByTheirPlaceThatNobodyElseHas) {
  EXPECT_THAT(hosts("x, {name: y, address: 10.0.0.5}, z, u, v, w",
                    "{between: [x, r.a]}, {between: [y, r.a]}, {between: [z, r.a]}, {between: [u, r.a]}, "
                    "{between: [v, r.a]}, {between: [w, r.a]}"),
              ElementsAre("x 10.0.0.1", "y 10.0.0.5", "z 10.0.0.4", "u 10.0.0.6", "v 10.0.0.7", "w 10.0.0.8"))
      << "10.0.0.3 is the router's";
}

TEST(LabHosts, ReplicasAreNumberedFromOne) {
  EXPECT_THAT(hosts("{name: h, times: 2}, {name: g, times: 1}", "{between: [h, r.a]}, {between: [g, r.a]}"),
              ElementsAre("h#1 10.0.0.1", "h#2 10.0.0.2", "g#1 10.0.0.4"));
}

TEST(LabHosts, ReplicasHaveConsecutiveAddresses) {
  EXPECT_THAT(hosts("{name: h, times: 3, address: 192.0.2.254}", "{between: [h, r.a]}"),
              ElementsAre("h#1 192.0.2.254", "h#2 192.0.2.255", "h#3 192.0.3.0"));
  EXPECT_THAT(hosts("{name: h, times: 2, address: '2001:db8::ffff'}", "{between: [h, r.a]}"),
              ElementsAre("h#1 2001:db8::ffff", "h#2 2001:db8::1:0"));
}

TEST(LabHosts, MadeUpAddressesSkipWhatLooksLikeANetworkOrABroadcast) {
  const auto all = hosts("{name: h, times: 600}", "{between: [h, r.a]}");
  ASSERT_EQ(all.size(), 600u);
  EXPECT_EQ(all[252], "h#253 10.0.0.254");
  EXPECT_EQ(all[253], "h#254 10.0.1.1");
  EXPECT_EQ(all[599], "h#600 10.0.2.93");
}

TEST(LabHosts, HaveNamesOfTheirOwn) {
  EXPECT_THAT(wrong("[h, r, h]"),
              ElementsAre("3:12 `r` is a router already", "3:15 there is already a host `h`"));
  EXPECT_THAT(wrong("[h, a b]"),
              ElementsAre("3:12 `a b` cannot name a host: up to 63 letters, digits, `-`, `_` and `.`"));
  EXPECT_THAT(wrong("[h, h#2]"),
              ElementsAre("3:12 `h#2` cannot name a host: up to 63 letters, digits, `-`, `_` and `.`"));
  EXPECT_THAT(wrong("[h, {times: 2}]"), ElementsAre("3:12 a host needs `name`"));
}

TEST(LabHosts, HaveAddressesOfTheirOwn) {
  EXPECT_THAT(wrong("[{name: h, address: 10.9.0.3}]"),
              ElementsAre("3:28 `10.9.0.3` is the address of port `r.a`"));
  EXPECT_THAT(wrong("[{name: h, times: 3, address: 10.9.0.1}]"),
              ElementsAre("3:38 `10.9.0.3` is the address of port `r.a`"));
  EXPECT_THAT(wrong("[{name: h, address: 127.0.0.1}]"),
              ElementsAre("3:28 `127.0.0.1` cannot be the address of a host"));
  EXPECT_THAT(wrong("[{name: h, times: 2, address: 223.255.255.255}]"),
              ElementsAre("3:38 `224.0.0.0` cannot be the address of a host"));
  EXPECT_THAT(wrong("[{name: h, times: 2, address: 10.1.0.1}, {name: g, address: 10.1.0.2}]"),
              ElementsAre("3:56 host `g` has no link", "3:68 `10.1.0.2` is the address of host `h#2`"));
}

TEST(LabHosts, AreAList) {
  EXPECT_THAT(wrong("{h: }"),
              ElementsAre("3:8 expected a list of hosts, like `[h1, {name: customer, times: 12}]`",
                          "4:20 there is no host or port `h`; there are: r.a"));
  EXPECT_THAT(wrong("[{name: h, times: 10001}]"),
              ElementsAre("3:26 `10001` is not a whole number from 1 to 10000"));
}

TEST(LabHosts, AreNotMoreThanAddressesAndMemoryHold) {
  std::string list = "[h";
  for (int i = 0; i < 11; ++i) list += ", {name: n" + std::to_string(i) + ", times: 10000}";
  const auto all = wrong(list + "]");
  EXPECT_THAT(all, testing::Contains(testing::EndsWith("too many hosts: at most 100000")));
}

}  // namespace
}  // namespace surety::lab
