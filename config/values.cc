// SPDX-License-Identifier: BSD-3-Clause
#include "config/values.h"

#include <fmt/format.h>

#include <span>
#include <type_traits>

#include "config/address.h"
#include "config/names.h"
#include "config/text/problems.h"

namespace surety::config {
namespace {

template <class T>
bool is_zero(const T& x) {
  return x == T{};
}
bool is_zero(const Depth& d) {
  return d.count == 0;
}

template <class T>
bool set(T& out, const std::optional<T>& value) {
  if (value) out = *value;
  return value.has_value();
}

template <class T>
bool read_quantity(const Node& node, std::string_view expected, Parsed<T> (*parse)(std::string_view), T& out,
                   Problems& problems) {
  const auto value = value_of(node, expected, parse, problems);
  const bool forbidden = !std::is_same_v<T, Ratio> && value && is_zero(*value);
  if (forbidden) problems.error(node.mark, "{} must be more than 0", quote(node.text));
  return !forbidden && set(out, value);
}

// For values that either parse or do not; `names`: those that there are, if any.
template <class T>
bool read_or(const Node& node, std::string_view expected, std::optional<T> (*parse)(std::string_view), T& out,
             Problems& problems, std::span<const std::string_view> names = {}) {
  const auto* text = text_of(node, expected, problems);
  if (!text) return false;
  const auto value = parse(*text);
  if (!value)
    problems.error(node.mark, "{} is not {}{}", quote(*text), expected,
                   names.empty() ? "" : hint(*text, names));
  return set(out, value);
}

// `usual`, unless the text is an IPv4-mapped IPv6 address.
std::string_view expected_at(const Node& node, std::string_view usual) {
  return node.text.starts_with("::ffff:") ? "an accepted form of an IPv4 address: leave out `::ffff:`"
                                          : usual;
}

std::optional<Prefix> parse_prefix_or_host(std::string_view text) {
  if (const auto address = parse_address(text)) {
    return Prefix{*address, address->bits()};
  }
  return parse_prefix(text);
}

}  // namespace

const std::string* text_of(const Node& node, std::string_view expected, Problems& problems) {
  if (node.kind == Node::Kind::scalar) return &node.text;
  problems.error(node.mark, "expected {}", expected);
  return nullptr;
}

bool read_value(const Node& node, std::string& out, Problems& problems) {
  const auto* text = text_of(node, "a text", problems);
  if (!text) return false;
  if (text->empty()) problems.error(node.mark, "expected a text, this one is empty");
  out = *text;
  return !text->empty();
}

bool read_value(const Node& node, bool& out, Problems& problems) {
  return set(out, value_of(node, "`on` or `off`", parse_flag, problems));
}

bool read_value(const Node& node, Rate& out, Problems& problems) {
  return read_quantity(node, "a rate like `34 Mbit/s`", parse_rate, out, problems);
}
bool read_value(const Node& node, Bytes& out, Problems& problems) {
  return read_quantity(node, "a size like `10 kB`", parse_bytes, out, problems);
}
bool read_value(const Node& node, Duration& out, Problems& problems) {
  return read_quantity(node, "a duration like `30 ms`", parse_duration, out, problems);
}
bool read_value(const Node& node, Depth& out, Problems& problems) {
  return read_quantity(node, "a depth like `10 kB` or `100 packets`", parse_depth, out, problems);
}
bool read_value(const Node& node, Ratio& out, Problems& problems) {
  return read_quantity(node, "a ratio like `0.04` or `4 %`", parse_ratio, out, problems);
}

bool read_value(const Node& node, Probability& out, Problems& problems) {
  const auto value = value_of(node, "a probability like `0.02` or `2 %`", parse_fraction, problems);
  if (value) out = Probability(*value);
  return value.has_value();
}

bool read_value(const Node& node, IpAddress& out, Problems& problems) {
  return read_or(node, expected_at(node, "an IPv4 or IPv6 address"), parse_address, out, problems);
}
bool read_value(const Node& node, Prefix& out, Problems& problems) {
  return read_or(node, expected_at(node, "a prefix like `10.1.0.0/24` or `2001:db8::/32`"),
                 parse_prefix_or_host, out, problems);
}

bool read_value(const Node& node, MacAddress& out, Problems& problems) {
  MacAddress mac{};
  if (!read_or(node, "a MAC address like `02:00:00:00:00:01`", parse_mac, mac, problems)) return false;
  const bool single = mac != MacAddress{} && (mac[0] & 1) == 0;
  if (!single) problems.error(node.mark, "{} is not the address of a single host", quote(node.text));
  if (single) out = mac;
  return single;
}

bool read_dscp(const Node& node, Dscp& out, Problems& problems) {
  return read_or(node, "a DSCP", parse_dscp, out, problems, dscp_names());
}
bool read_protocol(const Node& node, std::uint8_t& out, Problems& problems) {
  return read_or(node, "a protocol", parse_protocol, out, problems, protocol_names());
}

bool read_integer(const Node& node, std::uint64_t min, std::uint64_t max, std::uint64_t& out,
                  Problems& problems) {
  const auto* text = text_of(node, fmt::format("a whole number from {} to {}", min, max), problems);
  if (!text) return false;
  const auto parsed = parse_integer(*text, min, max);
  if (!parsed.value) problems.error(node.mark, parsed.error);
  return set(out, parsed.value);
}

bool read_packets(const Node* node, std::uint32_t min, std::uint32_t max, std::uint32_t& out,
                  Problems& problems) {
  if (!node) return false;
  const auto n = value_of(*node, "a number of packets like `100 packets`", parse_packets, problems);
  const bool outside = n && (*n < min || *n > max);
  if (outside) problems.error(node->mark, "{} is not from {} to {} packets", quote(node->text), min, max);
  return !outside && set(out, n);
}

bool read_masked(const Node* node, Prefix& out, Problems& problems) {
  Prefix p;
  if (!node || !read_value(*node, p, problems)) return false;
  out = p.masked();
  if (out != p) {
    problems.warning(node->mark, "{} has host bits set; taken as `{}`", quote(node->text), to_string(out));
  }
  return true;
}

}  // namespace surety::config
