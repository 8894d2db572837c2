// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/process_log.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "router/daemon/time_of_day.h"
#include "router/operate/observe/events.h"

namespace surety {

namespace {

EventTime now() {
  using namespace std::chrono;
  return {Time(duration_cast<Duration>(steady_clock::now().time_since_epoch())), time_of_day()};
}

// The journal's pipe is identified by the environment (systemd.exec(5)): standard error may lead elsewhere.
bool is_journal() {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat s {};
  return stream != nullptr && ::fstat(STDERR_FILENO, &s) == 0 &&
         fmt::format("{}:{}", s.st_dev, s.st_ino) == stream;
}

EventLevel level_of(spdlog::level::level_enum level) {
  if (level >= spdlog::level::err) return EventLevel::error;
  if (level == spdlog::level::warn) return EventLevel::warning;
  return level == spdlog::level::info ? EventLevel::info : EventLevel::debug;
}

spdlog::level::level_enum level_of(EventLevel level) {
  if (level == EventLevel::error) return spdlog::level::err;
  if (level == EventLevel::debug) return spdlog::level::debug;
  // Warnings are kept in memory at any log level.
  return level == EventLevel::info ? spdlog::level::info : spdlog::level::warn;
}

// Failures are reported by the callers of libbpf.
int tell_developers(libbpf_print_level, const char* format, va_list arguments) {
  if (!spdlog::should_log(spdlog::level::debug)) return 0;
  std::array<char, 512> line{};
  const int n = std::vsnprintf(line.data(), line.size(), format, arguments);
  const std::string_view text(line.data());
  spdlog::debug("{}", text.substr(0, text.find_last_not_of('\n') + 1));
  return n;
}

class ToEvents : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit ToEvents(EventLog& events) : events_(events) {}

 private:
  void sink_it_(const spdlog::details::log_msg& m) override {
    events_.add({level_of(m.level), EventKind::log, {m.payload.data(), m.payload.size()}, {}});
  }
  void flush_() override {}

  EventLog& events_;
};

}  // namespace

ProcessLog::ProcessLog() : journal_(is_journal()), events_(now, [this](const auto& e) { write(e); }) {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("surety", std::make_shared<ToEvents>(events_)));
  libbpf_set_print(tell_developers);
}

ProcessLog::~ProcessLog() {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(""));
}

void ProcessLog::configure(const config::Log& log) {
  format_ = log.format;
  level_ = log.level;
  spdlog::set_level(level_of(log.level));
}

void ProcessLog::write(const StampedEvent& e) const {
  if (e.event.level > level_) return;
  const std::string line = log_line(e, format_, journal_);
  for (std::string_view left = line; !left.empty();) {
    const ssize_t n = ::write(STDERR_FILENO, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // there is no reader
    left.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace surety
