// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench_routes.h"

#include <array>
#include <cassert>

#include "conditioners/rng.h"

namespace surety {

namespace {

struct Share {
  std::uint8_t length;
  std::uint32_t percent;
};
constexpr std::array<Share, 9> kShares4{
    {{24, 61}, {23, 10}, {22, 12}, {21, 5}, {20, 5}, {19, 3}, {18, 2}, {17, 1}, {16, 1}}};
constexpr std::array<Share, 6> kShares6{{{48, 47}, {32, 14}, {44, 13}, {40, 11}, {36, 8}, {46, 7}}};

template <std::size_t N>
std::uint8_t draw(const std::array<Share, N>& shares, Rng& rng) {
  std::uint32_t percent = rng.next() % 100;
  for (const Share& s : shares) {
    if (percent < s.percent) return s.length;
    percent -= s.percent;
  }
  return shares[0].length;
}

Prefix prefix4(std::uint32_t address, std::uint8_t length) {
  return {IpAddress::v4(__builtin_bswap32(address)), length};
}

// `high`: the first 64 bits.
Prefix prefix6(std::uint64_t high, std::uint8_t length) {
  return {{__builtin_bswap64(high), 0}, length};
}

// True for 1.0.0.0/8 to 223.0.0.0/8 without unroutable ranges, the feed's sources and the edge's routes.
bool usable(std::uint32_t address) {
  const std::uint32_t first = address >> 24;
  return first != 10 && first != 16 && first != 127 && first != 169 && first != 172 && first != 192;
}

// Adjacent prefixes, each at the next address aligned to its length.
std::vector<Prefix> core4() {
  std::vector<Prefix> routes;
  Rng rng(11);
  std::uint64_t next = 1u << 24;
  while (routes.size() < kCoreRoutes4) {
    const std::uint8_t length = draw(kShares4, rng);
    const std::uint64_t size = std::uint64_t{1} << (32 - length);
    next = (next + size - 1) / size * size;
    if (!usable(static_cast<std::uint32_t>(next))) {
      next = (next >> 24 << 24) + (1u << 24);
      continue;
    }
    assert(next + size <= std::uint64_t{224} << 24);
    routes.push_back(prefix4(static_cast<std::uint32_t>(next), length));
    next += size;
  }
  return routes;
}

// Spread over 2a00::/8, longer ones within shorter ones among them.
std::vector<Prefix> core6() {
  std::vector<Prefix> routes;
  Rng rng(12);
  for (std::uint32_t i = 0; i < kCoreRoutes6; ++i) {
    const std::uint8_t length = draw(kShares6, rng);
    const std::uint64_t spread = std::uint64_t{i * 2654435761u} << 24 | rng.next() >> 8;
    routes.push_back(prefix6(std::uint64_t{0x2a} << 56 | spread >> (64 - length) << (64 - length), length));
  }
  return routes;
}

}  // namespace

std::vector<Prefix> edge_routes(bool v6) {
  std::vector<Prefix> routes;
  for (std::uint32_t i = 0; i < kEdgeRoutes; ++i)
    routes.push_back(v6 ? prefix6(std::uint64_t{0x2600} << 48 | std::uint64_t{i * 2654435761u} << 16, 48)
                        : prefix4((16u << 24) + (i << 8), 24));
  return routes;
}

std::vector<Prefix> core_routes(bool v6) {
  return v6 ? core6() : core4();
}

}  // namespace surety
