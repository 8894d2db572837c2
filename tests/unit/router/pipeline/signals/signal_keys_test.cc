// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/signal_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace surety {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kSecret = "5f0b6a4c9d3e21780011223344556677";

SignalKeysResult parse(const std::string& text) {
  return parse_signal_keys(text, "keys.yaml");
}
std::string only_error(const std::string& text) {
  const auto r = parse(text);
  EXPECT_EQ(r.errors.size(), 1u) << text;
  EXPECT_TRUE(r.keys.keys.empty()) << text;
  return r.errors.empty() ? "" : r.errors.front();
}

TEST(SignalKeys, OneOrTwoTheFirstSigns) {
  const auto r = parse(
      "keys:\n  - {id: 255, key: 5F0b6a4c9d3e21780011223344556677}\n  - {key: "
      "00112233445566778899001122334455, id: 0}\n");
  ASSERT_TRUE(r.ok());
  EXPECT_THAT(r.warnings, IsEmpty());
  ASSERT_EQ(r.keys.keys.size(), 2u);
  EXPECT_EQ(r.keys.keys[0].id, 255);
  EXPECT_THAT(r.keys.keys[0].secret.reveal(), ElementsAre(0x5f, 0x0b, 0x6a, 0x4c, 0x9d, 0x3e, 0x21, 0x78, 0,
                                                          0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77));
  EXPECT_EQ(r.keys.find(77, 255), &r.keys.keys[0]);
  EXPECT_EQ(r.keys.find(78, 0), &r.keys.keys[1]);
  EXPECT_EQ(r.keys.find(77, 1), nullptr);
}

constexpr std::uint32_t kRouter = 192u << 24 | 2 << 8 | 1;  // 192.0.2.1

TEST(SignalKeys, OfRouters) {
  const std::string other = "00112233445566778899001122334455";
  const auto r =
      parse("keys: [{id: 1, key: " + other + "}]\nrouters:\n  192.0.2.1: [{id: 1, key: " + kSecret +
            "}, {id: 2, key: " + other + "}]\n");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.keys.of(kRouter).size(), 2u);
  EXPECT_EQ(r.keys.find(kRouter, 1)->secret.reveal()[0], 0x5f);
  EXPECT_EQ(r.keys.find(kRouter + 1, 1)->secret.reveal()[0], 0);
  EXPECT_EQ(r.keys.find(kRouter + 1, 2), nullptr);

  const auto alone = parse(std::string("routers: {192.0.2.1: [{id: 1, key: ") + kSecret + "}]}");
  ASSERT_TRUE(alone.ok()) << "a core router needs no other key";
  EXPECT_TRUE(alone.keys.of(kRouter + 1).empty());
}

TEST(SignalKeys, RoutersAreIdsWithTheirKeys) {
  const std::string keys = std::string(": [{id: 1, key: ") + kSecret + "}]";
  for (const char* id : {"0.0.0.0", "'2001:db8::1'", "core-1", "1"})
    EXPECT_THAT(only_error(std::string("routers: {") + id + keys + "}"), HasSubstr("is an IPv4 address"))
        << id;
  EXPECT_THAT(only_error("routers:\n  192.0.2.1" + keys + "\n  192.0.2.1" + keys),
              HasSubstr("3:3: error: this router is already there"));
  EXPECT_THAT(only_error("routers: {192.0.2.1: []}"), HasSubstr("one key or two"));
  EXPECT_THAT(only_error("routers: []"), HasSubstr("expected `ROUTER_ID: "));
  EXPECT_THAT(only_error("routers: {192.0.2.1: [{id: 1, key: 12}]}"), HasSubstr("32 hexadecimal digits"));
}

TEST(SignalKeys, ErrorsSayWhereButNotWhat) {
  EXPECT_EQ(
      only_error("keys:\n  - {id: 1, key: 5f0b6a4c9d3e2178001122334455667}  # old one\n"),
      "keys.yaml:2:18: error: a key is exactly 32 hexadecimal digits; `openssl rand -hex 16` makes one\n"
      "      - {id: *, key: *******************************}  # *** ***\n"
      "                     ^");
}

TEST(SignalKeys, AKeyIsExactly32Digits) {
  for (const char* bad :
       {"5f0b6a4c9d3e217800112233445566770", "5f0b6a4c9d3e2178001122334455667g", "''",
        "'5f0b6a4c9d3e2178 01122334455667 '", "0x0b6a4c9d3e21780011223344556677", "[1, 2]", "~", "{a: b}"}) {
    EXPECT_THAT(only_error(std::string("keys: [{id: 1, key: ") + bad + "}]"),
                HasSubstr("32 hexadecimal digits"))
        << bad;
  }
}

TEST(SignalKeys, ZerosAreNoSecret) {
  EXPECT_THAT(only_error("keys: [{id: 1, key: 00000000000000000000000000000000}]"), HasSubstr("zeros"));
}

TEST(SignalKeys, IdsAreBytes) {
  for (const char* bad : {"256", "-1", "1.0", "one", "''", "0x1", "[1]", "'1 '", "99999999999999999999"})
    EXPECT_THAT(only_error(std::string("keys: [{id: ") + bad + ", key: " + kSecret + "}]"),
                HasSubstr("from 0 to 255"));
}

