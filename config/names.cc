// SPDX-License-Identifier: BSD-3-Clause
#include "config/names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace surety::config {
namespace {

struct Named {
  std::string_view name;
  std::uint8_t number;
};

// Where two names share a number, the first is the one that is printed.
constexpr std::array kDscps{
    Named{"BE", 0},    Named{"DF", 0},    Named{"CS0", 0},   Named{"LE", 1},    Named{"CS1", 8},
    Named{"AF11", 10}, Named{"AF12", 12}, Named{"AF13", 14}, Named{"CS2", 16},  Named{"AF21", 18},
    Named{"AF22", 20}, Named{"AF23", 22}, Named{"CS3", 24},  Named{"AF31", 26}, Named{"AF32", 28},
    Named{"AF33", 30}, Named{"CS4", 32},  Named{"AF41", 34}, Named{"AF42", 36}, Named{"AF43", 38},
    Named{"CS5", 40},  Named{"VA", 44},   Named{"EF", 46},   Named{"CS6", 48},  Named{"CS7", 56},
};
constexpr std::array kProtocols{
    Named{"tcp", 6},    Named{"udp", 17},       Named{"dccp", 33}, Named{"icmp", 1}, Named{"icmpv6", 58},
    Named{"sctp", 132}, Named{"udp-lite", 136}, Named{"gre", 47},  Named{"esp", 50}, Named{"ah", 51},
};

template <std::size_t N>
constexpr std::array<std::string_view, N> names_of(const std::array<Named, N>& table) {
  std::array<std::string_view, N> names;
  for (std::size_t i = 0; i < N; ++i) names[i] = table[i].name;
  return names;
}
constexpr auto kDscpNames = names_of(kDscps);
constexpr auto kProtocolNames = names_of(kProtocols);

std::optional<std::uint8_t> lookup(std::span<const Named> table, std::string_view text, unsigned max) {
  const auto* found =
      std::find_if(table.data(), table.data() + table.size(), [&](auto& n) { return n.name == text; });
  if (found != table.data() + table.size()) return found->number;
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > max) return {};
  return static_cast<std::uint8_t>(number);
}

}  // namespace

std::optional<Dscp> parse_dscp(std::string_view text) {
  return lookup(kDscps, text, 63);
}
std::span<const std::string_view> dscp_names() {
  return kDscpNames;
}

std::string dscp_name(Dscp d) {
  const auto* found = std::find_if(kDscps.begin(), kDscps.end(), [&](auto& n) { return n.number == d; });
  return found != kDscps.end() ? std::string(found->name) : std::to_string(d);
}

std::optional<std::uint8_t> parse_protocol(std::string_view text) {
  return lookup(kProtocols, text, 255);
}
std::span<const std::string_view> protocol_names() {
  return kProtocolNames;
}

bool has_ports(std::uint8_t protocol) {
  return protocol == 6 || protocol == 17 || protocol == 33 || protocol == 132;
}

}  // namespace surety::config
