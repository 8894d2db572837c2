// SPDX-License-Identifier: BSD-3-Clause
// What happens to a router, as it happens: the one way into its log, and the last of it in memory for
// `surety show events`.
//
// Any thread may add. An event is one line (log_line.h), whatever names are in it. Of each kind only so many
// a second are taken, kAtOnce at once; what was left out is counted, and said as soon as there is room again.
// The order is that of adding, and age that of a monotonic clock: a wall clock that is set back shows in
// `time` alone.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "conditioners/token_bucket.h"
#include "config/config.h"
#include "router/observe/reading_json.h"
#include "router/signals/unix_time.h"

namespace surety {

using EventLevel = config::Log::Level;
std::string_view name(EventLevel level);

enum class EventKind : std::uint8_t {
  log,  // a sentence of no other kind; in memory from `warning` on
  start,
  stop,
  link,
  neighbor,  // of a gateway
  reload,
  promise_missed,
  promise_kept,
  table_full,
  attack_limited,
};
inline constexpr std::array<std::string_view, 10> kEventKindNames{
    "log",    "start",          "stop",         "link",       "neighbor",
    "reload", "promise_missed", "promise_kept", "table_full", "attack_limited"};
constexpr std::string_view name(EventKind kind) {
  return kEventKindNames[static_cast<std::size_t>(kind)];
}

struct Event {
  EventLevel level = EventLevel::info;
  EventKind kind = EventKind::log;
  std::string text{};  // one sentence, which says all that `fields` does
  Json fields{};       // for programs: an object of strings, numbers and booleans; null: nothing
};

// The lines of an error as one, without those that quote a file, which are indented.
std::string one_line(std::string_view text);

struct EventTime {
  Time now{};       // monotonic
  UnixTime wall{};  // for people
};
std::string iso_time(UnixTime t);  // "2026-11-24T13:22:11.123Z"

struct StampedEvent {
  Event event;
  EventTime time;
  std::uint64_t number = 0;  // 1, 2, ...
};

class EventLog {
 public:
  static constexpr std::size_t kKept = 1000;
  static constexpr std::uint32_t kAtOnce = 100, kPerSecond = 10;
  // Sentences of no kind: of a configuration with many faults, say.
  static constexpr std::uint32_t kLinesAtOnce = 2000, kLinesPerSecond = 100;
  // Bytes of the text, of a field's, and fields; what is longer is cut off, and ends in "...".
  static constexpr std::size_t kMaxText = 4000, kMaxField = 200, kMaxFields = 16;

  using Clock = std::function<EventTime()>;
  // Called by whoever adds, one at a time; the event has been cut to size.
  using Write = std::function<void(const StampedEvent&)>;
  EventLog(Clock clock, Write write);

  void add(Event event);
  // Once a second: says what has been left out.
  void settle();
  // Rows of the table `events`, oldest first.
  Json rows() const;
  std::uint64_t forgotten() const;  // that were in memory once

 private:
  struct Limit {
    TokenBucketParams params;
    TokenBucket bucket;
    std::uint64_t left_out = 0;
  };
  static bool permit(Limit& limit, std::uint32_t lines, Time now);
  void tell_left_out(Limit& limit, EventKind kind, const EventTime& time);
  void take(Event event, const EventTime& time);

  const Clock clock_;
  const Write write_;
  mutable std::mutex mutex_;  // of what follows
  std::array<Limit, kEventKindNames.size()> limits_;
  std::deque<StampedEvent> kept_;
  std::uint64_t taken_ = 0, forgotten_ = 0;
};

}  // namespace surety
