// SPDX-License-Identifier: BSD-3-Clause
// One value of a file -> one typed quantity, or an error at its place. All return whether `out` was set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "config/config.h"
#include "config/text/document.h"
#include "config/text/problems.h"
#include "config/text/quantity.h"

namespace surety::config {

// The text of a scalar; anything else is reported as "expected `expected`".
const std::string* text_of(const Node& node, std::string_view expected, Problems& problems);
// The value of a scalar, read by a parser of quantity.h; no value: reported.
template <class T>
std::optional<T> value_of(const Node& node, std::string_view expected, Parsed<T> (*parse)(std::string_view),
                          Problems& problems) {
  const auto* text = text_of(node, expected, problems);
  if (!text) return {};
  Parsed<T> parsed = parse(*text);
  if (!parsed.value) problems.error(node.mark, std::move(parsed.error));
  return parsed.value;
}

bool read_value(const Node& node, std::string& out, Problems& problems);  // not empty
bool read_value(const Node& node, bool& out, Problems& problems);
bool read_value(const Node& node, Rate& out, Problems& problems);  // above 0, as all of them but Ratio
bool read_value(const Node& node, Bytes& out, Problems& problems);
bool read_value(const Node& node, Duration& out, Problems& problems);
bool read_value(const Node& node, Depth& out, Problems& problems);
bool read_value(const Node& node, Ratio& out, Problems& problems);        // 0 allowed
bool read_value(const Node& node, Probability& out, Problems& problems);  // 0 allowed
bool read_value(const Node& node, IpAddress& out, Problems& problems);
bool read_value(const Node& node, Prefix& out, Problems& problems);  // an address alone is a host's prefix
bool read_value(const Node& node, MacAddress& out,
                Problems& problems);  // a neighbor's: not multicast, not zero
bool read_dscp(const Node& node, Dscp& out, Problems& problems);
bool read_protocol(const Node& node, std::uint8_t& out, Problems& problems);

template <class T>
bool read_value(const Node& node, std::optional<T>& out, Problems& problems) {
  T value{};
  if (!read_value(node, value, problems)) return false;
  out = value;
  return true;
}

bool read_integer(const Node& node, std::uint64_t min, std::uint64_t max, std::uint64_t& out,
                  Problems& problems);
template <class T>
bool read_integer(const Node* node, std::uint64_t min, std::uint64_t max, T& out, Problems& problems) {
  std::uint64_t value = 0;
  if (!node || !read_integer(*node, min, max, value, problems)) return false;
  out = static_cast<T>(value);  // T is an integer, or an optional one
  return true;
}
// `100 packets`, from min to max.
bool read_packets(const Node* node, std::uint32_t min, std::uint32_t max, std::uint32_t& out,
                  Problems& problems);

// A prefix for matching: host bits are reported (a warning) and cleared.
bool read_masked(const Node* node, Prefix& out, Problems& problems);

}  // namespace surety::config
