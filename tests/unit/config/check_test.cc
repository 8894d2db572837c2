// SPDX-License-Identifier: BSD-3-Clause
#include "config/check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace surety::config {
namespace {

class Check : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "surety_check_" +
            testing::UnitTest::GetInstance()->current_test_info()->name() + ".yaml";
  }
  void TearDown() override { std::filesystem::remove(path_); }
  int check_text(const std::string& text) {
    std::ofstream(path_) << text;
    return check_path(path_);
  }
  int check_path(const std::string& path) {
    const Report report = check(path);
    report_ = report.text + report.sum;
    return report.config ? 0 : 1;
  }
  std::string path_, report_;
};

TEST_F(Check, SumsUpWhatIsThere) {
  EXPECT_EQ(check_text("version: 1\nports: {a: {device: null, queues: q}, b: {device: null}}\nqueues: {q: "
                       "[{name: all}]}\n"),
            0);
  EXPECT_EQ(report_, path_ + ": ok: 2 ports, 1 queue set\n");
}

TEST_F(Check, CountsWhatTemplatesStandFor) {
  EXPECT_EQ(
      check_text("version: 1\nports: {a: {device: null}}\ninterfaces:\n  i: {port: a, vlan: 1, filter: {in: "
                 "f}}\n  t: {port: a, vlan: 2, inner_vlan: 1-4000, addresses: [10.1.0.1/16]}\nfilters: {f: "
                 "[{deny: {}}]}\n"),
      0);
  EXPECT_TRUE(report_.ends_with("\n" + path_ + ": ok: 1 port, 4001 interfaces, 1 filter\n")) << report_;
}

TEST_F(Check, SaysWhatIsSoldBeforeTheSum) {
  EXPECT_EQ(check_text(
                "version: 1\nports: {a: {device: null}}\ninterfaces: {i: {port: a, vlan: 1, customer: c}}\n"),
            0);
  EXPECT_EQ(report_,
            "customer  interface  up           down      share     queues\n"
            "c         i          best effort  the link  1/1 of a  one\n" +
                path_ + ": ok: 1 port, 1 interface\n");
}

TEST_F(Check, SaysWhatIsSoldInAll) {
  EXPECT_EQ(
      check_text("version: 1\n"
                 "ports: {a: {device: null}, up: {device: null, trust: core, shape: 1 Mbit/s, queues: q}}\n"
                 "queues: {q: [{name: gold, dscp: {in: AF11, out: AF12}}]}\n"
                 "services: {s: {conditioner: police, rate: 2 Mbit/s, bucket: 10 kB}}\n"
                 "classify: [{match: {port: a}, service: s}]\n"),
      0);
  EXPECT_TRUE(
      report_.ends_with("of       direction  committed  capacity\n"
                        "port a   up         2 Mbit/s   -\n"
                        "port up  up         2 Mbit/s   1 Mbit/s  oversubscribed\n" +
                        path_ + ": ok: 2 ports, 1 queue set, 1 service, 1 rule, 1 warning\n"))
      << report_;
}

TEST_F(Check, WarningsAreStillFine) {
  EXPECT_EQ(check_text("version: 1\nports: {a: {mtu: 1500}}\n"), 0);
  EXPECT_EQ(report_, path_ +
                         ":2:9: warning: port `a` has no `device`: it can only run in the lab\n"
                         "    ports: {a: {mtu: 1500}}\n            ^\n" +
                         path_ + ": ok: 1 port, 1 warning\n");
}

TEST_F(Check, NotesAreNoWarnings) {
  EXPECT_EQ(
      check_text("version: 1\nports: {a: {device: null, queues: q}}\nqueues: {q: [{name: af, dscp: {in: "
                 "AF11, out: AF12}}]}\n"),
      0);
  EXPECT_TRUE(report_.starts_with(path_ + ":3:14: note: IN and OUT packets share class `af`")) << report_;
  EXPECT_TRUE(report_.ends_with("\n" + path_ + ": ok: 1 port, 1 queue set\n")) << report_;
}

TEST_F(Check, ErrorsAreCounted) {
  EXPECT_EQ(check_text("version: 2\nports: {a: {mtu: 1}}\n"), 1);
  EXPECT_TRUE(report_.ends_with("\n" + path_ + ": 2 errors, 1 warning\n")) << report_;
  EXPECT_TRUE(report_.starts_with(path_ + ":1:10: error: version `2`")) << report_;
}

TEST_F(Check, MissingFile) {
  EXPECT_EQ(check_path("/nowhere.yaml"), 1);
  EXPECT_EQ(report_,
            "/nowhere.yaml:1:1: error: cannot be read: No such file or directory\n/nowhere.yaml: 1 error\n");
}

}  // namespace
}  // namespace surety::config
