// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace surety::config {
namespace {
constexpr std::size_t kMaxWord = 64;  // longer words are not misspelt, they are something else
constexpr std::size_t kMaxListed = 32;
constexpr std::size_t kMaxCompared = 500;  // keeps a file of a thousand wrong names fast

bool same(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}
}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool equal = same(a[i - 1], b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (equal ? 0u : 1u)});
      const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > kMaxWord) return {};
  // One or two letters are another word as soon as one differs.
  std::size_t best = word.size() < 3 ? 1 : std::min<std::size_t>(word.size() / 3, 3) + 1;
  std::string_view found;
  for (const auto c : candidates.first(std::min(candidates.size(), kMaxCompared))) {
    if (c.size() > kMaxWord) continue;
    const auto d = edit_distance(word, c);
    if (d < best) {
      best = d;
      found = c;
    }
  }
  return found;
}

std::string hint(std::string_view word, std::span<const std::string_view> candidates) {
  if (candidates.empty()) return "; there are none";
  if (const auto near = nearest(word, candidates); !near.empty())
    return fmt::format("; did you mean `{}`?", near);
  const auto listed = candidates.first(std::min(candidates.size(), kMaxListed));
  return fmt::format("; there are: {}{}", fmt::join(listed, ", "),
                     listed.size() < candidates.size() ? ", ..." : "");
}

}  // namespace surety::config
