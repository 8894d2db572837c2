// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/watchdog.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "router/daemon/ports/clock.h"
#include "router/process/service_manager.h"

namespace surety {

namespace {

constexpr int kFeedings = 4;  // within the manager's patience: one or two may be late

// proc(5): the state follows the name, the CPU times are the 14th and 15th field. nullopt: it sleeps or is
// stopped.
std::optional<Duration> ran(pid_t thread) {
  const std::string path = fmt::format("/proc/self/task/{}/stat", thread);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "r"), std::fclose);
  std::array<char, 1024> text{};
  if (!file || std::fread(text.data(), 1, text.size() - 1, file.get()) == 0) return {};
  const std::size_t name = std::string_view(text.data()).rfind(')');
  char state = 0;
  long user = 0, system = 0;
  if (name == std::string_view::npos ||
      // The kernel writes numbers. NOLINTNEXTLINE(cert-err34-c)
      std::sscanf(&text[name + 1], " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &state, &user,
                  &system) != 3 ||
      state != 'R')
    return {};
  return std::chrono::duration_cast<Duration>(std::chrono::seconds(user + system)) / ::sysconf(_SC_CLK_TCK);
}

}  // namespace

Watchdog::Watchdog(std::vector<Watched> watched, Stalled stalled)
    : watched_(std::move(watched)), stalled_(std::move(stalled)), thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  stop_asked_.notify_one();
  thread_.join();
}

// Reports nothing while a thread does not run, before the router forwards and when it ends: the manager does
// not watch then.
void Watchdog::feed(Feeding& feeding, Time now) const {
  std::vector<std::uint64_t> turns;
  for (const Watched& w : watched_) {
    if (!w.feeds) continue;
    if (w.thread() == 0) return;
    turns.push_back(w.turns());
  }
  if (feeding.due(std::move(turns), now)) ServiceManager::alive();
}

void Watchdog::run() {
  const TscClock clock;
  std::vector<StallWatch> watches;
  for (const Watched& w : watched_) watches.emplace_back(w.limit, kTick);
  std::vector<bool> told(watched_.size());
  std::optional<Feeding> feeding;
  if (const auto patience = ServiceManager::patience()) feeding.emplace(*patience / kFeedings);
  std::unique_lock lock(mutex_);
  while (!stop_asked_.wait_for(lock, kTick, [this] { return stop_; })) {
    if (feeding) feed(*feeding, clock.now());
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      const pid_t thread = watched_[i].thread();
      if (thread == 0) continue;
      // Turns are read before the clock: time that other processes use the core in between is not counted as
      // a stall.
      const std::uint64_t turns = watched_[i].turns();
      const bool stands = watches[i].look(turns, clock.now(), ran(thread));
      if (stands && !told[i])
        stalled_(fmt::format("{} has made no progress for {:.3g} s", watched_[i].name,
                             seconds(watched_[i].limit)));
      told[i] = stands;
    }
  }
}

void Watchdog::end_program(const std::string& message) {
  const std::string line =
      "surety: error: " + message + "; this router ends, so that its supervisor restarts it\n";
  pollfd standard_error{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&standard_error, 1, 100) == 1 && (standard_error.revents & POLLOUT) != 0) [[maybe_unused]]
    const auto n = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(kExitStatus);
}

}  // namespace surety
