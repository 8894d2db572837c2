// SPDX-License-Identifier: BSD-3-Clause
// The table that `surety-endpoint run` redraws each second on a terminal:
// a row per line of YAML and per sink.
#pragma once

#include <cstddef>
#include <string>

#include "endpoints/dpdk/endpoint_reading.h"

namespace surety::endpoints {

// Rows beyond `rows` (title and header included) are left out; a last line says how many.
std::string live_text(const EndpointReading& reading, std::size_t rows);

// Draws each text over the one before, by ANSI controls.
class LiveTable {
 public:
  // Output for the terminal that replaces the last text by `text`, each of whose lines ends with a newline,
  // none wider than the terminal.
  std::string draw(const std::string& text);

 private:
  std::size_t drawn_ = 0;  // lines on the terminal
};

// Cuts every line to `columns` characters.
std::string clipped(const std::string& text, std::size_t columns);

}  // namespace surety::endpoints
