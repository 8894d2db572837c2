// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/papers_run_files.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "config/problems.h"
#include "config/suggest.h"
#include "tests/lab/papers/embedded.h"

namespace surety::lab {
namespace {

constexpr std::array<std::string_view, 5> kOrder{"gtfrc", "csa", "ard", "gtcp", "tfrc"};

constexpr std::string_view kSuffix = ".yaml";

// Those of one paper in their order: `csa.yaml` before `csa-table3.yaml`.
std::vector<std::string> paper_files(const PapersFiles& files) {
  std::vector<std::string> names;
  for (const auto& [name, text] : files.texts) {
    if (name.ends_with(kSuffix) && name.find('/') == name.npos)
      names.push_back(name.substr(0, name.size() - kSuffix.size()));
  }
  std::sort(names.begin(), names.end());
  for (auto& name : names) name += kSuffix;
  return names;
}

auto rank(const Paper& p) {
  return std::pair(std::find(kOrder.begin(), kOrder.end(), p.name) - kOrder.begin(), p.name);
}

std::optional<std::vector<Paper>> parse_all(const PapersFiles& files, std::ostream& errors) {
  std::vector<Paper> papers;
  bool ok = true;
  for (const auto& name : paper_files(files)) {
    auto parsed = parse_paper(files.texts.at(name), files.place + name);
    for (const auto& d : parsed.diagnostics) errors << d.format();
    ok = ok && parsed.paper;
    if (parsed.paper) papers.push_back(std::move(*parsed.paper));
  }
  std::stable_sort(papers.begin(), papers.end(),
                   [](const Paper& a, const Paper& b) { return rank(a) < rank(b); });
  if (!ok) return {};
  return papers;
}

bool ids_unique(const std::vector<Paper>& papers, std::ostream& errors) {
  std::map<std::string, std::string> seen;
  bool ok = true;
  for (const auto& p : papers) {
    for (const auto& e : p.experiments) {
      const auto [it, fresh] = seen.emplace(e.id, p.name);
      if (!fresh)
        errors << fmt::format("error: both {} and {} have an experiment `{}`\n", it->second, p.name, e.id);
      ok = ok && fresh;
    }
  }
  return ok;
}

bool known_paper(const std::vector<Paper>& papers, const std::string& name, std::ostream& errors) {
  std::vector<std::string_view> names;
  for (const auto& p : papers) names.push_back(p.name);
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return true;
  errors << fmt::format("error: no paper is called {}{}\n", config::quote(name), config::hint(name, names));
  return false;
}

void keep(std::vector<Paper>& papers, const PapersSelection& s) {
  for (auto& p : papers) {
    std::erase_if(p.experiments, [&](const Experiment& e) {
      return !s.filter.empty() && fnmatch(s.filter.c_str(), e.id.c_str(), 0) != 0;
    });
  }
  std::erase_if(
      papers, [&](const Paper& p) { return p.experiments.empty() || (!s.only.empty() && p.name != s.only); });
}

}  // namespace

PapersFiles embedded_papers_files() {
  PapersFiles files{"papers/", {}};
  for (const auto& f : embedded_papers()) files.texts.emplace(f.name, f.text);
  return files;
}

PapersFiles papers_files_in(const std::string& directory) {
  namespace fs = std::filesystem;
  PapersFiles files{directory + "/", {}};
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.path().extension() != ".yaml") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file)
      throw fs::filesystem_error("cannot be read", entry.path(), std::make_error_code(std::errc::io_error));
    files.texts.emplace(fs::relative(entry.path(), directory).string(), std::move(text));
  }
  return files;
}

std::optional<std::vector<Paper>> load_papers(const PapersFiles& files, const PapersSelection& selection,
                                              std::ostream& errors) {
  auto papers = parse_all(files, errors);
  if (!papers || !ids_unique(*papers, errors) || !known_paper(*papers, selection.only, errors)) return {};
  keep(*papers, selection);
  if (!papers->empty()) return papers;
  errors << "error: there is no such experiment\n";
  return {};
}

}  // namespace surety::lab
