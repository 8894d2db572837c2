// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/console/contract_history.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "router/process/confinement.h"

namespace surety {

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
  hour.demanding += row.tally.demanding_seconds;
  hour.met += row.tally.met_seconds;
  hour.held_back += row.tally.held_back_seconds;
  hour.delivered += row.tally.delivered_in_bytes + row.tally.delivered_out_bytes;
}

// True if the 24 hours that end with `hour` have no record of the contract.
bool ContractHistory::idle(const Contract& contract, std::int64_t hour) {
  return std::ranges::none_of(contract.hours, [&](const Hour& h) {
    return h.number <= hour && h.number > hour - static_cast<std::int64_t>(kHours);
  });
}

Json ContractHistory::row_of(const Key& key, const Contract& contract, std::int64_t hour) {
  Hour sum;
  Json demanding = Json::array(), met = Json::array(), held_back = Json::array(), delivered = Json::array();
  for (std::int64_t number = hour - static_cast<std::int64_t>(kHours) + 1; number <= hour; ++number) {
    const Hour& kept = contract.hours[static_cast<std::size_t>(number) % kHours];
    const Hour h = kept.number == number ? kept : Hour{};
    demanding.push_back(h.demanding);
    met.push_back(h.met);
    held_back.push_back(h.held_back);
    delivered.push_back(h.delivered);
    sum.demanding += h.demanding;
    sum.met += h.met;
    sum.held_back += h.held_back;
  }
  Json row = {{"customer", key[0]},
              {"service", key[1]},
              {"contract", key[2]},
              {"demanding_seconds", sum.demanding},
              {"met_seconds", sum.met},
              {"held_back_seconds", sum.held_back},
              {"hours",
               {{"demanding_seconds", std::move(demanding)},
                {"met_seconds", std::move(met)},
                {"held_back_seconds", std::move(held_back)},
                {"delivered_bytes", std::move(delivered)}}}};
  if (contract.objective) row["objective_ratio"] = *contract.objective;
  return row;
}

}  // namespace surety
