// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/events.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace surety {
namespace {

constexpr std::string_view kCut = "...";

// Shortens the text to `most` bytes, at the border of a UTF-8 character.
void cut(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  std::size_t end = most - kCut.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  text += kCut;
}

void cut(Event& event) {
  cut(event.text, EventLog::kMaxText);
  if (!event.fields.is_object()) return;
  while (event.fields.size() > EventLog::kMaxFields) event.fields.erase(std::prev(event.fields.end()));
  for (auto& field : event.fields)
    if (field.is_string()) cut(field.get_ref<std::string&>(), EventLog::kMaxField);
}

}  // namespace

std::string_view name(EventLevel level) {
  constexpr std::array<std::string_view, 5> kNames{"error", "warning", "notice", "info", "debug"};
  return kNames[static_cast<std::size_t>(level) - static_cast<std::size_t>(EventLevel::error)];
}

std::string one_line(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (!line.empty() && line.front() != ' ') all.append(all.empty() ? "" : "; ").append(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::string iso_time(UnixTime t) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(t);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(whole)),
                     (t - whole).count());
}

EventLog::EventLog(Clock clock, Write write) : clock_(std::move(clock)), write_(std::move(write)) {
  const Time now = clock_().now;
  for (std::size_t k = 0; k < limits_.size(); ++k) {
    const bool line = static_cast<EventKind>(k) == EventKind::log;
    limits_[k].params = {Rate::bytes_per_second(line ? kLinesPerSecond : kPerSecond),
                         Depth::bytes(line ? kLinesAtOnce : kAtOnce)};
    limits_[k].bucket.reset(limits_[k].params, now);
  }
}

void EventLog::add(Event event) {
  cut(event);
  const std::scoped_lock lock(mutex_);
  const EventTime time = clock_();
  Limit& limit = limits_[static_cast<std::size_t>(event.kind)];
  // An event after skipped ones is preceded by a line with their number.
  if (!permit(limit, limit.left_out > 0 ? 2 : 1, time.now)) {
    ++limit.left_out;
    return;
  }
  tell_left_out(limit, event.kind, time);
  take(std::move(event), time);
}

void EventLog::settle() {
  const std::scoped_lock lock(mutex_);
  const EventTime time = clock_();
  for (std::size_t k = 0; k < limits_.size(); ++k)
    if (limits_[k].left_out > 0 && permit(limits_[k], 1, time.now))
      tell_left_out(limits_[k], static_cast<EventKind>(k), time);
}

bool EventLog::permit(Limit& limit, std::uint32_t lines, Time now) {
  limit.bucket.fill(limit.params, now);
  const Credit wanted = limit.params.cost(lines);
  const bool permitted = limit.bucket.can_take(limit.params, wanted);
  if (permitted) limit.bucket.charge(wanted);
  return permitted;
}

void EventLog::tell_left_out(Limit& limit, EventKind kind, const EventTime& time) {
  const std::uint64_t n = std::exchange(limit.left_out, 0);
  if (n == 0) return;
  take({EventLevel::warning,
        kind,
        fmt::format("{} more events of kind {} omitted: they came too fast", n, name(kind)),
        {{"left_out", n}}},
       time);
}

void EventLog::take(Event event, const EventTime& time) {
  const bool keep = event.kind != EventKind::log || event.level <= EventLevel::warning;
  const StampedEvent stamped{std::move(event), time, taken_ += keep};
  write_(stamped);
  if (!keep) return;
  kept_.push_back(stamped);
  if (kept_.size() <= kKept) return;
  kept_.pop_front();
  ++forgotten_;
}

Json EventLog::rows() const {
  const std::scoped_lock lock(mutex_);
  const Time now = clock_().now;
  Json rows = Json::array();
  for (const StampedEvent& e : kept_)
    rows.push_back({{"number", e.number},
                    {"time", iso_time(e.time.wall)},
                    {"age_seconds", seconds(now - e.time.now)},
                    {"level", name(e.event.level)},
                    {"kind", name(e.event.kind)},
                    {"text", e.event.text},
                    {"fields", e.event.fields.is_object() ? e.event.fields : Json::object()}});
  return rows;
}

std::uint64_t EventLog::forgotten() const {
  const std::scoped_lock lock(mutex_);
  return forgotten_;
}

namespace {

// Bytes of the character of UTF-8 at the beginning; 0: it is none that may be printed.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x20 || lead == 0x7f) return 0;
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Control characters beyond ASCII (U+0080 to U+009F), and the separators of lines and paragraphs.
  if (lead == 0xc2 && byte(1) < 0xa0) return 0;
  return text.starts_with("\u2028") || text.starts_with("\u2029") ? 0 : size;
}

std::string json_line(const StampedEvent& e) {
  const Json line = {{"time", iso_time(e.time.wall)},
                     {"level", name(e.event.level)},
                     {"kind", name(e.event.kind)},
                     {"text", e.event.text},
                     {"fields", e.event.fields.is_object() ? e.event.fields : Json::object()}};
  return line.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace

std::string printable(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; })) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const std::size_t size = character(text);
    if (size > 0)
      result += text.substr(0, size);
    else if (text[0] == '\n')
      result += "\\n";
    else
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

std::string log_line(const StampedEvent& e, config::Log::Format format, bool journal) {
  const std::string level = journal ? fmt::format("<{}>", static_cast<int>(e.event.level)) : "";
  if (format == config::Log::Format::json) return level + json_line(e) + '\n';
  const std::string text = printable(e.event.text);
  if (journal) return fmt::format("{}{}\n", level, text);
  return fmt::format("{} surety: {}: {}\n", iso_time(e.time.wall), name(e.event.level), text);
}

}  // namespace surety
