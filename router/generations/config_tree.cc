// SPDX-License-Identifier: BSD-3-Clause
#include "router/generations/config_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "config/parse.h"
#include "router/generations/disk.h"

namespace surety {
namespace {

namespace fs = std::filesystem;
using config::Links;

constexpr std::string_view kPointer = "# Written by `surety apply`: what is in effect stands in\ninclude: [";

// Of a link what it points at: it stays.
fs::path real(const fs::path& file) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(file, error);
  return error ? file : target;
}

bool stands_in(const fs::path& path, const std::string& text) {
  config::RegularFile file(path);
  return file.text(text.size()) == text && file.error().empty();
}

std::optional<std::string> pointed_at(std::string_view text) {
  if (!text.starts_with(kPointer)) return std::nullopt;
  text.remove_prefix(kPointer.size());
  return std::string(text.substr(0, text.find(']')));
}

std::string applied_beside(const fs::path& file) {
  return file.stem().string() + ".applied";
}

config::Tree as_read(const ConfigTree& tree) {
  return {{}, tree.main, tree.files, {}};
}

// One that was edited there is another one.
bool free_for(const fs::path& place, const ConfigTree& tree) {
  return std::ranges::all_of(
      tree.files, [&](const auto& f) { return !inside(f.first) || stands_in(place / f.first, f.second); });
}

std::string place_for(const ConfigTree& tree, const fs::path& file) {
  const fs::path directory = file.parent_path();
  const std::string first = applied_beside(file) + "/" + tree.hash();
  std::string place = first;
  for (int n = 2; disk::rights_of(directory / place) && !free_for(directory / place, tree); ++n)
    place = fmt::format("{}-{}", first, n);
  return place;
}

// All but what is in use; what a process that was killed has left, too.
void remove_others(const fs::path& file) {
  const fs::path applied = file.parent_path() / applied_beside(file);
  if (!disk::rights_of(applied)) return;
  const auto used = disk::rights_of(file) ? pointed_at(disk::read(file, Links::followed)) : std::nullopt;
  for (const auto& entry : fs::directory_iterator(applied))
    if (!used ||
        !used->starts_with(applied.filename().string() + "/" + entry.path().filename().string() + "/"))
      disk::remove(entry.path());
  if (!used) disk::remove(applied);
}

}  // namespace

bool inside(const std::string& name) {
  return !name.starts_with('/') && !name.starts_with("..");
}

std::string ConfigTree::hash() const {
  return as_read(*this).hash();
}

ConfigTree gather(const fs::path& file) {
  const config::Tree tree = config::parse_file(file).tree;
  ConfigTree all{tree.file, tree.texts};
  if (!all.files.contains(all.main))
    all.files[all.main] = disk::read(file, Links::followed);  // or it says why not
  return all;
}

ConfigTree installable(const ConfigTree& candidate, const fs::path& file) {
  const fs::path to = fs::absolute(file);
  const ConfigTree tree = unwrapped(candidate);
  ConfigTree result{to.filename(), {}};
  const auto kept = std::ranges::count_if(tree.files, [](const auto& f) { return inside(f.first); });
  const std::string place = kept == 1 ? std::string() : place_for(tree, to) + "/";
  for (const auto& [name, text] : tree.files)
    result.files[!inside(name) ? name : place.empty() ? result.main : place + name] = text;
  if (!place.empty()) result.files[result.main] = fmt::format("{}{}{}]\n", kPointer, place, tree.main);
  return result;
}

ConfigTree unwrapped(const ConfigTree& tree) {
  const auto at = pointed_at(tree.files.at(tree.main));
  if (!at) return tree;
  const fs::path main(*at);
  const std::string place = main.parent_path().string() + "/";
  ConfigTree result{main.filename(), {}};
  for (const auto& [name, text] : tree.files)
    if (name != tree.main) result.files[name.starts_with(place) ? name.substr(place.size()) : name] = text;
  return result;
}

fs::path seen_in(const ConfigTree& tree, const fs::path& file) {
  const auto at = pointed_at(tree.files.at(tree.main));
  const fs::path directory = fs::absolute(file).parent_path();
  return at ? directory / fs::path(*at).parent_path() : directory;
}

config::Tree as_installed(const fs::path& staged, const fs::path& file) {
  config::Tree tree = config::parse_file(staged).tree;
  const fs::path to = fs::absolute(file);
  auto main = tree.texts.extract(tree.file);
  tree.directory = to.parent_path();
  tree.file = to.filename();
  tree.values.clear();
  if (!main.empty()) tree.texts[tree.file] = std::move(main.mapped());
  return tree;
}

void install(const ConfigTree& tree, const fs::path& file) {
  const fs::path to = fs::absolute(file), directory = to.parent_path();
  disk::Rights rights = disk::rights_of(to).value_or(disk::Rights{.mode = 0640}), of_directory = rights;
  of_directory.mode |= 0700u | (rights.mode & 0044u) >> 2;
  remove_others(to);
  for (const auto& [name, text] : tree.files) {
    if (name == tree.main || !inside(name) || stands_in(directory / name, text)) continue;
    disk::make_directory((directory / name).parent_path(), of_directory);
    disk::write(directory / name, text, rights);
  }
  disk::replace(real(to), tree.files.at(tree.main), rights);
  remove_others(to);
}

}  // namespace surety
