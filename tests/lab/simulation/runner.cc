// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/runner.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

namespace surety::lab {

namespace {

class Batch {
 public:
  Batch(std::span<const Job> jobs, const RunnerOptions& options)
      : jobs_(jobs), options_(options), results_(jobs.size()), parts_(jobs.size()) {
    for (const Job& job : jobs) {
      longest_ = std::max(longest_, longest_packet(scenario_of(*job.plan)));
      packets_ = std::max(packets_, pool_packets(scenario_of(*job.plan)));
      total_ += weight(job);
    }
  }

  // What one thread does.
  void work() {
    std::optional<PacketPool> pool;
    while (const auto job = begin()) {
      try {
        if (!pool) pool.emplace(packets_, longest_);
        end(*job, run_one(*job, *pool));
      } catch (...) {
        fail(*job, std::current_exception());
      }
    }
  }

  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  static double weight(const Job& job) { return seconds(scenario_of(*job.plan).duration); }

  std::optional<std::size_t> begin() {
    const std::lock_guard lock(mutex_);
    const bool stopped = options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed);
    if (stopped || exception_ || begun_ == jobs_.size()) return {};
    return begun_++;
  }

  RunResult run_one(std::size_t index, PacketPool& pool) {
    const Job& job = jobs_[index];
    RunOptions run;
    run.seed = job.seed;
    run.tap = job.tap;
    run.tap_link = job.tap_link;
    run.stop = options_.stop;
    if (options_.progress) run.progress = [this, index](double part) { advance(index, part); };
    return lab::run(*job.plan, pool, run);
  }

  void advance(std::size_t index, double part) {
    const std::lock_guard lock(mutex_);
    advance_locked(index, part);
  }
  void advance_locked(std::size_t index, double part) {
    if (!options_.progress || part <= parts_[index]) return;
    done_ += (part - parts_[index]) * weight(jobs_[index]);
    parts_[index] = part;
    options_.progress(std::min(done_ / total_, 1.0));
  }

  void end(std::size_t index, RunResult&& result) {
    const std::lock_guard lock(mutex_);
    if (!result.interrupted) advance_locked(index, 1);
    results_[index] = std::move(result);
    while (next_ < first_failed_ && results_[next_]) hand_over(next_++);
  }

  void hand_over(std::size_t index) {
    RunResult result = std::move(*results_[index]);
    results_[index].reset();
    if (!options_.done) return;
    try {
      options_.done(index, std::move(result));
    } catch (...) {
      fail_locked(index, std::current_exception());
    }
  }

  void fail(std::size_t index, std::exception_ptr exception) {
    const std::lock_guard lock(mutex_);
    fail_locked(index, std::move(exception));
  }
  void fail_locked(std::size_t index, std::exception_ptr exception) {
    if (index >= first_failed_) return;
    first_failed_ = index;
    exception_ = std::move(exception);
  }

  std::span<const Job> jobs_;
  const RunnerOptions& options_;
  std::uint16_t longest_ = kLongestPacket;
  std::uint32_t packets_ = kPoolPackets;
  double total_ = 0, done_ = 0;  // simulated seconds
  std::mutex mutex_;
  std::size_t begun_ = 0, next_ = 0;  // jobs that a thread has taken; handed over
  std::vector<std::optional<RunResult>> results_;
  std::vector<double> parts_;
  std::size_t first_failed_ = jobs_.size();
  std::exception_ptr exception_;
};

}  // namespace

std::uint16_t longest_packet(const Scenario& scenario) {
  std::uint64_t longest = kLongestPacket;
  for (const auto& s : scenario.senders) longest = std::max(longest, s.sender.common().packet.count());
  return static_cast<std::uint16_t>(longest);  // endpoints::kMaxPacket at most
}

std::uint32_t pool_packets(const Scenario& scenario) {
  constexpr std::uint32_t kEach = 40;
  return std::max(kPoolPackets, kEach * static_cast<std::uint32_t>(scenario.hosts.size()));
}

void run_jobs(std::span<const Job> jobs, const RunnerOptions& options) {
  const std::size_t wanted = std::min(options.threads > 0 ? options.threads : default_threads(), kMaxThreads);
  const std::size_t threads = std::min(wanted, jobs.size());
  Batch batch(jobs, options);
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back([&batch] { batch.work(); });
    batch.work();
  }
  batch.rethrow();
}

}  // namespace surety::lab
