// SPDX-License-Identifier: BSD-3-Clause
// The events of a router: the only way into its log, with the latest in memory for `surety show events`.
//
// Any thread may add. An event is one line (log_line()), whatever names are in it. Each kind is limited to
// kPerSecond, kAtOnce at once; skipped events are counted, and their number is logged as soon as possible.
// Events are ordered by addition, and age is from a monotonic clock: setting the wall clock back changes
// `time` only.
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
#include "router/operate/observe/reading_json.h"
#include "router/pipeline/signals/unix_time.h"

namespace surety {

using EventLevel = config::Log::Level;
std::string_view name(EventLevel level);

enum class EventKind : std::uint8_t {
  log,  // a sentence of no other kind; in memory from `warning` on
  start,
  stop,
  link,
  neighbor,  // a gateway's
  reload,
  promise_missed,
  promise_kept,
  table_full,
  attack_limited,
  unsupported_route,
  unfollowed_rule,
};
inline constexpr std::array<std::string_view, 12> kEventKindNames{"log",
                                                                  "start",
                                                                  "stop",
                                                                  "link",
                                                                  "neighbor",
                                                                  "reload",
                                                                  "promise_missed",
                                                                  "promise_kept",
                                                                  "table_full",
                                                                  "attack_limited",
                                                                  "unsupported_route",
                                                                  "unfollowed_rule"};
constexpr std::string_view name(EventKind kind) {
  return kEventKindNames[static_cast<std::size_t>(kind)];
}

struct Event {
  EventLevel level = EventLevel::info;
  EventKind kind = EventKind::log;
  std::string text{};  // one sentence, with the content of all `fields`
  Json fields{};       // for programs: an object of strings, numbers and booleans; null: none
};

// Joins the lines of an error, without indented ones, which quote a file.
std::string one_line(std::string_view text);

struct EventTime {
  Time now{};       // monotonic
  UnixTime wall{};  // time of day
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
  // Kind `log`: e.g. a configuration with many errors.
  static constexpr std::uint32_t kLinesAtOnce = 2000, kLinesPerSecond = 100;
  // Limits: bytes of a text, bytes of a field, fields; longer ones are truncated and end in "...".
  static constexpr std::size_t kMaxText = 4000, kMaxField = 200, kMaxFields = 16;

  using Clock = std::function<EventTime()>;
  // Called by the adding thread, one at a time; the event is within the limits.
  using Write = std::function<void(const StampedEvent&)>;
  EventLog(Clock clock, Write write);

  void add(Event event);
  // Logs the number of skipped events; called once a second.
  void settle();
  // Rows of the table `events`, oldest first.
  Json rows() const;
  std::uint64_t forgotten() const;  // events that have been in memory and were displaced

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
  mutable std::mutex mutex_;  // guards the members below
  std::array<Limit, kEventKindNames.size()> limits_;
  std::deque<StampedEvent> kept_;
  std::uint64_t taken_ = 0, forgotten_ = 0;
};

// Renders an event as one line of the process's log, with newline.
//
// Outside the journal with a time stamp; in it with its level's prefix, `<4>`, since the journal has a clock
// of its own (sd-daemon(3)). As text
//   2026-11-24T13:22:11.123Z surety: warning: port wan0: link down
// or as JSON: {"time", "level", "kind", "text", "fields"}. No event can break the line or control a terminal:
// control characters and invalid UTF-8 are escaped (`\n`, `\x1b`).
std::string log_line(const StampedEvent& e, config::Log::Format format, bool journal);

// Escapes control characters.
std::string printable(std::string_view text);

}  // namespace surety
