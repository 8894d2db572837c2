// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/contract_transfer.h"

#include "tests/unit/router/pipeline/classify_bed.h"

namespace surety {
namespace {

using test::kMetered;
using test::Stage;

TEST(ContractTransfer, EachContractIsSavedWithItsRuleAndService) {
  Stage s(kMetered + "source}\n");
  s.settled({.from = 1});
  const auto saved = s.stage->save();
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].rule, 0u);
  EXPECT_EQ(s.plane.snapshot.services[saved[0].service].name, "metered");
  EXPECT_TRUE(saved[0].shared);
}

TEST(ContractTransfer, AnotherProcessHasItsOwnNumbers) {
  Stage s(kMetered + "source}\n"), next(kMetered + "source}\n");
  s.settled({.from = 1});
  const ContractState saved = s.stage->save().at(0);
  const Snapshot& snapshot = next.plane.snapshot;
  const auto here = as_numbered_here(saved, snapshot);
  ASSERT_TRUE(here.has_value());
  EXPECT_EQ(here->key.rest & 0xffffffff, snapshot.classifier.id(0));
  EXPECT_EQ(here->key.rest >> 32, saved.key.rest >> 32);
  ContractState other = saved;
  other.rule = 7;
  EXPECT_FALSE(as_numbered_here(other, snapshot).has_value()) << "no such rule";
  other = saved;
  other.service = snapshot.best_effort();
  EXPECT_FALSE(as_numbered_here(other, snapshot).has_value()) << "it has no state";
}

}  // namespace
}  // namespace surety
