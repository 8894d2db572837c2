// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/preset_rules.h"

#include <gmock/gmock.h>

#include "tests/unit/router/daemon/linux/netlink_builder.h"

namespace surety {
namespace {

using namespace netlink_builder;
using ::testing::ElementsAre;

class PresetRulesTest : public ::testing::Test {
 protected:
  void note(unsigned type, unsigned char family, std::uint8_t table, std::uint32_t priority) {
    fib_rule_hdr m{};
    m.family = family;
    m.table = table;
    m.action = FR_ACT_TO_TBL;
    const NetlinkEvent event = parse_message(message(type, m, {attribute(FRA_PRIORITY, priority)}));
    rules_.note(std::get<RuleEvent>(event));
  }
  std::vector<std::string> missing() const {
    std::vector<std::string> lines;
    for (const RuleEvent& rule : rules_.missing()) lines.push_back((rule.v6 ? "-6 " : "") + text_of(rule));
    return lines;
  }
  PresetRules rules_;
};

TEST_F(PresetRulesTest, AFamilyWithoutRulesIsTheKernels) {
  EXPECT_THAT(missing(), ElementsAre());
  note(RTM_NEWRULE, AF_INET, RT_TABLE_LOCAL, 0);
  note(RTM_NEWRULE, AF_INET, RT_TABLE_MAIN, 32766);
  EXPECT_THAT(missing(), ElementsAre());
}

// The local rule behind another, as for VRFs.
TEST_F(PresetRulesTest, WhatIsNotReportedHasBeenRemoved) {
  note(RTM_NEWRULE, AF_INET, RT_TABLE_LOCAL, 32765);
  note(RTM_NEWRULE, AF_INET, RT_TABLE_MAIN, 32766);
  note(RTM_NEWRULE, AF_INET6, RT_TABLE_LOCAL, 0);
  EXPECT_THAT(missing(),
              ElementsAre("remove rule 0: from all lookup 255", "-6 remove rule 32766: from all lookup 254"));
  rules_.clear();
  EXPECT_THAT(missing(), ElementsAre());
}

TEST_F(PresetRulesTest, AChangeDuringTheReportCounts) {
  note(RTM_NEWRULE, AF_INET, RT_TABLE_LOCAL, 0);
  note(RTM_NEWRULE, AF_INET, RT_TABLE_MAIN, 32766);
  note(RTM_DELRULE, AF_INET, RT_TABLE_MAIN, 32766);
  EXPECT_THAT(missing(), ElementsAre("remove rule 32766: from all lookup 254"));
  note(RTM_NEWRULE, AF_INET, RT_TABLE_MAIN, 32766);
  EXPECT_THAT(missing(), ElementsAre());
}

}  // namespace
}  // namespace surety
