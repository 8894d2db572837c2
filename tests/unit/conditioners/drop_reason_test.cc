// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/drop_reason.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace surety {
namespace {

TEST(DropReason, NamesAreUniqueMetricLabels) {
  std::set<std::string_view> names;
  for (const auto& i : kDropReasonInfo) {
    EXPECT_TRUE(names.insert(i.name).second) << i.name;
    EXPECT_TRUE(std::all_of(i.name.begin(), i.name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    })) << i.name;
    EXPECT_FALSE(i.help.empty()) << i.name;
  }
  EXPECT_EQ(names.size(), kDropReasons);
}

TEST(DropReason, StagesAreThoseOfThePipeline) {
  std::set<std::string_view> stages;
  for (const auto& i : kDropReasonInfo) stages.insert(i.stage);
  EXPECT_EQ(stages,
            (std::set<std::string_view>{"parse", "classify", "forward", "condition", "aggregate", "queue"}));
}

TEST(DropReason, InfoBelongsToItsReason) {
  EXPECT_EQ(info(DropReason::buffer).name, "buffer");
  EXPECT_EQ(info(DropReason::buffer).stage, "condition");
  EXPECT_EQ(info(DropReason::ard).stage, "aggregate");
  EXPECT_EQ(info(DropReason::forced).group, DropGroup::policy);
  EXPECT_EQ(info(DropReason::ipv4_checksum).group, DropGroup::error);
}

TEST(DropReason, DecisionsOfConditionersAndQueuesArePolicy) {
  for (const auto& i : kDropReasonInfo) {
    if (i.name == "device_mtu") continue;  // what a device cannot send is nobody's decision
    if (i.stage == "condition" || i.stage == "aggregate" || i.stage == "queue") {
      EXPECT_EQ(i.group, DropGroup::policy) << i.name;
    } else if (i.stage == "parse") {
      EXPECT_EQ(i.group, DropGroup::error) << i.name;
    }
  }
}

TEST(DegradeReason, NamesAreUniqueMetricLabels) {
  std::set<std::string_view> names;
  for (const auto& i : kDegradeReasonInfo) {
    EXPECT_TRUE(names.insert(i.name).second) << i.name;
    EXPECT_TRUE(std::all_of(i.name.begin(), i.name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || c == '_';
    })) << i.name;
    EXPECT_FALSE(i.help.empty()) << i.name;
    EXPECT_EQ(i.stage, "classify") << i.name;
  }
}

TEST(DegradeReason, InfoBelongsToItsReason) {
  EXPECT_EQ(info(DegradeReason::flow_table_full).name, "flow_table_full");
  EXPECT_EQ(info(DegradeReason::creation_limited).name, "creation_limited");
  EXPECT_EQ(info(DegradeReason::flow_share_full).name, "flow_share_full");
  EXPECT_EQ(kDegradeReasons, 3u);
}

}  // namespace
}  // namespace surety
