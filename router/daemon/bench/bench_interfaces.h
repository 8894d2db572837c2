// SPDX-License-Identifier: BSD-3-Clause
// The two-tag interfaces of paths of `surety bench`: their number, and the tags of each.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>

namespace surety {

// Interfaces with the same outer tag are one definition, a template.
struct BenchInterfaces {
  static constexpr std::uint32_t kMostPerTag = 4000, kMost = 16 * kMostPerTag, kGroups = 8;

  std::uint32_t count = 0;  // 0: none, untagged
  std::uint32_t per_tag = kMostPerTag;
  std::uint32_t outer(std::uint32_t interface) const { return 100 + interface / per_tag; }
  std::uint32_t inner(std::uint32_t interface) const { return 1 + interface % per_tag; }
  friend auto operator<=>(const BenchInterfaces&, const BenchInterfaces&) = default;
};

inline bool is_access(const std::string& path) {
  return path.starts_with("access");
}
inline bool is_below(const std::string& path) {
  return path.starts_with("below");
}
// Customers' interfaces that packets of two classes leave by, with queues of their own or without.
inline bool has_customers(const std::string& path) {
  return path.starts_with("flat") || is_below(path);
}
inline bool by_one(const std::string& path) {
  return path.ends_with("-one");
}
// One interface per flow or per two flows, up to the maximum; customers' interfaces in groups of equal size.
inline BenchInterfaces bench_interfaces(const std::string& path, std::uint32_t flows) {
  if (is_access(path)) return {std::min(flows, BenchInterfaces::kMost)};
  if (!has_customers(path)) return {};
  const std::uint32_t count = std::clamp(flows / 2, 4 * BenchInterfaces::kGroups, BenchInterfaces::kMost);
  const std::uint32_t of_group = (count + BenchInterfaces::kGroups - 1) / BenchInterfaces::kGroups;
  return {count, std::min(of_group, BenchInterfaces::kMostPerTag)};
}

}  // namespace surety
