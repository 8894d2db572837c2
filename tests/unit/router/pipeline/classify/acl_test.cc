// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/classify/acl.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

// An entry says what it constrains.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace surety {
namespace {

using config::Match;
using testing::ElementsAre;
using Class = FlowKey::Class;

Prefix source(std::uint32_t i) {
  return {IpAddress::v4(10, 0, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)), 32};
}
AclInput from(std::uint32_t i) {
  AclInput in{};
  std::memcpy(in.source, source(i).address.data(), 4);
  return in;
}

// Entries of one source each. The first `combinations` of them differ in the fields that they constrain.
struct Entries {
  Entries(std::uint32_t count, std::uint32_t combinations) : matches(count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      Match& m = matches[i];
      m.source = {source(i)};
      entries.push_back({.match = &m, .number = i});
      if (i >= combinations) continue;
      if ((i & 1) != 0) m.destination = {source(7)};
      if ((i & 2) != 0) m.protocol = std::uint8_t{17};
      if ((i & 4) != 0) m.source_port = {9, 9};
      if ((i & 8) != 0) m.destination_port = {9, 9};
      if ((i & 16) != 0) m.dscp = std::uint8_t{1};
      if ((i & 32) != 0) m.vlan = std::uint16_t{1};
    }
  }
  std::vector<Match> matches;
  std::vector<AclEntry> entries;
};

TEST(Acl, WithoutEntriesOfItsFamilyItIsEmpty) {
  const Entries four(3, 1);
  for (const Acl& acl : {Acl(), Acl(four.entries, true, "test")}) {
    EXPECT_TRUE(acl.empty());
    std::array<std::uint32_t, 2> found{};
    acl.match(std::array<AclInput, 2>{}, found);
    EXPECT_THAT(found, ElementsAre(Acl::kNone, Acl::kNone));
  }
  EXPECT_FALSE(Acl(four.entries, false, "test").empty());
}

// A table of more takes a minute to build.
TEST(Acl, OnlyManyEntriesOfManyCombinationsAreDivided) {
  EXPECT_EQ(Acl(Entries(1'001, 32).entries, false, "test").tables(), 1u);
  EXPECT_EQ(Acl(Entries(1'000, 33).entries, false, "test").tables(), 1u);
  EXPECT_EQ(Acl(Entries(1'001, 33).entries, false, "test").tables(), 2u);
}

TEST(Acl, EachOfManyPacketsIsFoundInWhicheverTableHasIt) {
  const Entries e(1'010, 33);
  const Acl acl(e.entries, false, "test");
  ASSERT_EQ(acl.tables(), 2u);
  std::vector<AclInput> inputs;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < Acl::kMostAtOnce; ++i) {
    // First table, none, second table, in turn.
    const std::uint32_t n = i % 3 == 0 ? 500 + i : i % 3 == 1 ? 2'000 + i : 1'000 + i % 10;
    inputs.push_back(from(n));
    expected.push_back(n < 1'010 ? n : Acl::kNone);
  }
  std::vector<std::uint32_t> found(inputs.size());
  acl.match(inputs, found);
  EXPECT_EQ(found, expected);
}

ParsedPacket packet(Class c, std::uint8_t protocol) {
  ParsedPacket p;
  p.protocol = protocol;
  p.traffic_class = 46 << 2 | 3;
  p.vlan = 0x102;
  p.inner_vlan = 0x304;
  const std::uint8_t ports[4] = {0x12, 0x34, 0x56, 0x78};
  std::uint32_t low;
  std::memcpy(&low, ports, 4);
  p.key.rest = static_cast<std::uint64_t>(c) << 61 | low;
  return p;
}
template <class T>
std::vector<int> bytes(const T& value) {
  std::vector<int> all(sizeof value);
  for (std::size_t i = 0; i < sizeof value; ++i) all[i] = reinterpret_cast<const std::uint8_t*>(&value)[i];
  return all;
}

TEST(AclInput, IsInNetworkOrder) {
  const AclInput in = acl_input(packet(Class::tcp, 6));
  EXPECT_EQ(in.protocol, 6);
  EXPECT_EQ(in.dscp, 46);
  EXPECT_THAT(bytes(in.vlan), ElementsAre(1, 2));
  EXPECT_THAT(bytes(in.inner_vlan), ElementsAre(3, 4));
  EXPECT_THAT(bytes(in.source_port), ElementsAre(0x12, 0x34));
  EXPECT_THAT(bytes(in.destination_port), ElementsAre(0x56, 0x78));
}

// The key of other packets has something else in the place of the ports.
TEST(AclInput, HasPortsWhereTheKeyHasThem) {
  for (const Class c : {Class::tcp, Class::udp, Class::dccp, Class::sctp})
    EXPECT_EQ(acl_input(packet(c, 33)).ports, AclInput::known) << static_cast<int>(c);
  for (const Class c : {Class::fragment, Class::other}) {
    const AclInput in = acl_input(packet(c, 6));
    EXPECT_EQ(in.ports, AclInput::none) << static_cast<int>(c);
    EXPECT_EQ(in.source_port, 0);
    EXPECT_EQ(in.destination_port, 0);
  }
}

TEST(AclInput, HasTheAddressesOfItsFamily) {
  ParsedPacket p = packet(Class::tcp, 6);
  std::vector<int> numbers(32);
  std::iota(numbers.begin(), numbers.end(), 1);
  std::copy(numbers.begin(), numbers.end(), reinterpret_cast<std::uint8_t*>(p.key.address.data()));
  EXPECT_THAT(bytes(acl_input(p).source[0]), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(bytes(acl_input(p).destination[0]), ElementsAre(5, 6, 7, 8));
  p.v6 = true;
  EXPECT_EQ(bytes(acl_input(p).source), std::vector(numbers.begin(), numbers.begin() + 16));
  EXPECT_EQ(bytes(acl_input(p).destination), std::vector(numbers.begin() + 16, numbers.end()));
}

TEST(Acl, ARangeOfPortsConstrainsUnlessItHasAll) {
  EXPECT_FALSE(constrains_ports(Match{}));
  EXPECT_TRUE(constrains_ports({.source_port = {1, 65'535}}));
  EXPECT_TRUE(constrains_ports({.destination_port = {0, 65'534}}));
}

}  // namespace
}  // namespace surety
