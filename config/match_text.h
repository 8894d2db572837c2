// SPDX-License-Identifier: BSD-3-Clause
// The fields of a packet as given on a command line: `source=10.1.0.1`, `protocol=udp`.
//
// Words and messages are those of a filter's `match`.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "config/config.h"

namespace surety::config {

using Field = std::pair<std::string, std::string>;

// `name=value` apart; without a `=` the value is empty.
Field field_of(const std::string& text);

struct MatchText {
  Match match;
  std::string error;  // one sentence; empty: no error
};
MatchText parse_fields(std::span<const Field> fields);

}  // namespace surety::config
