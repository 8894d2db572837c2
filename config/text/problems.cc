// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/problems.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace surety::config {
namespace {

constexpr std::size_t kMaxQuoted = 60;
constexpr std::size_t kMaxSourceLine = 240;  // longer ones say nothing to a reader
constexpr std::size_t kTelling = 4;  // hidden values of at least this length are also replaced within words
constexpr std::string_view kTooManyErrors = "and more errors, not shown";
constexpr std::string_view kTooManyWarnings = "and more warnings, not shown";

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    lines.push_back(text.substr(0, end));
  }
  lines.push_back(text);
  return lines;
}

std::string source_line(const std::vector<std::string_view>& lines, int line) {
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return {};
  std::string s(lines[static_cast<std::size_t>(line) - 1]);
  if (s.ends_with('\r')) s.pop_back();
  if (s.size() > kMaxSourceLine) return {};
  std::replace_if(s.begin(), s.end(), is_control, '?');
  return s;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

}  // namespace

std::string quote(std::string_view text) {
  std::string s(text.substr(0, kMaxQuoted));
  std::replace_if(
      s.begin(), s.end(), [](char c) { return is_control(c) || c == '\t'; }, '?');
  return "`" + s + (text.size() > kMaxQuoted ? "...`" : "`");
}

std::string line_name(const Mark& mark) {
  if (mark.line < 1) return "a setting";
  return fmt::format("line {}", mark.line) + (mark.file == nullptr ? "" : " of " + mark.file->name);
}

void Problems::hide(Mark at, std::string value, std::string name) {
  if (!value.empty()) hidden_.push_back({at, std::move(value), std::move(name)});
}

// Replaces hidden values by their names; in messages at a hidden value's mark, also quoted parts of it.
void Problems::redact(Mark at, std::string& message) const {
  for (const Hidden& h : hidden_) {
    replace_all(message, quote(h.value), h.name);
    if (h.value.size() >= kTelling) replace_all(message, h.value, "...");
    if (at != h.at) continue;
    if (h.value.find('`') != std::string::npos) message = fmt::format("the value of {} is not valid", h.name);
    for (auto begin = message.find('`'); begin != std::string::npos; begin = message.find('`', begin)) {
      const auto end = message.find('`', begin + 1);
      if (end == std::string::npos) break;
      const std::string piece = message.substr(begin + 1, end - begin - 1);
      if (h.value.find(piece) != std::string::npos) message.replace(begin, end + 1 - begin, "`...`");
      begin = message.find('`', begin + 1) + 1;
    }
  }
}

void Problems::add(Mark at, Diagnostic::Severity severity, std::string message) {
  redact(at, message);
  auto& count = counts_[static_cast<std::size_t>(severity)];
  if (count > kMax || !seen_.emplace(at, message).second) return;
  if (count == kMax) message = severity == Diagnostic::Severity::error ? kTooManyErrors : kTooManyWarnings;
  ++count;
  problems_.push_back({at, severity, std::move(message)});
}

std::vector<Diagnostic> Problems::take(std::string_view text, const std::string& file) {
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const Problem& a, const Problem& b) { return a.at < b.at; });
  const TextFile* of = nullptr;
  auto lines = lines_of(text);
  std::vector<Diagnostic> out;
  for (auto& p : problems_) {
    if (p.at.file != of) lines = lines_of(p.at.file->text);
    of = p.at.file;
    out.push_back({p.severity, of == nullptr ? file : of->name, p.at.line, p.at.column, std::move(p.message),
                   source_line(lines, p.at.line)});
  }
  return out;
}

std::string Diagnostic::format() const {
  const auto place = line < 1 ? file : fmt::format("{}:{}:{}", file, line, column);
  constexpr std::array<const char*, 3> kNames{"error", "warning", "note"};
  auto text = fmt::format("{}: {}: {}\n", place, kNames[static_cast<std::size_t>(severity)], message);
  if (source.empty()) return text;
  // Tabs are kept so that the caret is below its column however wide they are.
  std::string indent(source, 0, std::min(source.size(), static_cast<std::size_t>(std::max(column, 1) - 1)));
  std::replace_if(
      indent.begin(), indent.end(), [](char c) { return c != '\t'; }, ' ');
  return text + "    " + source + "\n    " + indent + "^\n";
}

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
