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

// One customer port `a` of MTU 2000, one core port `b`, more of them, and `rest`; every diagnostic is a
// failure.
inline Config on_two_ports(const std::string& rest, const std::string& more = "") {
  const auto result = parse(
      "version: 1\nports:\n  a: {device: null, mtu: 2000}\n  b: {device: null, trust: core, addresses: "
      "[10.2.0.1/24]}\n" +
          more + rest,
      "f.yaml");
  for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
  return result.config.value_or(Config{});
}

}  // namespace surety::config