TEST(SignalKeys, TwoKeysDiffer) {
  const std::string first = std::string("keys: [{id: 1, key: ") + kSecret + "}, ";
  EXPECT_THAT(only_error(first + "{id: 1, key: 00112233445566778899001122334455}]"),
              HasSubstr("has this id"));
  EXPECT_THAT(only_error(first + "{id: 2, key: " + kSecret + "}]"), HasSubstr("is the same"));
}

TEST(SignalKeys, OneOrTwo) {
  const std::string one = std::string("{id: 1, key: ") + kSecret + "}";
  for (const std::string& bad :
       {std::string("[]"), "[" + one + ", " + one + ", " + one + "]", one, std::string("~")})
    EXPECT_THAT(only_error("keys: " + bad), HasSubstr("one key or two")) << bad;
}

TEST(SignalKeys, OnlyWhatBelongsThere) {
  const std::string one = std::string("{id: 1, key: ") + kSecret + "}";
  EXPECT_THAT(only_error("keys: [" + one + "]\nversion: 1"),
              HasSubstr("2:1: error: only `keys` and `routers` are allowed here"));
  EXPECT_THAT(only_error(std::string("keys: [{id: 1, key: ") + kSecret + ", name: a}]"),
              HasSubstr("only `id` and `key`"));
  EXPECT_THAT(only_error(std::string("keys: [{id: 1, id: 1, key: ") + kSecret + "}]"),
              HasSubstr("`id` is already there"));
  EXPECT_THAT(only_error(std::string("keys: [{id: 1}]")), HasSubstr("`key` is missing"));
  EXPECT_THAT(only_error(std::string("keys: [{key: ") + kSecret + "}]"), HasSubstr("`id` is missing"));
}

TEST(SignalKeys, NoFileOfKeysAtAll) {
  for (const char* bad : {"", "keys", "[]", "- a", "~", "# nothing"}) EXPECT_FALSE(parse(bad).ok()) << bad;
  EXPECT_THAT(only_error("{}"), HasSubstr("`keys` is missing"));
  for (const char* bad : {"keys: [", "a: *b", "\tkeys: 1", "\xff\xfe", "a: b: c"})
    EXPECT_THAT(only_error(bad), HasSubstr("not YAML")) << bad;
}

// Wherever the digits stand, and however they are broken up.
TEST(SignalKeys, NoMessageShowsAKey) {
  for (const char* text :
       {"keys: [{id: @, key: @}]", "keys: [{id: 1, @: 2}]", "keys: [@]", "@: 1", "@",
        "keys: [{id: 1, key: *@}]", "keys: {id: 1, key: &@ @x}", "keys:\n - id: 1\n   key: '@", "!@ [",
        "keys: [{id: 1, key: @, key: @}]", "keys: [{id: 1, key: @ @}] # @", "`@`: @`", "%@\n---\na"}) {
    for (const std::string& secret :
         {std::string(kSecret), std::string("5f0b-6a4c-9d3e-2178-0011-2233-4455-6677"),
          std::string("5f 0b 6a 4c 9d 3e 21 78"), std::string("abcdefabcdefabcdef")}) {
      std::string all = text;
      for (std::size_t at; (at = all.find('@')) != all.npos;) all.replace(at, 1, secret);
      const auto r = parse(all);
      EXPECT_FALSE(r.ok()) << all;
      for (const std::string& e : r.errors) {
        for (const char* part : {"5f", "0b6a", "0b", "6a", "4c", "9d", "3e", "4455", "abcdef"})
          EXPECT_THAT(e, Not(HasSubstr(part))) << all;
      }
    }
  }
}

class SignalKeyFile : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path_) << "keys: [{id: 1, key: " << kSecret << "}]\n";
    ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ = testing::TempDir() + "signal_keys_test_" + std::to_string(getpid()) + ".yaml";
};

TEST_F(SignalKeyFile, IsRead) {
  const auto r = load_signal_keys(path_);
  EXPECT_TRUE(r.ok());
  EXPECT_THAT(r.warnings, IsEmpty());
  EXPECT_EQ(r.keys.keys.size(), 1u);
}

TEST_F(SignalKeyFile, IsNobodyElsesBusiness) {
  for (const mode_t mode : {0604u, 0602u, 0644u}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    const auto r = load_signal_keys(path_);
    EXPECT_FALSE(r.ok());
    ASSERT_EQ(r.errors.size(), 1u);
    EXPECT_THAT(r.errors[0], HasSubstr(path_ + ":1:1: error: every user of this machine may read or change"));
  }
  ASSERT_EQ(chmod(path_.c_str(), 0640), 0);  // a group may be the router's own
  EXPECT_TRUE(load_signal_keys(path_).ok());
}

TEST_F(SignalKeyFile, OfNothing) {
  const auto r = load_signal_keys(path_ + ".missing");
  EXPECT_FALSE(r.ok());
  EXPECT_THAT(r.errors,
              ElementsAre(path_ + ".missing:1:1: error: cannot be read: No such file or directory"));
}

}  // namespace
}  // namespace surety
