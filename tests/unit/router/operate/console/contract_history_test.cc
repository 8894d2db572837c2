// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/console/contract_history.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

namespace surety {
namespace {

namespace fs = std::filesystem;

constexpr Minute kNoon = 490'000 * 60;

ContractMinute minute_of(const std::string& customer, std::uint64_t demanding, std::uint64_t met) {
  ContractMinute row{customer, "gold", customer + ".1", 0.99};
  row.tally = {1e6, 900, 700, 20, 3, 4, demanding, met, 2};
  return row;
}

class ContractHistoryTest : public testing::Test {
 protected:
  ~ContractHistoryTest() override { fs::remove_all(directory_); }
  void keep(Minute minute, std::vector<ContractMinute> rows) const {
    ReportLog(directory_, 1'000'000).add(minute, std::move(rows));
  }
  // After a reading of now.
  Json rows() {
    ++now_;
    Json found = history_.rows();
    while (found.is_null() || found == before_) {
      std::this_thread::yield();
      found = history_.rows();
    }
    return before_ = found;
  }

  const fs::path directory_ = fs::temp_directory_path() / ("surety-history-" + std::to_string(::getpid()));
  std::atomic<Minute> now_ = kNoon + 30;
  Json before_;
  ContractHistory history_{directory_, [this] { return now_.load(); }};
};

TEST_F(ContractHistoryTest, SumsTheHoursOfADay) {
  keep(kNoon - 24 * 60, {minute_of("acme", 60, 1)});  // the hour before the first one of the day
  keep(kNoon - 23 * 60, {minute_of("acme", 60, 60)});
  keep(kNoon - 1, {minute_of("acme", 50, 40), minute_of("globex", 1, 1)});
  keep(kNoon, {minute_of("acme", 60, 57)});
  const Json found = rows();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["customer"], "acme");
  EXPECT_EQ(found[0]["objective_ratio"], 0.99);
  EXPECT_EQ(found[0]["demanding_seconds"], 170);
  EXPECT_EQ(found[0]["met_seconds"], 157);
  EXPECT_EQ(found[0]["held_back_seconds"], 6);
  const Json& hours = found[0]["hours"];
  ASSERT_EQ(hours["met_seconds"].size(), ContractHistory::kHours);
  EXPECT_EQ(hours["met_seconds"][0], 60);
  EXPECT_EQ(hours["met_seconds"][22], 40);
  EXPECT_EQ(hours["met_seconds"][23], 57);
  EXPECT_EQ(hours["demanding_seconds"][23], 60);
  EXPECT_EQ(hours["delivered_bytes"][23], 720);
  EXPECT_EQ(hours["delivered_bytes"][21], 0);
}

TEST_F(ContractHistoryTest, ReadsEachRecordOnceAndOnlyWholeOnes) {
  keep(kNoon, {minute_of("acme", 60, 60)});
  EXPECT_EQ(rows()[0]["met_seconds"], 60);
  const fs::path file = fs::directory_iterator(directory_)->path();
  std::ofstream(file, std::ios::app) << "[" << kNoon + 1 << ",0,1000000,900,700,20,3,4,60,50,0]\n["
                                     << kNoon + 2 << ",0,1000000,900";
  EXPECT_EQ(rows()[0]["met_seconds"], 110);
  std::ofstream(file, std::ios::app) << ",700,20,3,4,60,40,0]\n";
  EXPECT_EQ(rows()[0]["met_seconds"], 150);
  EXPECT_EQ(before_[0]["demanding_seconds"], 180);
}

TEST_F(ContractHistoryTest, ForgetsWhatIsOlderThanADay) {
  keep(kNoon, {minute_of("acme", 60, 60)});
  EXPECT_EQ(rows().size(), 1u);
  now_ = kNoon + 24 * 60;
  EXPECT_EQ(history_.rows(), Json::array());
}

TEST_F(ContractHistoryTest, WithoutADirectoryThereIsNothing) {
  EXPECT_EQ(rows(), Json::array());
}

}  // namespace
}  // namespace surety
