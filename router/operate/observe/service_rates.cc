// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/service_rates.h"

#include <algorithm>

namespace surety {

namespace {
// A fragment's loss counts its own header, too.
std::array<std::uint64_t, kPrecedences> delivered(const ServiceCounters& c) {
  auto bytes = c.bytes;
  for (std::size_t p = 0; p < kPrecedences; ++p) bytes[p] -= std::min(bytes[p], c.lost_bytes[p]);
  return bytes;
}
}  // namespace

void ServiceRates::sample(std::span<const ServiceReading> services, Time now) {
  if (samples_.size() == kWindow) samples_.erase(samples_.begin());
  Sample s{now, {}};
  for (const auto& service : services) s.bytes.push_back(delivered(service.counters));
  samples_.push_back(std::move(s));
}

void ServiceRates::apply(std::span<ServiceReading> services, Time now) {
  most_.resize(std::max(most_.size(), services.size()));
  for (std::size_t i = 0; i < services.size(); ++i) {
    ServiceReading& s = services[i];
    const Bytes bytes = delivered(s.counters);
    for (std::size_t p = 0; p < kPrecedences; ++p)
      s.delivered_bytes[p] = most_[i][p] = std::max(most_[i][p], bytes[p]);
    s.committed_bytes_per_second = (i < committed_.size() ? committed_[i] : Rate{}).bytes_per_second() *
                                   static_cast<double>(s.counters.contracts);
    if (samples_.empty() || now <= samples_.front().time) continue;
    const Sample& old = samples_.front();
    const double span = seconds(now - old.time);
    const auto before = i < old.bytes.size() ? old.bytes[i] : decltype(s.counters.bytes){};
    const auto rate = [&](Precedence p) {
      // A reading may be older than the sample, where a worker did not answer.
      const std::uint64_t now_bytes = std::max(bytes[index(p)], before[index(p)]);
      return static_cast<double>(now_bytes - before[index(p)]) / span;
    };
    s.achieved_in_bytes_per_second = rate(Precedence::in);
    s.achieved_bytes_per_second = rate(Precedence::in) + rate(Precedence::out);
  }
}

void BusyRatios::sample(std::span<const WorkerReading> workers) {
  const std::size_t known = samples_.size();
  samples_.resize(std::max(known, workers.size()));
  for (std::size_t w = 0; w < workers.size(); ++w) {
    const WorkerCounters &now = workers[w].counters, &before = samples_[w].counters;
    const auto busy = static_cast<double>(now.busy_cycles - before.busy_cycles);
    const auto idle = static_cast<double>(now.idle_cycles - before.idle_cycles);
    if (w < known && busy + idle > 0) samples_[w].ratio = busy / (busy + idle);
    samples_[w].counters = now;
  }
}

void BusyRatios::apply(std::span<WorkerReading> workers) const {
  for (std::size_t w = 0; w < std::min(workers.size(), samples_.size()); ++w)
    workers[w].busy_ratio = samples_[w].ratio;
}

}  // namespace surety
