// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/quantity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cctype>
#include <span>
#include <vector>

#include "config/text/problems.h"

namespace surety::config {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// Noun, example and range (in its smallest unit) of a kind of quantity.
struct Kind {
  std::string_view noun, example;
  std::span<const Unit> units;
  std::uint64_t max;
  std::string_view max_text;
};

constexpr std::uint64_t k = 1000, M = k * k, G = M * k, T = G * k, Ki = 1024;
constexpr std::array kRateUnits{
    Unit{"bit/s", 1}, Unit{"kbit/s", k},   Unit{"Mbit/s", M},   Unit{"Gbit/s", G},   Unit{"Tbit/s", T},
    Unit{"b/s", 1},   Unit{"kb/s", k},     Unit{"Mb/s", M},     Unit{"Gb/s", G},     Unit{"Tb/s", T},
    Unit{"B/s", 8},   Unit{"kB/s", 8 * k}, Unit{"MB/s", 8 * M}, Unit{"GB/s", 8 * G},
};
constexpr std::array kByteUnits{
    Unit{"B", 1},    Unit{"kB", k},       Unit{"MB", M},           Unit{"GB", G},
    Unit{"KiB", Ki}, Unit{"MiB", Ki* Ki}, Unit{"GiB", Ki* Ki* Ki},
};
constexpr std::array kDurationUnits{
    Unit{"ns", 1}, Unit{"us", k}, Unit{"ms", M}, Unit{"s", G}, Unit{"min", 60 * G}, Unit{"h", 3600 * G},
};
constexpr std::array kPacketUnits{Unit{"packets", 1}, Unit{"packet", 1}};

constexpr Kind kRate{"a rate", "`34 Mbit/s`", kRateUnits, kMaxRate.bits_per_second(), "1 Tbit/s"};
constexpr Kind kBytes{"a size", "`10 kB`", kByteUnits, T, "1 TB"};
constexpr Kind kDuration{"a duration", "`30 ms`", kDurationUnits, 3'600'000 * G, "1000 h"};
constexpr Kind kPackets{"a number of packets", "`100 packets`", kPacketUnits, 0xffffffff,
                        "4294967295 packets"};
constexpr std::string_view kDepthExample = "`10 kB` or `100 packets`";

// digits / 10^decimals, and what follows it.
struct Decimal {
  std::uint64_t digits = 0;
  int decimals = 0;
  std::string_view unit;
};

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

Parsed<Decimal> parse_decimal(std::string_view text, std::string_view noun, std::string_view example) {
  const auto fail = [&](std::string_view why) {
    return Parsed<Decimal>{{}, fmt::format("{} {} {}; write it like {}", quote(text), why, noun, example)};
  };
  auto s = trimmed(text);
  if (s.starts_with('-'))
    return {{}, fmt::format("{} is negative; write {} like {}", quote(text), noun, example)};
  if (s.empty() || !is_digit(s.front())) return fail("is not");
  Decimal d;
  int significant = 0;
  for (bool point = false; !s.empty() && (is_digit(s.front()) || (s.front() == '.' && !point));
       s.remove_prefix(1)) {
    if (s.front() == '.') {
      point = true;
      continue;
    }
    if (significant > 0 || s.front() != '0') ++significant;
    if (significant > 18 || d.decimals == 18) return fail("has too many digits for");
    d.digits = d.digits * 10 + static_cast<unsigned>(s.front() - '0');
    d.decimals += point;
  }
  d.unit = trimmed(s);
  return {d, {}};
}

std::uint64_t power_of_ten(int n) {
  std::uint64_t p = 1;
  while (n-- > 0) p *= 10;
  return p;
}

// digits * factor / 10^decimals, half up; digits < 10^18 and factor < 2^63, so nothing overflows.
unsigned __int128 scaled(const Decimal& d, std::uint64_t factor) {
  const auto divisor = power_of_ten(d.decimals);
  return (static_cast<unsigned __int128>(d.digits) * factor + divisor / 2) / divisor;
}

std::string unit_error(std::string_view text, std::string_view unit, const Kind& kind,
                       std::string_view example) {
  std::vector<std::string_view> names;
  for (const auto& u : kind.units) names.push_back(u.name);
  if (unit.empty()) {
    return fmt::format("{} has no unit; write {} like {}", quote(text), kind.noun, example);
  }
  const auto near = nearest(unit, names);
  if (!near.empty())
    return fmt::format("{} is not a unit of {}; did you mean `{}`?", quote(unit), kind.noun, near);
  return fmt::format("{} is not a unit of {}; write one of {}", quote(unit), kind.noun,
                     fmt::join(names, ", "));
}

Parsed<std::uint64_t> parse_kind(std::string_view text, const Kind& kind) {
  const auto d = parse_decimal(text, kind.noun, kind.example);
  if (!d.value) return {{}, d.error};
  for (const auto& u : kind.units) {
    if (u.name != d.value->unit) continue;
    const auto n = scaled(*d.value, u.factor);
    if (n > kind.max)
      return {{}, fmt::format("{} is too large; {} is at most {}", quote(text), kind.noun, kind.max_text)};
    return {static_cast<std::uint64_t>(n), {}};
  }
  return {{}, unit_error(text, d.value->unit, kind, kind.example)};
}

template <class T, class F>
Parsed<T> convert(const Parsed<std::uint64_t>& p, F&& make) {
  if (!p.value) return {{}, p.error};
  return {make(*p.value), {}};
}

// A plain number, or one with `%`, as decimal digits.
Parsed<Decimal> parse_fraction_digits(std::string_view text) {
  auto d = parse_decimal(text, "a fraction", "`0.04` or `4 %`");
  if (!d.value) return d;
  if (d.value->unit == "%") {
    if (d.value->decimals > 16)
      return {{}, fmt::format("{} has too many digits for a fraction", quote(text))};
    d.value->decimals += 2;
  } else if (!d.value->unit.empty()) {
    return {{}, fmt::format("{} is not a fraction; write it like `0.04` or `4 %`", quote(text))};
  }
  return d;
}

double as_double(const Decimal& d) {
  return static_cast<double>(d.digits) / static_cast<double>(power_of_ten(d.decimals));
}

}  // namespace

