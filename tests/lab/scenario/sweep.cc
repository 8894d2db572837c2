// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/scenario/sweep.h"

#include <fmt/format.h>

#include <stdexcept>

namespace surety::lab {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n";
  const auto from = text.find_first_not_of(kBlank);
  return from == text.npos ? std::string_view() : text.substr(from, text.find_last_not_of(kBlank) + 1 - from);
}

// The end of the quoted text that begins at `at`: its closing quote, a doubled or escaped one being text.
std::size_t closing_quote(std::string_view text, std::size_t at) {
  const char quote = text[at++];
  for (; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\')
      ++at;
    else if (text[at] == quote && quote == '\'' && text.substr(at + 1, 1) == "'")
      ++at;
    else if (text[at] == quote)
      return at;
  }
  throw std::invalid_argument(fmt::format("`{}`: a quote is not closed", text));
}

// The first comma at or after `at` that separates two values; the end of the text if there is none.
std::size_t separator(std::string_view text, std::size_t at) {
  std::string open;
  // A quote in the middle of a word is an ordinary character in YAML.
  bool begins = true;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == ',' && open.empty()) return at;
    if ((c == '"' || c == '\'') && begins) {
      at = closing_quote(text, at);
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c)
        throw std::invalid_argument(fmt::format("`{}`: unmatched `{}`", text, c));
      open.pop_back();
    }
    begins = std::string_view(" \t\n,:{[").find(c) != std::string_view::npos;
  }
  if (!open.empty()) throw std::invalid_argument(fmt::format("`{}`: a `{}` is missing", text, open.back()));
  return at;
}

}  // namespace

Setting parse_setting(std::string_view text) {
  const auto equals = text.find('=');
  const auto path = trimmed(text.substr(0, equals));
  if (equals == text.npos || path.empty())
    throw std::invalid_argument(
        fmt::format("`{}` is not key=value, as in `senders.long.target=400 kbit/s`", text));
  return {std::string(path), std::string(trimmed(text.substr(equals + 1)))};
}

Sweep parse_sweep(std::string_view text) {
  const Setting all = parse_setting(text);
  Sweep sweep{all.path, {}};
  for (std::size_t at = 0; at <= all.value.size();) {
    const auto end = separator(all.value, at);
    const auto value = trimmed(std::string_view(all.value).substr(at, end - at));
    if (value.empty())
      throw std::invalid_argument(fmt::format("`{}`: a value is missing; write key=a,b,c", text));
    sweep.values.emplace_back(value);
    at = end + 1;
  }
  return sweep;
}

std::vector<std::vector<Setting>> points(std::span<const Sweep> sweeps) {
  std::vector<std::vector<Setting>> made(1);
  for (const Sweep& sweep : sweeps) {
    if (made.size() * sweep.values.size() > kMaxPoints)
      throw std::invalid_argument(fmt::format("these sweeps make more than {} scenarios", kMaxPoints));
    std::vector<std::vector<Setting>> longer;
    for (const auto& point : made)
      for (const auto& value : sweep.values) {
        for (const Setting& earlier : point)
          if (earlier.path == sweep.path)
            throw std::invalid_argument(
                fmt::format("`{}` is swept twice; put its values into one --sweep", sweep.path));
        longer.push_back(point);
        longer.back().push_back({sweep.path, value});
      }
    made = std::move(longer);
  }
  return made;
}

}  // namespace surety::lab
