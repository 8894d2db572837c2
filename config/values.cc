// SPDX-License-Identifier: BSD-3-Clause
#include "config/values.h"

#include <fmt/format.h>

#include "config/address.h"
#include "config/names.h"
#include "config/text/problems.h"

namespace surety::config {
namespace {

constexpr bool allows_zero(const Ratio&) {
  return true;
}
constexpr bool allows_zero(const auto&) {
  return false;
}
bool is_zero(const Rate& r) {
  return r == Rate{};
}
bool is_zero(const Bytes& b) {
  return b == Bytes{};
}
bool is_zero(const Duration& d) {
  return d == Duration{};
}
bool is_zero(const Depth& d) {
  return d.count == 0;
}
bool is_zero(const Ratio& r) {
  return r == Ratio{};
}

template <class T>
bool read_quantity(const Node& node, std::string_view expected, Parsed<T> (*parse)(std::string_view), T& out,
                   Problems& problems) {
  const auto* text = text_of(node, expected, problems);
  if (!text) return false;
  const auto parsed = parse(*text);
  if (!parsed.value) {
    problems.error(node.mark, parsed.error);
    return false;
  }
  if (is_zero(*parsed.value) && !allows_zero(*parsed.value)) {
    problems.error(node.mark, fmt::format("{} must be more than 0", quote(*text)));
    return false;
  }
  out = *parsed.value;
  return true;
}

// For values that either parse or do not.
template <class T>
bool read_or(const Node& node, std::string_view expected, std::optional<T> (*parse)(std::string_view), T& out,
             Problems& problems) {
  const auto* text = text_of(node, expected, problems);
  if (!text) return false;
  const auto parsed = parse(*text);
  if (!parsed) {
    problems.error(node.mark, fmt::format("{} is not {}", quote(*text), expected));
    return false;
  }
  out = *parsed;
  return true;
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

template <class T>
bool read_name(const Node& node, std::string_view noun, std::optional<T> (*parse)(std::string_view),
               std::span<const std::string_view> names, T& out, Problems& problems) {
  const auto* text = text_of(node, noun, problems);
  if (!text) return false;
  const auto parsed = parse(*text);
  if (!parsed)
    problems.error(node.mark, fmt::format("{} is not {}{}", quote(*text), noun, hint(*text, names)));
  if (parsed) out = *parsed;
  return parsed.has_value();
}

}  // namespace

const std::string* text_of(const Node& node, std::string_view expected, Problems& problems) {
  if (node.kind == Node::Kind::scalar) return &node.text;
  problems.error(node.mark, fmt::format("expected {}", expected));
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
  const auto* text = text_of(node, "`on` or `off`", problems);
  if (!text) return false;
  const auto parsed = parse_flag(*text);
  if (!parsed.value) problems.error(node.mark, parsed.error);
  if (parsed.value) out = *parsed.value;
  return parsed.value.has_value();
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
  const auto* text = text_of(node, "a probability like `0.02` or `2 %`", problems);
  if (!text) return false;
  const auto parsed = parse_fraction(*text);
  if (!parsed.value) problems.error(node.mark, parsed.error);
  if (parsed.value) out = Probability(*parsed.value);
  return parsed.value.has_value();
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
  if (mac == MacAddress{} || mac[0] & 1) {
    problems.error(node.mark, fmt::format("{} is not the address of a single host", quote(node.text)));
    return false;
  }
  out = mac;
  return true;
}

bool read_dscp(const Node& node, Dscp& out, Problems& problems) {
  return read_name(node, "a DSCP", parse_dscp, dscp_names(), out, problems);
}
bool read_protocol(const Node& node, std::uint8_t& out, Problems& problems) {
  return read_name(node, "a protocol", parse_protocol, protocol_names(), out, problems);
}

bool read_integer(const Node& node, std::uint64_t min, std::uint64_t max, std::uint64_t& out,
                  Problems& problems) {
  const auto* text = text_of(node, fmt::format("a whole number from {} to {}", min, max), problems);
  if (!text) return false;
  const auto parsed = parse_integer(*text, min, max);
  if (!parsed.value) problems.error(node.mark, parsed.error);
  if (parsed.value) out = *parsed.value;
  return parsed.value.has_value();
}

bool read_packets(const Node* node, std::uint32_t min, std::uint32_t max, std::uint32_t& out,
                  Problems& problems) {
  const auto* text = node ? text_of(*node, "a number of packets like `100 packets`", problems) : nullptr;
  if (!text) return false;
  const auto parsed = parse_packets(*text);
  if (!parsed.value) {
    problems.error(node->mark, parsed.error);
    return false;
  }
  if (*parsed.value < min || *parsed.value > max) {
    problems.error(node->mark, fmt::format("{} is not from {} to {} packets", quote(*text), min, max));
    return false;
  }
  out = *parsed.value;
  return true;
}

bool read_masked(const Node* node, Prefix& out, Problems& problems) {
  Prefix p;
  if (!node || !read_value(*node, p, problems)) return false;
  out = p.masked();
  if (out != p) {
    problems.warning(node->mark,
                     fmt::format("{} has host bits set; taken as `{}`", quote(node->text), to_string(out)));
  }
  return true;
}

}  // namespace surety::config
