// SPDX-License-Identifier: BSD-3-Clause
// Typed quantities: time, rates, sizes, probabilities (CONTRIBUTING.md rules 1 and 3).
//
// Time is an argument everywhere. `Clock` deliberately has no now(): only a driver (the DPDK worker,
// the lab's event loop, a test) can make a Time. The epoch is the driver's business; only
// differences mean anything.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

namespace surety {

using Duration = std::chrono::nanoseconds;

struct Clock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Duration;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;
};
using Time = Clock::time_point;

inline constexpr Time kNever = Time::max();

constexpr double seconds(Duration d) {
  return static_cast<double>(d.count()) * 1e-9;
}

// An amount of data in bytes; of an IP packet unless a name says otherwise (router/pipeline/README.md).
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::uint64_t n) : n_(n) {}
  constexpr std::uint64_t count() const { return n_; }
  constexpr std::uint64_t bits() const { return n_ * 8; }
  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.n_ + b.n_); }
  friend constexpr Bytes operator*(std::uint64_t k, Bytes b) { return Bytes(k * b.n_); }

 private:
  std::uint64_t n_ = 0;
};

// A rate in bits per second, exact.
class Rate {
 public:
  constexpr Rate() = default;
  static constexpr Rate bits_per_second(std::uint64_t n) { return Rate(n); }
  static constexpr Rate bytes_per_second(std::uint64_t n) { return Rate(8 * n); }
  constexpr std::uint64_t bits_per_second() const { return n_; }
  constexpr double bytes_per_second() const { return static_cast<double>(n_) / 8; }
  friend constexpr auto operator<=>(Rate, Rate) = default;
  friend constexpr Rate operator+(Rate a, Rate b) { return Rate(a.n_ + b.n_); }
  // Rounded down to a whole bit per second.
  friend constexpr Rate operator*(double k, Rate r) {
    return Rate(static_cast<std::uint64_t>(k * static_cast<double>(r.n_)));
  }

 private:
  constexpr explicit Rate(std::uint64_t n) : n_(n) {}
  std::uint64_t n_ = 0;
};

// A probability, clamped to [0, 1] when made.
class Probability {
 public:
  constexpr Probability() = default;
  constexpr explicit Probability(double p) : p_(p < 0 ? 0 : p > 1 ? 1 : p) {}
  constexpr double value() const { return p_; }
  friend constexpr auto operator<=>(Probability, Probability) = default;

 private:
  double p_ = 0;
};

// A ratio in whole millionths: 0.02 steps of the CSA paper stay exact however often they are added.
class Ratio {
 public:
  constexpr Ratio() = default;
  static constexpr Ratio millionths(std::uint32_t n) { return Ratio(n); }
  static constexpr Ratio of(double x) { return Ratio(static_cast<std::uint32_t>((x * 2e6 + 1) / 2)); }
  // Above every other one.
  static constexpr Ratio unlimited() { return Ratio(std::numeric_limits<std::uint32_t>::max()); }
  constexpr std::uint32_t millionths() const { return n_; }
  constexpr double value() const {
    return *this == unlimited() ? std::numeric_limits<double>::infinity() : n_ * 1e-6;
  }
  friend constexpr auto operator<=>(Ratio, Ratio) = default;
  // Both saturate.
  friend constexpr Ratio operator+(Ratio a, Ratio b) { return Ratio(b.n_ > ~a.n_ ? ~0u : a.n_ + b.n_); }
  friend constexpr Ratio operator-(Ratio a, Ratio b) { return Ratio(a.n_ > b.n_ ? a.n_ - b.n_ : 0); }

 private:
  constexpr explicit Ratio(std::uint32_t n) : n_(n) {}
  std::uint32_t n_ = 0;
};

// A depth given in bytes or in packets, as the user wrote it. `bytes(nominal)` turns packets into bytes.
struct Depth {
  enum class Unit : std::uint8_t { bytes, packets };
  std::uint64_t count = 0;
  Unit unit = Unit::bytes;
  static constexpr Depth bytes(std::uint64_t n) { return {n, Unit::bytes}; }
  static constexpr Depth packets(std::uint64_t n) { return {n, Unit::packets}; }
  constexpr Bytes bytes(Bytes nominal_packet) const {
    return unit == Unit::bytes ? Bytes(count) : count * nominal_packet;
  }
  friend constexpr bool operator==(const Depth&, const Depth&) = default;
};

// Unit of a token: a byte of the IP packet (default, right for variable sizes), or a whole packet (as in the
// papers), whose rate is then `rate / nominal packet`. Of `ticks` a token is a packet, too, and comes whole
// at a multiple of `nominal packet / rate` of the clock: all buckets of a rate get their tokens at the same
// times, as in the simulator of the CSA paper.
enum class TokenUnit : std::uint8_t { bytes, packets, ticks };

// Time that `size` takes at `rate`, rounded up; rate must not be zero.
constexpr Duration transmission_time(Bytes size, Rate rate) {
  const auto bits = static_cast<unsigned __int128>(size.bits()) * 1'000'000'000u;
  return Duration(static_cast<std::int64_t>((bits + rate.bits_per_second() - 1) / rate.bits_per_second()));
}

namespace literals {
constexpr Rate operator""_bps(unsigned long long n) {
  return Rate::bits_per_second(n);
}
constexpr Rate operator""_kbps(unsigned long long n) {
  return Rate::bits_per_second(n * 1000);
}
constexpr Rate operator""_Mbps(unsigned long long n) {
  return Rate::bits_per_second(n * 1'000'000);
}
constexpr Rate operator""_Gbps(unsigned long long n) {
  return Rate::bits_per_second(n * 1'000'000'000);
}
constexpr Bytes operator""_B(unsigned long long n) {
  return Bytes(n);
}
constexpr Bytes operator""_kB(unsigned long long n) {
  return Bytes(n * 1000);
}
constexpr Bytes operator""_MB(unsigned long long n) {
  return Bytes(n * 1'000'000);
}
using namespace std::chrono_literals;
}  // namespace literals

}  // namespace surety
