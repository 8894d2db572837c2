// SPDX-License-Identifier: BSD-3-Clause
// Rules of interfaces when others come and go: what a rule names is the interface, wherever it stands.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "router/pipeline/classify/classifier.h"

namespace surety {
namespace {

// One rule for each interface of `ruled`, in that order.
config::Config with(const std::vector<std::string>& interfaces, const std::vector<std::string>& ruled) {
  config::Config c;
  c.ports.resize(1);
  c.ports[0].name = "port";
  std::uint16_t vlan = 100;
  for (const auto& name : interfaces) {
    config::Interface i;
    i.name = name;
    i.vlan = vlan++;
    c.interfaces.push_back(i);
  }
  for (const auto& name : ruled)
    for (std::size_t i = 0; i < interfaces.size(); ++i)
      if (interfaces[i] == name) c.rules.emplace_back().match.interface = i;
  return c;
}

// A configuration's interfaces and rules, made of those before.
struct Step {
  config::Config config;
  std::shared_ptr<const Interfaces> interfaces;
  Classifier classifier;

  explicit Step(config::Config c, const Step* before = nullptr)
      : config(std::move(c)),
        interfaces(std::make_shared<const Interfaces>(
            config, before == nullptr ? nullptr : before->interfaces.get())),
        classifier(config, before == nullptr ? nullptr : &before->classifier, interfaces) {}

  // The rule that a packet by this interface matches; none: -1.
  int rule(const std::string& name) const {
    for (std::size_t d = 0; d < config.interfaces.size(); ++d) {
      if (config.interfaces[d].name != name) continue;
      ParsedPacket p;
      p.interface = interfaces->of_definition(d);
      const auto found = classifier.match(p, 0);
      return found ? *found : -1;
    }
    ADD_FAILURE() << "there is no interface " << name;
    return -2;
  }
};

TEST(ClassifierReload, RulesFollowTheirInterfacesPastANewOne) {
  const Step before(with({"a", "b", "c"}, {"a", "c"}));
  EXPECT_EQ(before.rule("a"), 0);
  EXPECT_EQ(before.rule("b"), -1);
  EXPECT_EQ(before.rule("c"), 1);
  const Step more(with({"new", "a", "b", "c"}, {"a", "c"}), &before);
  EXPECT_EQ(more.rule("new"), -1);
  EXPECT_EQ(more.rule("a"), 0);
  EXPECT_EQ(more.rule("b"), -1);
  EXPECT_EQ(more.rule("c"), 1);
  EXPECT_EQ(more.classifier.id(0), before.classifier.id(0));
  EXPECT_EQ(more.classifier.id(1), before.classifier.id(1));
}

TEST(ClassifierReload, RulesFollowTheirInterfacesPastOneThatGoes) {
  const Step before(with({"a", "b", "c"}, {"c"}));
  const Step less(with({"b", "c"}, {"c"}), &before);
  EXPECT_EQ(less.rule("b"), -1);
  EXPECT_EQ(less.rule("c"), 0);
}

// The same words, and an interface of the same name that is another one: its place is not free yet.
TEST(ClassifierReload, ARuleMeansTheInterfaceThatHasTheNameNow) {
  const Step before(with({"a", "b"}, {"a"}));
  config::Config other = with({"a", "b"}, {"a"});
  other.interfaces[0].first_inner = 5;
  other.interfaces[0].last_inner = 5;
  const Step after(other, &before);
  ASSERT_NE(after.interfaces->of_definition(0), before.interfaces->of_definition(0));
  EXPECT_EQ(after.rule("a"), 0);
  EXPECT_EQ(after.rule("b"), -1);
}

// The contract stays the subscriber's, and the packets are those of its addresses now.
TEST(ClassifierReload, AddressesOfASubscriberMove) {
  const auto from = [](const char* source) {
    config::Config c = with({"acme"}, {});
    c.interfaces[0].prefixes = {*parse_prefix(source)};
    config::Rule& rule = c.rules.emplace_back();
    rule.subscriber = 0;
    rule.customer = "acme";
    rule.match.port = 0;
    rule.match.source = c.interfaces[0].prefixes;
    return c;
  };
  const auto rule = [](const Step& step, const char* source) {
    ParsedPacket p;
    std::memcpy(p.key.address.data(), parse_address(source)->data(), 4);
    const auto found = step.classifier.match(p, 0);
    return found ? *found : -1;
  };
  const Step before(from("10.1.0.11/32")), after(from("10.1.0.12/32"), &before);
  EXPECT_EQ(rule(before, "10.1.0.11"), 0);
  EXPECT_EQ(rule(after, "10.1.0.11"), -1);
  EXPECT_EQ(rule(after, "10.1.0.12"), 0);
  EXPECT_EQ(after.classifier.id(0), before.classifier.id(0));
  ParsedPacket tagged;
  std::memcpy(tagged.key.address.data(), parse_address("10.1.0.12")->data(), 4);
  tagged.vlan = 5;
  EXPECT_EQ(after.classifier.match(tagged, 0), std::nullopt) << "with a tag that is the port's: others";
}

TEST(ClassifierReload, RulesOfTheFileComeBeforeThoseOfSubscribers) {
  config::Config c = with({"acme", "link"}, {"link"});
  c.interfaces[0].prefixes = {*parse_prefix("10.1.0.0/24")};
  c.interfaces[0].within = 1;
  config::Rule& rule = c.rules.emplace_back();
  rule.subscriber = 0;
  rule.customer = "acme";
  rule.match.interface = 1;
  rule.match.source = c.interfaces[0].prefixes;
  c.rules[0].match.destination = {*parse_prefix("10.9.0.0/16")};
  const Step step(c);
  const auto rule_of = [&](const char* source, const char* destination, const char* interface) {
    ParsedPacket p;
    std::memcpy(p.key.address.data(), parse_address(source)->data(), 4);
    std::memcpy(reinterpret_cast<char*>(p.key.address.data()) + 4, parse_address(destination)->data(), 4);
    p.interface = *interface == 'l' ? step.interfaces->of_definition(1) : InterfaceIndex{0};
    const auto found = step.classifier.match(p, 0);
    return found ? *found : -1;
  };
  EXPECT_EQ(rule_of("10.1.0.7", "10.9.0.1", "link"), 0);
  EXPECT_EQ(rule_of("10.1.0.7", "10.8.0.1", "link"), 1);
  EXPECT_EQ(rule_of("10.1.1.7", "10.8.0.1", "link"), -1);
  EXPECT_EQ(rule_of("10.1.0.7", "10.8.0.1", "port"), -1) << "another link";
}

TEST(ClassifierReload, OtherRulesAreOthers) {
  const Step before(with({"a", "b"}, {"a"}));
  const Step swapped(with({"a", "b"}, {"b"}), &before);
  EXPECT_EQ(swapped.rule("a"), -1);
  EXPECT_EQ(swapped.rule("b"), 0);
  const Step both(with({"a", "b"}, {"b", "a"}), &swapped);
  EXPECT_EQ(both.rule("a"), 1);
  EXPECT_EQ(both.rule("b"), 0);
}

}  // namespace
}  // namespace surety
