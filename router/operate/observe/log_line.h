// SPDX-License-Identifier: BSD-3-Clause
// Renders an event as one line of the process's log, with newline.
//
// Outside the journal with a time stamp; in it with its level's prefix, `<4>`, since the journal has a clock
// of its own (sd-daemon(3)). As text
//   2026-11-24T13:22:11.123Z surety: warning: port wan0: link down
// or as JSON: {"time", "level", "kind", "text", "fields"}. No event can break the line or control a terminal:
// control characters and invalid UTF-8 are escaped (`\n`, `\x1b`).
#pragma once

#include <string>
#include <string_view>

#include "router/operate/observe/events.h"

namespace surety {

std::string log_line(const StampedEvent& e, config::Log::Format format, bool journal);

// Escapes control characters.
std::string printable(std::string_view text);

}  // namespace surety
