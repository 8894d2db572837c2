// SPDX-License-Identifier: BSD-3-Clause
// Ends the program where a part of it stands still: its supervisor then starts it anew. Until it has, the
// programs in the kernel let no transit pass (router/linux/README.md).
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

// How long one has been standing, as seen by one who looks every `tick`. Where he was kept from looking
// himself, in a machine that was suspended or a process that was stopped, only two ticks of that time count;
// and where the one who is watched wants to run, only what he has run: nobody is to blame for a core that
// others have. Of a tick between wanting to run and sleeping nothing counts.
class StallWatch {
 public:
  StallWatch(Duration limit, Duration tick) : limit_(limit), most_(2 * tick) {}

  // `turns`: another number than before whenever the one who is watched has been at work. True: he has not,
  // for the limit. `ran`: for how long, in all; none where he sleeps or is stopped.
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

// Whether the service manager's watchdog is to be fed: once in `every`, and only where each of those who are
// watched has turned since it was fed last. For all that this process may notice of itself, it is the manager
// who ends one that does not.
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

// Looks after all of them on a thread of its own, from construction to destruction.
class Watchdog {
 public:
  static constexpr Duration kTick = std::chrono::milliseconds(100);
  static constexpr int kExitStatus = 2;
  struct Watched {
    std::string name;  // as the message has it: "worker 1 on core 2"
    Duration limit;
    std::function<std::uint64_t()> turns;
    std::function<pid_t()> thread;  // of this process; 0: it does not run
    bool feeds = false;             // its turns feed the service manager's watchdog, if it has one
  };
  // `stalled`: told once of each; end_program() where it is not a test.
  using Stalled = std::function<void(const std::string& message)>;
  explicit Watchdog(std::vector<Watched> watched, Stalled stalled = end_program);
  ~Watchdog();

  // Says it on standard error, where somebody takes it, and leaves at once: whoever stands may hold any lock.
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
