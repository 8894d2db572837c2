// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/read.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace surety::config {

std::optional<std::string> read_text(const std::string& path, Problems& problems) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  std::string text(Document::kMaxBytes + 1,
                   '\0');  // one more than parse() takes: it refuses, whatever the size
  if (file) std::setvbuf(file.get(), nullptr, _IONBF, 0);  // a secret stays in no buffer of the C library's
  if (file) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (file && !std::ferror(file.get())) return text;
  problems.error({}, fmt::format("cannot be read: {}", std::strerror(errno)));
  return {};
}

std::optional<std::string> read_yaml(const std::string& path, Problems& problems) {
  auto text = read_text(path, problems);
  const auto begin = text ? text->find_first_not_of(" \t\r\n") : std::string::npos;
  const bool whole = begin == std::string::npos || text->back() == '\n' || (*text)[begin] == '{';
  if (whole || text->size() > Document::kMaxBytes) return text;
  const auto lines = static_cast<int>(std::ranges::count(*text, '\n'));
  const auto column = static_cast<int>(text->size() - text->find_last_of('\n'));
  problems.error({lines + 1, column},
                 "the file ends within a line: what should follow may be missing; write it to its end");
  return {};
}

std::optional<std::string> read_secret(const std::string& path, Problems& problems) {
  auto text = read_text(path, problems);
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_IROTH | S_IWOTH)) != 0)
    problems.error({},
                   "everybody on this machine may read or change it; `chmod o-rwx` keeps the secret in it");
  return text;
}

}  // namespace surety::config
