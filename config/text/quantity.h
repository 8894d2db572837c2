// SPDX-License-Identifier: BSD-3-Clause
// Quantities as people write them: `34 Mbit/s`, `10 kB`, `30 ms`, `100 packets`, `4 %`.
//
// Guarantees: decimal fractions are exact in integers (`1.5 kbit/s` is 1500 bit/s),
// rounded half up in the last unit; a number without its unit, a negative one and one
// beyond the range are errors that say what to write instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "conditioners/units.h"

namespace surety::config {

template <class T>
struct Parsed {
  std::optional<T> value;
  std::string error;  // a message without position; empty when there is a value
};

inline constexpr Rate kMaxRate = Rate::bits_per_second(1'000'000'000'000);

std::string rate_text(Rate rate);  // `34 Mbit/s`, in the largest unit of which it is a whole number

Parsed<Rate> parse_rate(std::string_view text);          // bit/s b/s B/s with k, M, G, T; at most kMaxRate
Parsed<Bytes> parse_bytes(std::string_view text);        // B kB MB GB KiB MiB GiB; at most 1 TB
Parsed<Duration> parse_duration(std::string_view text);  // ns us ms s min h; at most 1000 h
// A duration in an option of a command: also `5m` for minutes, which in a file may be a slip for `5 ms`.
Parsed<Duration> parse_time(std::string_view text);
Parsed<std::uint32_t> parse_packets(std::string_view text);  // `1 packet`, `100 packets`
Parsed<Depth> parse_depth(std::string_view text);            // bytes or packets
Parsed<double> parse_fraction(std::string_view text);        // `0.04` or `4 %`; at most 1
Parsed<Ratio> parse_ratio(std::string_view text);            // in whole millionths; at most 10
Parsed<double> parse_number(std::string_view text);          // plain decimal, not negative
Parsed<std::uint64_t> parse_integer(std::string_view text, std::uint64_t min, std::uint64_t max);
Parsed<bool> parse_flag(std::string_view text);  // on off true false yes no, as YAML 1.1 has them

}  // namespace surety::config
