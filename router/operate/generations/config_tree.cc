// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/config_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

#include "config/text/assembly.h"
#include "router/operate/generations/disk.h"

namespace surety {
namespace {

namespace fs = std::filesystem;
using config::Links;

constexpr std::string_view kPointer = "# Written by `surety apply`: what is in effect stands in\ninclude: [";

// The target of a link: the link itself stays.
fs::path real(const fs::path& file) {
  std::error_code error;
  const fs::path target = fs::weakly_canonical(file, error);
  return error ? file : target;
}

bool stands_in(const fs::path& path, const std::string& text) {
  config::RegularFile file(path);
  return file.text(text.size()) == text && file.error().empty();
}

// The name of the first file that a pointer points at.
std::optional<std::string> target_of(std::string_view text) {
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

// A file edited there is another file.
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

// Removes all directories but the one in use, also those that killed processes have left.
void remove_others(const fs::path& file) {
  const fs::path applied = file.parent_path() / applied_beside(file);
  if (!disk::rights_of(applied)) return;
  const auto used = disk::rights_of(file) ? target_of(disk::read(file, Links::followed)) : std::nullopt;
  for (const auto& entry : fs::directory_iterator(applied))
    if (!used ||
        !used->starts_with(applied.filename().string() + "/" + entry.path().filename().string() + "/"))
      disk::remove(entry.path());
  if (!used) disk::remove(applied);
}

ConfigTree unwrapped(const ConfigTree& tree) {
  const auto at = target_of(tree.files.at(tree.main));
  if (!at) return tree;
  const fs::path main(*at);
  const std::string place = main.parent_path().string() + "/";
  ConfigTree result{main.filename(), {}};
  for (const auto& [name, text] : tree.files)
    if (name != tree.main) result.files[name.starts_with(place) ? name.substr(place.size()) : name] = text;
  return result;
}

bool has_several(const ConfigTree& tree) {
  return std::ranges::count_if(tree.files, [](const auto& f) { return inside(f.first); }) > 1;
}

// The texts of a configuration, which may have errors.
config::Tree texts_of(const fs::path& file) {
  config::Tree tree = config::tree_at(file);
  config::FileSources sources(tree);
  config::Problems problems;
  const config::Assembly assembly(tree, sources, problems, config::Assembly::For::texts);
  return tree;
}

// Lists what a tree's patterns would include beside a file, and the tree has not. Reads nothing.
class Beyond : public config::FileSources {
 public:
  Beyond(const ConfigTree& tree, config::Tree& at) : FileSources(at), tree_(tree) {}
  Answer text(const std::string& name) override {
    if (const auto found = tree_.files.find(name); found != tree_.files.end()) return {found->second};
    if (inside(name)) names.insert(name);
    return {""};
  }
  Answer variable(const std::string&) override { return {""}; }
  Answer secret(const std::string&) override { return {""}; }

  std::set<std::string> names;

 private:
  const ConfigTree& tree_;
};

std::set<std::string> beyond(const ConfigTree& tree, const fs::path& file) {
  config::Tree at = config::tree_at(file);
  Beyond sources(tree, at);
  config::Problems problems;
  const config::Assembly assembly(at, sources, problems, config::Assembly::For::texts);
  return std::move(sources.names);
}

// The files beside the first one, by name.
std::map<std::string, std::string> others_of(const ConfigTree& tree) {
  std::map<std::string, std::string> others;
  for (const auto& [name, text] : tree.files)
    if (name != tree.main && inside(name)) others.emplace(name, text);
  return others;
}

// True if all files but the main one are in their places.
bool laid_out(const ConfigTree& tree, const fs::path& file) {
  return std::ranges::all_of(
             others_of(tree),
             [&](const auto& f) { return stands_in(file.parent_path() / f.first, f.second); }) &&
         beyond(tree, file).empty();
}

disk::Rights of_directory(disk::Rights rights) {
  rights.mode |= 0700u | (rights.mode & 0044u) >> 2;
  return rights;
}

disk::Rights rights_in(const fs::path& file) {
  return disk::rights_of(file).value_or(disk::Rights{.mode = 0640});
}

}  // namespace

bool inside(const std::string& name) {
  return !name.starts_with('/') && !name.starts_with("..");
}

std::string ConfigTree::hash() const {
  return as_read(*this).hash();
}

ConfigTree gather(const fs::path& file) {
  const config::Tree tree = texts_of(file);
  ConfigTree all{tree.file, tree.texts};
  if (!all.files.contains(all.main))
    all.files[all.main] = disk::read(file, Links::followed);  // false: with the reason
  return installable(all, file);
}

std::string hash_of(const config::Tree& tree) {
  const ConfigTree all{tree.file, tree.texts};
  return all.files.contains(all.main) ? unwrapped(all).hash() : tree.hash();
}

ConfigTree installable(const ConfigTree& candidate, const fs::path& file) {
  ConfigTree tree = unwrapped(candidate);
  auto main = tree.files.extract(tree.main);
  main.key() = tree.main = fs::absolute(file).filename();
  if (!tree.files.insert(std::move(main)).inserted)
    throw std::runtime_error(fmt::format(
        "it includes a file named {}, like the router's own file: rename the included file", tree.main));
  return tree;
}

Renames as_given(const ConfigTree& tree, const fs::path& file, const fs::path& given) {
  const fs::path at = fs::absolute(file), beside = given.parent_path();
  if (!has_several(tree)) return {{at.string(), given.string()}};
  return {{(at.parent_path() / "").string(), (beside / "").string()},
          {(beside / tree.main).string(), given.string()}};
}

config::Tree as_installed(const fs::path& staged, const fs::path& file) {
  config::Tree tree = texts_of(staged);
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
  const disk::Rights rights = rights_in(to);
  std::string text = tree.files.at(tree.main);
  remove_others(to);
  if (!laid_out(tree, to)) {
    const std::string place = place_for(tree, to) + "/";
    for (const auto& [name, of_file] : tree.files) {
      if (!inside(name) || stands_in(directory / place / name, of_file)) continue;
      disk::make_directory((directory / place / name).parent_path(), of_directory(rights));
      disk::write(directory / place / name, of_file, rights);
    }
    text = fmt::format("{}{}{}]\n", kPointer, place, tree.main);
  }
  disk::replace(real(to), text, rights);
  remove_others(to);
}

fs::path pointed_at(const fs::path& file) {
  const fs::path to = fs::absolute(file);
  const auto target = disk::rights_of(to) ? target_of(disk::read(to, Links::followed)) : std::nullopt;
  return target ? (to.parent_path() / *target).parent_path() : fs::path();
}

void check_places(const ConfigTree& tree, const fs::path& file, const IsKept& kept) {
  const fs::path to = fs::absolute(file);
  const auto check = [&](const std::string& name) {
    const fs::path at = to.parent_path() / name;
    if (disk::rights_of(at) && !kept(name, disk::read(at, Links::followed)))
      throw std::runtime_error(fmt::format(
          "{} would be overwritten, and no generation has a copy: move it away first", at.string()));
  };
  for (const auto& [name, text] : others_of(tree))
    if (!stands_in(to.parent_path() / name, text)) check(name);
  for (const std::string& name : beyond(tree, to)) check(name);
}

void lay_out(const fs::path& file, const IsKept& kept) {
  if (pointed_at(file).empty()) return;
  const fs::path to = fs::absolute(file), directory = to.parent_path();
  const ConfigTree tree = gather(to);
  check_places(tree, to, kept);
  for (const auto& [name, text] : others_of(tree)) {
    const fs::path at = directory / name;
    if (stands_in(at, text)) continue;
    disk::make_directory(at.parent_path(), of_directory(rights_in(to)));
    disk::replace(real(at), text, rights_in(disk::rights_of(at) ? at : to));
  }
  for (const std::string& name : beyond(tree, to)) disk::remove(directory / name);
  disk::replace(real(to), tree.files.at(tree.main), rights_in(to));
  remove_others(to);
}

}  // namespace surety
