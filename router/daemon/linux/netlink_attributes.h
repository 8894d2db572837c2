// SPDX-License-Identifier: BSD-3-Clause
// Attributes of netlink messages (netlink(7)), read at any alignment and never outside the given bytes.
#pragma once

#include <linux/netlink.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace surety::netlink {

using Span = std::span<const std::uint8_t>;

constexpr std::size_t align4(std::size_t n) {
  return (n + 3) & ~std::size_t{3};
}
inline Span behind(Span bytes, std::size_t n) {
  return bytes.subspan(std::min(bytes.size(), align4(n)));
}

// The bytes' first sizeof(T), which need not be aligned; none if there are fewer.
template <class T>
std::optional<T> read(Span bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

// Calls f(type, payload) for each attribute, up to the first that does not fit. True if all do.
template <class F>
bool for_each_attribute(Span bytes, F&& f) {
  while (const auto attribute = read<nlattr>(bytes)) {
    if (attribute->nla_len < sizeof(nlattr) || attribute->nla_len > bytes.size()) return false;
    f(attribute->nla_type & NLA_TYPE_MASK,
      bytes.subspan(sizeof(nlattr), attribute->nla_len - sizeof(nlattr)));
    bytes = behind(bytes, attribute->nla_len);
  }
  return bytes.empty();
}

}  // namespace surety::netlink
