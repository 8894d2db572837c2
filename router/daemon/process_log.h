// SPDX-License-Identifier: BSD-3-Clause
// The log of this process: standard error. Sentences of spdlog and events (router/operate/observe/events.h)
// are its lines, in one form.
#pragma once

#include <atomic>

#include "config/config.h"
#include "router/operate/observe/events.h"

namespace surety {

class ProcessLog {
 public:
  // Routes spdlog's default logger into this log during its lifetime.
  ProcessLog();
  ~ProcessLog();
  ProcessLog(const ProcessLog&) = delete;
  ProcessLog& operator=(const ProcessLog&) = delete;

  void configure(const config::Log& log);
  EventLog& events() { return events_; }

 private:
  void write(const StampedEvent& e) const;

  const bool journal_;
  std::atomic<config::Log::Format> format_{};
  std::atomic<EventLevel> level_{EventLevel::info};
  EventLog events_;
};

}  // namespace surety
