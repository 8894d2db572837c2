// SPDX-License-Identifier: BSD-3-Clause
// What a short file comes to, for tests of what its sections say.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "config/parse.h"

namespace surety::config {

// Parses version, one port `a` and `rest`; every diagnostic is a failure.
inline Config parsed(const std::string& rest, const std::string& ports = "ports: {a: {device: null}}\n") {
  const auto result = parse("version: 1\n" + ports + rest, "dir/f.yaml");
  for (const auto& d : result.diagnostics) {
    if (d.severity == Diagnostic::Severity::error) ADD_FAILURE() << d.format();
  }
  return result.config.value_or(Config{});
}

}  // namespace surety::config
