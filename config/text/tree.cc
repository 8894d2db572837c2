// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/tree.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "config/text/regular_file.h"

namespace surety::config {
namespace {

// A directory's name may have characters in it that mean something in a pattern.
std::string literally(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) all += '\\';
    all += c;
  }
  return all;
}

Sources::Answer answer(std::optional<std::string> text, Problems& problems) {
  if (!problems.any_error()) return {std::move(text), {}};
  const Diagnostic d = problems.take({}, {}).front();
  return {{}, d.message, {d.line, d.column}};
}

Sources::Answer value_in(const Tree& tree, const std::string& key) {
  const auto found = tree.values.find(key);
  if (found == tree.values.end()) return {{}, "not there", {}};
  return {found->second, {}};
}

}  // namespace

std::string Tree::hash() const {
  const auto main = texts.find(file);
  std::string all = main == texts.end() ? "" : main->second;
  if (texts.size() > 1) all += '\0';
  for (const auto& [name, text] : texts)
    if (name != file) all.append(name).append(1, '\0').append(text).append(1, '\0');
  return hash_of(all);
}

std::string Tree::path_of(const std::string& name) const {
  if (name.starts_with('/') || directory.empty()) return name;
  return directory + (directory.ends_with('/') ? "" : "/") + name;
}

Tree tree_at(const std::string& path) {
  const std::filesystem::path p(path);
  return {p.parent_path().string(), p.filename().string(), {}, {}};
}

Tree tree_of(std::string_view text, const std::string& path) {
  Tree tree = tree_at(path);
  tree.texts.emplace(tree.file, text);
  return tree;
}

std::vector<std::string> FileSources::matching(const std::string& pattern) {
  const std::string base = pattern.starts_with('/') ? "" : tree_.path_of("");
  glob_t found{};
  const std::unique_ptr<glob_t, void (*)(glob_t*)> owner(&found, globfree);
  std::vector<std::string> names;
  if (glob((literally(base) + pattern).c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) names.emplace_back(found.gl_pathv[i] + base.size());
  std::ranges::sort(names);
  return names;
}

Sources::Answer FileSources::text(const std::string& name) {
  Problems problems;
  auto text = read_yaml(tree_.path_of(name), problems);
  if (text) tree_.texts[name] = *text;
  return answer(std::move(text), problems);
}

Sources::Answer FileSources::variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr) return {{}, "not in the environment of this program", {}};
  return {tree_.values["env " + name] = value, {}};
}

Sources::Answer FileSources::secret(const std::string& name) {
  Problems problems;
  auto text = read_secret(tree_.path_of(name), problems);
  if (text && text->ends_with('\n')) text->pop_back();
  if (text && text->ends_with('\r')) text->pop_back();
  if (text && text->find('\0') != text->npos) problems.error({}, "not a text: it contains a zero byte");
  if (text && text->size() > Document::kMaxBytes) problems.error({}, "larger than 4 MiB");
  if (text && !problems.any_error()) tree_.values["file " + name] = *text;
  return answer(std::move(text), problems);
}

std::vector<std::string> TreeSources::matching(const std::string& pattern) {
  std::vector<std::string> names;
  for (const auto& [name, text] : tree_.texts)
    if (fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0) names.push_back(name);
  return names;
}

Sources::Answer TreeSources::text(const std::string& name) {
  const auto found = tree_.texts.find(name);
  if (found == tree_.texts.end()) return {{}, "cannot be read: No such file or directory", {}};
  return {found->second, {}};
}

Sources::Answer TreeSources::variable(const std::string& name) {
  return value_in(tree_, "env " + name);
}
Sources::Answer TreeSources::secret(const std::string& name) {
  return value_in(tree_, "file " + name);
}

std::string hash_of(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", h);
}

namespace {

// One byte more than parse() takes, which refuses a text of that size.
std::optional<std::string> text_of(RegularFile& file, Problems& problems) {
  std::string text = file.text(Document::kMaxBytes);
  if (file.error().empty()) return text;
  problems.error({}, "cannot be read: {}", file.error());
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
