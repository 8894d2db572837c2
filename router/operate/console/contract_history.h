// SPDX-License-Identifier: BSD-3-Clause
// The last 24 hours of each contract, by the hour, for the console: read from the files of ReportLog,
// which outlive the router.
//
// A thread reads new records when rows() is called and the last reading is older than kEvery. rows()
// therefore never waits for the disk, and nothing is read while the console is not open.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "router/operate/observe/reading_json.h"
#include "router/operate/observe/report.h"

namespace surety {

class ContractHistory {
 public:
  static constexpr std::size_t kHours = 24, kMostContracts = 20'000;
  static constexpr Minute kEvery = 1;

  // `now`: minutes since 1970, from any thread.
  ContractHistory(std::filesystem::path directory, std::function<Minute()> now);

  // {"customer", "service", "contract", "objective_ratio", "demanding_seconds", "met_seconds",
  // "held_back_seconds", "hours": {"demanding_seconds": [24 numbers, the current hour last], "met_seconds",
  // "held_back_seconds", "delivered_bytes"}} for each contract with any traffic. null: the first reading is
  // not complete. Thread-safe.
  Json rows();

 private:
  struct Hour {
    std::int64_t number = 0;                // since 1970
    std::array<std::uint64_t, 4> counts{};  // demanding, met and held back seconds, bytes delivered
  };
  struct Contract {
    std::optional<double> objective{};
    std::array<Hour, kHours> hours{};  // indexed by number
  };
  using Key = std::array<std::string, 3>;  // customer, service, contract

  void work(const std::stop_token& stop);
  void add(Minute minute, const ContractMinute& row);
  static bool idle(const Contract& contract, std::int64_t hour);
  static Json row_of(const Key& key, const Contract& contract, std::int64_t hour);

  const std::filesystem::path directory_;
  const std::function<Minute()> now_;
  ReportReader reader_;  // used by the thread
  std::mutex mutex_;     // guards the members below
  std::condition_variable_any wake_;
  std::map<Key, Contract> contracts_;
  std::optional<Minute> read_;  // end of the last reading
  bool wanted_ = false;
  std::jthread thread_;  // last: it uses all of it
};

}  // namespace surety