std::string rate_text(Rate rate) {
  const auto n = rate.bits_per_second();
  std::size_t unit = 0;
  while (n != 0 && unit < 3 && n % kRateUnits[unit + 1].factor == 0) ++unit;  // no rate needs terabits
  return fmt::format("{} {}", n / kRateUnits[unit].factor, kRateUnits[unit].name);
}

Parsed<Rate> parse_rate(std::string_view text) {
  return convert<Rate>(parse_kind(text, kRate), [](auto n) { return Rate::bits_per_second(n); });
}

Parsed<Bytes> parse_bytes(std::string_view text) {
  return convert<Bytes>(parse_kind(text, kBytes), [](auto n) { return Bytes(n); });
}

Parsed<Duration> parse_duration(std::string_view text) {
  return convert<Duration>(parse_kind(text, kDuration),
                           [](auto n) { return Duration(static_cast<std::int64_t>(n)); });
}

Parsed<Duration> parse_time(std::string_view text) {
  return parse_duration(text.ends_with('m') ? std::string(text) + "in" : std::string(text));
}

Parsed<std::uint32_t> parse_packets(std::string_view text) {
  const auto d = parse_decimal(text, kPackets.noun, kPackets.example);
  if (d.value && d.value->decimals > 0)
    return {{}, fmt::format("{} is not a whole number of packets", quote(text))};
  return convert<std::uint32_t>(parse_kind(text, kPackets),
                                [](auto n) { return static_cast<std::uint32_t>(n); });
}

Parsed<Depth> parse_depth(std::string_view text) {
  const auto d = parse_decimal(text, "a depth", kDepthExample);
  if (!d.value) return {{}, d.error};
  const auto unit = d.value->unit;
  if (unit.empty())
    return {{}, fmt::format("{} has no unit; write a depth like {}", quote(text), kDepthExample)};
  if (unit.starts_with('p')) {
    const auto p = parse_packets(text);
    if (!p.value) return {{}, p.error};
    return {Depth::packets(*p.value), {}};
  }
  return convert<Depth>(parse_kind(text, kBytes), [](auto n) { return Depth::bytes(n); });
}

Parsed<double> parse_fraction(std::string_view text) {
  const auto d = parse_fraction_digits(text);
  if (!d.value) return {{}, d.error};
  const double x = as_double(*d.value);
  if (x <= 1) return {x, {}};
  const bool percent = x <= 100 && text.find('%') == std::string_view::npos;
  return {{},
          fmt::format("{} is too large; a fraction is at most 1{}", quote(text),
                      percent ? fmt::format("; did you mean `{} %`?", text) : "")};
}

Parsed<Ratio> parse_ratio(std::string_view text) {
  constexpr std::uint64_t kMax = 10 * M;
  const auto d = parse_fraction_digits(text);
  if (!d.value) return {{}, d.error};
  const auto n = scaled(*d.value, M);
  if (n > kMax) return {{}, fmt::format("{} is too large; a ratio is at most 10", quote(text))};
  return {Ratio::millionths(static_cast<std::uint32_t>(n)), {}};
}

Parsed<double> parse_number(std::string_view text) {
  const auto d = parse_decimal(text, "a number", "`20`");
  if (!d.value) return {{}, d.error};
  if (!d.value->unit.empty()) return {{}, fmt::format("{} is not a number; write it like `20`", quote(text))};
  return {as_double(*d.value), {}};
}

Parsed<std::uint64_t> parse_integer(std::string_view text, std::uint64_t min, std::uint64_t max) {
  const auto range = [&] {
    return fmt::format("{} is not a whole number from {} to {}", quote(text), min, max);
  };
  const auto d = parse_decimal(text, "a whole number", fmt::format("`{}`", max > 1 ? 2 : 1));
  if (!d.value || d.value->decimals > 0 || !d.value->unit.empty()) return {{}, range()};
  if (d.value->digits < min || d.value->digits > max) return {{}, range()};
  return {d.value->digits, {}};
}

Parsed<bool> parse_flag(std::string_view text) {
  std::string s(text);
  for (auto& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (s == "on" || s == "true" || s == "yes") return {true, {}};
  if (s == "off" || s == "false" || s == "no") return {false, {}};
  return {{}, fmt::format("{} is neither `on` nor `off`", quote(text))};
}

}  // namespace surety::config
