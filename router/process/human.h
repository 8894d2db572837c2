// SPDX-License-Identifier: BSD-3-Clause
// Numbers as an operator reads them: four significant digits and a unit.
// For tables only; machines get base units.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace surety::human {

std::string rate(double bytes_per_second);  // "30.79 Mbit/s"
std::string bytes(double bytes);            // "1.5 kB", powers of 1000
std::string duration(double seconds);       // "131.1 us", up to seconds
std::string elapsed(double seconds);        // "3 d 4 h", "5 min 2 s": the two largest units, rounded down
std::string percent(double ratio);          // "98.7 %"
std::string conformance(double ratio);      // "99.98 %", rounded down: 100 % is all of it
std::string ratio(double ratio);            // "0.38"
std::string list(std::span<const std::string_view> names);  // "edge1, edge2"

}  // namespace surety::human
