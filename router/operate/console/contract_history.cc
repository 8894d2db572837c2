// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/console/contract_history.h"

#include <algorithm>
#include <functional>
#include <system_error>
#include <utility>

#include "router/process/confinement.h"

namespace surety {

namespace {
// Members of rows, in the order of Hour::counts.
constexpr std::array<const char*, 4> kMembers{"demanding_seconds", "met_seconds", "held_back_seconds",
                                              "delivered_bytes"};
}  // namespace

ContractHistory::ContractHistory(std::filesystem::path directory, std::function<Minute()> now)
    : directory_(std::move(directory)),
      now_(std::move(now)),
      thread_(background_thread([this](const std::stop_token& stop) { work(stop); })) {}

Json ContractHistory::rows() {
  const std::scoped_lock lock(mutex_);
  const Minute now = now_();
  if (!read_ || now < *read_ || now - *read_ >= kEvery) {
    wanted_ = true;
    wake_.notify_one();
  }
  if (!read_) return nullptr;
  Json rows = Json::array();
  for (const auto& [key, contract] : contracts_)
    if (!idle(contract, now / 60)) rows.push_back(row_of(key, contract, now / 60));
  return rows;
}

void ContractHistory::work(const std::stop_token& stop) {
  for (std::unique_lock lock(mutex_);;) {
    if (!wake_.wait(lock, stop, [this] { return wanted_; })) return;
    lock.unlock();
    const Minute now = now_();
    const std::int64_t oldest = now / 60 - static_cast<std::int64_t>(kHours) + 1;
    try {
      reader_.read(directory_, oldest * 60,
                   [this](Minute minute, const ContractMinute& row) { add(minute, row); });
    } catch (const std::system_error&) {
      // The directory does not exist: ReportLog::trouble() reports it.
    }
    lock.lock();
    std::erase_if(contracts_, [&](const auto& c) { return idle(c.second, now / 60); });
    read_ = now;
    wanted_ = false;
  }
}

// Adds one record per lock, so that rows() waits for no file.
void ContractHistory::add(Minute minute, const ContractMinute& row) {
  const std::scoped_lock lock(mutex_);
  auto at = contracts_.find({row.customer, row.service, row.contract});
  if (at == contracts_.end()) {
    if (contracts_.size() == kMostContracts) return;
    at = contracts_.try_emplace({row.customer, row.service, row.contract}).first;
  }
  at->second.objective = row.objective;
  const std::int64_t number = minute / 60;
  Hour& hour = at->second.hours[static_cast<std::size_t>(number) % kHours];
  if (hour.number > number) return;  // a clock was set back
  if (hour.number < number) hour = {.number = number};
  const auto& t = row.tally;
  const std::array more{t.demanding_seconds, t.met_seconds, t.held_back_seconds,
                        t.delivered_in_bytes + t.delivered_out_bytes};
  std::ranges::transform(hour.counts, more, hour.counts.begin(), std::plus<>());
}

// True if the 24 hours that end with `hour` have no record of the contract.
bool ContractHistory::idle(const Contract& contract, std::int64_t hour) {
  return std::ranges::none_of(contract.hours, [&](const Hour& h) {
    return h.number <= hour && h.number > hour - static_cast<std::int64_t>(kHours);
  });
}

Json ContractHistory::row_of(const Key& key, const Contract& contract, std::int64_t hour) {
  Json row = {{"customer", key[0]}, {"service", key[1]}, {"contract", key[2]}};
  Json hours;
  for (std::size_t m = 0; m < kMembers.size(); ++m) {
    std::uint64_t sum = 0;
    Json& numbers = hours[kMembers[m]] = Json::array();
    for (std::int64_t number = hour - static_cast<std::int64_t>(kHours) + 1; number <= hour; ++number) {
      const Hour& kept = contract.hours[static_cast<std::size_t>(number) % kHours];
      numbers.push_back(kept.number == number ? kept.counts[m] : 0);
      sum += numbers.back().get<std::uint64_t>();
    }
    if (m < 3) row[kMembers[m]] = sum;  // the row has no sum of bytes
  }
  row["hours"] = std::move(hours);
  if (contract.objective) row["objective_ratio"] = *contract.objective;
  return row;
}

}  // namespace surety
