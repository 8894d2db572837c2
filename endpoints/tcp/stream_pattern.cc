// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/wire_tcp.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "conditioners/rng.h"

namespace surety::endpoints {

namespace {

// The table continues by a largest packet after the period, so that every packet is one piece of it.
constexpr std::size_t kPiece = 9216;
constexpr std::size_t kBytes = StreamPattern::kPeriod + kPiece;

constexpr std::uint16_t ones_add(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t s = a + b;
  return static_cast<std::uint16_t>((s & 0xffff) + (s >> 16));
}

struct Table {
  alignas(64) std::array<std::uint8_t, kBytes> bytes;
  // One's complement sum of bytes [0, i), those at even places in the low half of a word as loaded.
  alignas(64) std::array<std::uint16_t, kBytes + 1> prefix;

  Table() {
    Rng rng(0x5375726574790001);
    for (std::size_t i = 0; i < StreamPattern::kPeriod; ++i)
      bytes[i] = static_cast<std::uint8_t>(rng.next() >> 24);
    std::copy_n(bytes.begin(), kPiece, bytes.begin() + StreamPattern::kPeriod);
    prefix[0] = 0;
    for (std::size_t i = 0; i < kBytes; ++i)
      prefix[i + 1] = ones_add(prefix[i], static_cast<std::uint32_t>(bytes[i]) << (i % 2 * 8));
  }

  // Bytes [at, at + n) as if the first were at an even offset: RFC 1071 2B, a swap when it is not.
  std::uint16_t sum(std::size_t at, std::size_t n) const {
    const std::uint16_t s = ones_add(prefix[at + n], prefix[at] ^ 0xffffu);
    return at % 2 == 0 ? s : swap16(s);
  }
};

const Table kTable;

// Calls f(place in the table, place in the data, length) for each piece.
template <class F>
void for_pieces(std::uint64_t offset, std::size_t length, F&& f) {
  std::size_t at = offset % StreamPattern::kPeriod;
  for (std::size_t done = 0; done < length;) {
    const std::size_t n = std::min(length - done, kPiece);  // even but for the last
    f(at, done, n);
    done += n;
    at = (at + n) % StreamPattern::kPeriod;
  }
}

}  // namespace

std::uint8_t StreamPattern::byte(std::uint64_t offset) {
  return kTable.bytes[offset % kPeriod];
}

Sum StreamPattern::sum(std::uint64_t offset, std::size_t length) {
  Sum s;
  for_pieces(offset, length, [&](std::size_t at, std::size_t, std::size_t n) { s.add(kTable.sum(at, n)); });
  return s;
}

Sum StreamPattern::write(std::span<std::uint8_t> to, std::uint64_t offset) {
  Sum s;
  for_pieces(offset, to.size(), [&](std::size_t at, std::size_t done, std::size_t n) {
    std::memcpy(to.data() + done, kTable.bytes.data() + at, n);
    s.add(kTable.sum(at, n));
  });
  return s;
}

bool StreamPattern::matches(std::span<const std::uint8_t> data, std::uint64_t offset) {
  bool same = true;
  for_pieces(offset, data.size(), [&](std::size_t at, std::size_t done, std::size_t n) {
    same = same && std::memcmp(data.data() + done, kTable.bytes.data() + at, n) == 0;
  });
  return same;
}

}  // namespace surety::endpoints
