// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/contracts.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace surety {
namespace {

std::set<FlowId> open_in(const ContractLedger& ledger) {
  std::set<FlowId> ids;
  for (std::uint32_t place = 0; place < ledger.places(); ++place)
    if (const auto entry = ledger.at(place)) ids.insert(entry->id);
  return ids;
}

TEST(ContractLedger, ShowsWhatIsOpen) {
  ContractLedger ledger(8);
  EXPECT_EQ(ledger.places(), 0u);
  ledger.open(5, 17, 3);
  ledger.open(2, 18, 4);
  EXPECT_EQ(open_in(ledger), (std::set<FlowId>{2, 5}));
  EXPECT_EQ(ledger.at(0)->rule, 17u);
  EXPECT_EQ(ledger.at(0)->interface, 3);
  ledger.close(5);
  EXPECT_EQ(open_in(ledger), (std::set<FlowId>{2}));
}

TEST(ContractLedger, ARuleThatGivesTheSameIsAnotherName) {
  ContractLedger ledger(8);
  ledger.open(5, 17, 3, {100, 7});
  ledger.rename(5, 18);
  ledger.rename(6, 19);  // has no place
  EXPECT_EQ(ledger.at(0)->rule, 18u);
  EXPECT_EQ(ledger.at(0)->before, (ContractLedger::Bytes{100, 7}));
}

TEST(ContractLedger, APlaceThatIsTakenAgainHasAnotherGeneration) {
  ContractLedger ledger(8);
  ledger.open(5, 1, 0);
  const std::uint32_t before = ledger.at(0)->generation;
  ledger.close(5);
  ledger.open(5, 1, 0);
  EXPECT_EQ(ledger.places(), 1u);
  EXPECT_NE(ledger.at(0)->generation, before);
}

TEST(ContractLedger, BeyondItsPlacesContractsAreNotTold) {
  ContractLedger ledger(ContractLedger::kMost + 2);
  for (FlowId id = 0; id < ContractLedger::kMost + 2; ++id) ledger.open(id, 0, 0);
  EXPECT_EQ(ledger.places(), ContractLedger::kMost);
  EXPECT_TRUE(ledger.overflowed());
  ledger.close(ContractLedger::kMost + 1);  // it had none
  EXPECT_EQ(open_in(ledger).size(), ContractLedger::kMost);
  ledger.close(0);
  ledger.open(ContractLedger::kMost + 1, 0, 0);
  EXPECT_TRUE(open_in(ledger).contains(ContractLedger::kMost + 1));
}

// What is read belongs together: the rule is always that of the flow.
TEST(ContractLedger, MayBeReadWhileItChanges) {
  ContractLedger ledger(4);
  std::atomic<bool> done{false};
  std::thread worker([&] {
    for (std::uint32_t i = 0; i < 200'000; ++i) {
      const FlowId id = i % 4;
      ledger.open(id, id + 100, static_cast<InterfaceIndex>(id));
      ledger.close(id);
    }
    done = true;
  });
  while (!done)
    for (std::uint32_t place = 0; place < ledger.places(); ++place)
      if (const auto entry = ledger.at(place)) {
        EXPECT_EQ(entry->rule, entry->id + 100);
        EXPECT_EQ(entry->interface, entry->id);
      }
  worker.join();
}

}  // namespace
}  // namespace surety
