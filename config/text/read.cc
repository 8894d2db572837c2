// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/read.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "config/text/regular_file.h"

namespace surety::config {
namespace {

// One byte more than parse() takes, which refuses a text of that size.
std::optional<std::string> text_of(RegularFile& file, Problems& problems) {
  std::string text = file.text(Document::kMaxBytes);
  if (file.error().empty()) return text;
  problems.error({}, fmt::format("cannot be read: {}", file.error()));
  return {};
}

}  // namespace

std::optional<std::string> read_text(const std::string& path, Problems& problems) {
  RegularFile file(path);
  return text_of(file, problems);
}

std::optional<std::string> read_yaml(const std::string& path, Problems& problems) {
  auto text = read_text(path, problems);
  const auto begin = text ? text->find_first_not_of(" \t\r\n") : std::string::npos;
  const bool whole = begin == std::string::npos || text->back() == '\n' || (*text)[begin] == '{';
  if (whole || text->size() > Document::kMaxBytes) return text;
  const auto lines = static_cast<int>(std::ranges::count(*text, '\n'));
  const auto column = static_cast<int>(text->size() - text->find_last_of('\n'));
  problems.error(
      {lines + 1, column},
      "the last line has no line break: the rest may be missing; end a complete file with a line break");
  return {};
}

std::optional<std::string> read_secret(const std::string& path, Problems& problems) {
  RegularFile file(path);
  auto text = text_of(file, problems);
  if (text && (file.mode() & (S_IROTH | S_IWOTH)) != 0)
    problems.error({}, "every user of this machine may read or change it; run `chmod o-rwx` on it");
  return text;
}

}  // namespace surety::config
