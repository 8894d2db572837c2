// SPDX-License-Identifier: BSD-3-Clause
// Ends the program when a thread of it stalls: its supervisor then starts it again. Meanwhile the programs in
// the kernel pass no transit traffic (router/daemon/linux/README.md).
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "conditioners/units.h"

namespace surety {

// Measures how long a thread has been stalled, sampled every `tick`. If the sampling itself was delayed, in a
// suspended machine or a stopped process, at most two ticks count. While the thread is runnable only its CPU
// time counts, so that a core used by others is no stall. A tick in which it changes between runnable and
// sleeping does not count.
class StallWatch {
 public:
  StallWatch(Duration limit, Duration tick) : limit_(limit), most_(2 * tick) {}

  // `turns`: a number that changes whenever the thread has worked. `ran`: its total CPU time; nullopt while
  // it sleeps or is stopped. Returns true if it has not worked for the limit.
  bool look(std::uint64_t turns, Time now, std::optional<Duration> ran = {}) {
    const bool at_work = turns != turns_ || !looked_;
    Duration more = std::min(now - last_, most_);
    if (ran.has_value() != ran_.has_value()) more = Duration{0};
    if (ran && ran_) more = std::min(more, *ran - *ran_);
    standing_ = at_work ? Duration{0} : standing_ + more;
    turns_ = turns;
    last_ = now;
    ran_ = ran;
    looked_ = true;
    return standing_ >= limit_;
  }

 private:
  Duration limit_, most_, standing_{0};
  std::uint64_t turns_ = 0;
  Time last_{};
  std::optional<Duration> ran_;
  bool looked_ = false;
};

// True when the service manager's watchdog is due: once in `every`, and only if each watched thread has
// turned since the last time. The manager ends a process that stays silent, also for reasons that the process
// cannot notice itself.
class Feeding {
 public:
  explicit Feeding(Duration every) : every_(every) {}

  bool due(std::vector<std::uint64_t> turns, Time now) {
    if (now < next_ || turns.empty()) return false;
    for (std::size_t i = 0; i < fed_.size(); ++i)
      if (turns[i] == fed_[i]) return false;
    fed_ = std::move(turns);
    next_ = now + every_;
    return true;
  }

 private:
  const Duration every_;
  Time next_{};
  std::vector<std::uint64_t> fed_;
};

// Watches all threads from a thread of its own, from construction to destruction.
class Watchdog {
 public:
  static constexpr Duration kTick = std::chrono::milliseconds(100);
  static constexpr int kExitStatus = 2;
  struct Watched {
    std::string name;  // name in the message: "worker 1 on core 2"
    Duration limit;
    std::function<std::uint64_t()> turns;
    std::function<pid_t()> thread;  // ID of a thread of this process; 0: not running
    bool feeds = false;             // turns count for the service manager's watchdog, if there is one
  };
  // `stalled`: called once per stalled thread; end_program() except in tests.
  using Stalled = std::function<void(const std::string& message)>;
  explicit Watchdog(std::vector<Watched> watched, Stalled stalled = end_program);
  ~Watchdog();

  // Reports on standard error if it can be written, and exits at once: the stalled thread may hold any lock.
  [[noreturn]] static void end_program(const std::string& message);

 private:
  void run();
  void feed(Feeding& feeding, Time now) const;

  const std::vector<Watched> watched_;
  const Stalled stalled_;
  std::mutex mutex_;
  std::condition_variable stop_asked_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace surety
