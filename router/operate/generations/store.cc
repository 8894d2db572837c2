// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "router/operate/generations/disk.h"

namespace surety {
namespace {

namespace fs = std::filesystem;
constexpr const char *kAbout = "about.json", *kFiles = "configuration", *kStaged = "staged";

constexpr int kLastNumber = 999'999'999;

std::string name_of(int number) {
  return fmt::format("{:06}", number);
}

// 0: it is no generation's.
int number_of(const fs::path& directory) {
  const std::string name = directory.filename();
  int n = 0;
  std::from_chars(name.data(), name.data() + name.size(), n);
  return n > 0 && n <= kLastNumber && name == name_of(n) ? n : 0;
}

std::vector<int> numbers(const fs::path& directory) {
  std::vector<int> all;
  std::error_code error;
  for (fs::directory_iterator i(directory, error), end; !error && i != end; i.increment(error))
    if (const int n = number_of(i->path()); n > 0) all.push_back(n);
  if (error && error != std::errc::no_such_file_or_directory)
    throw std::runtime_error(fmt::format("cannot read {}: {}", directory.string(), error.message()));
  std::sort(all.begin(), all.end());
  return all;
}

// Readable by the owner only: a configuration may have secrets.
disk::Rights rights(const fs::path& state, mode_t mode) {
  disk::Rights r{.mode = mode};
  if (const auto owner = disk::rights_of(state)) r.user = owner->user, r.group = owner->group;
  return r;
}

// Returns the text of a file that the store has written.
std::string own(const fs::path& file) {
  try {
    return disk::read(file, config::Links::refused);
  } catch (const std::runtime_error& e) {
    throw DamagedGeneration(e.what());
  }
}

ConfigTree read_tree(const fs::path& directory, const std::string& main) {
  ConfigTree tree{main, {}};
  std::error_code error;
  for (fs::recursive_directory_iterator i(directory, error), end; !error && i != end; i.increment(error))
    if (!i->is_directory(error)) tree.files[i->path().lexically_relative(directory)] = own(i->path());
  if (error || !tree.files.contains(main))
    throw DamagedGeneration(fmt::format("{} is damaged: remove that generation", directory.string()));
  return tree;
}

}  // namespace

fs::path Store::at(int number) const {
  return generations() / name_of(number);
}

void Store::open() const {
  disk::make_directory(generations(), rights(directory_, 0700));
}

Generation Store::read(int number) const {
  const fs::path about = at(number) / kAbout;
  Generation g = generation_of(own(about), about);
  if (g.number != number)
    throw DamagedGeneration(
        fmt::format("{} is of generation {}: remove its directory", about.string(), g.number));
  const fs::path main = at(number) / kFiles / g.main;
  std::error_code error;
  if (!inside(g.main) || !fs::is_regular_file(fs::symlink_status(main, error)))
    throw DamagedGeneration(fmt::format("{} is damaged: remove that generation", main.string()));
  return g;
}

std::vector<Generation> Store::all(std::vector<std::string>* damaged) const {
  std::vector<Generation> all;
  for (const int n : numbers(generations())) {
    try {
      all.push_back(read(n));
    } catch (const DamagedGeneration& e) {
      if (damaged != nullptr) damaged->push_back(e.what());
    }
  }
  return all;
}

ConfigTree Store::tree_of(const Generation& g) const {
  return read_tree(at(g.number) / kFiles, g.main);
}

bool Store::keeps(const std::string& name, const std::string& text) const {
  return std::ranges::any_of(all(), [&](const Generation& g) {
    try {
      const ConfigTree tree = installable(tree_of(g), g.main);
      const auto found = tree.files.find(name);
      return found != tree.files.end() && found->second == text;
    } catch (const std::runtime_error&) {  // damaged
      return false;
    }
  });
}

fs::path Store::put(const ConfigTree& tree, const std::string& name) const {
  drop(name);
  const fs::path files = generations() / name / kFiles;
  for (const auto& [file, text] : tree.files) {
    if (!inside(file)) continue;
    disk::make_directory((files / file).parent_path(), rights(directory_, 0700));
    disk::write(files / file, text, rights(directory_, 0600));
  }
  return files / tree.main;
}

// The description is removed first: an incomplete one is ignored.
void Store::drop(const std::string& name) const {
  disk::remove(generations() / name / kAbout);
  disk::remove(generations() / name);
}

// The description is written last: without it nothing is staged.
fs::path Store::stage(const ConfigTree& tree, const Generation& about) const {
  fs::path main = put(tree, kStaged);
  disk::replace(generations() / kStaged / kAbout, to_json(about).dump(1), rights(directory_, 0600));
  return main;
}

std::optional<Store::Staged> Store::staged() const {
  const fs::path about = generations() / kStaged / kAbout;
  if (!disk::rights_of(about)) return std::nullopt;
  try {
    Staged s{generation_of(own(about), about), {}};
    s.tree = read_tree(generations() / kStaged / kFiles, s.about.main);
    return s;
  } catch (const DamagedGeneration&) {
    return std::nullopt;
  }
}

Generation Store::add(Generation about, const Generation* before) const {
  const std::vector<int> there = numbers(generations());  // the damaged ones, too
  about.parent = before != nullptr ? before->number : 0;
  about.number = there.empty() ? 1 : there.back() + 1;
  if (about.number > kLastNumber)
    throw std::runtime_error(fmt::format("{} has no free number for another one: remove {}",
                                         generations().string(), at(there.back()).string()));
  disk::replace(generations() / kStaged / kAbout, to_json(about).dump(1), rights(directory_, 0600));
  disk::rename(generations() / kStaged, at(about.number));
  forget_old();
  return about;
}

void Store::forget_old() const {
  for (std::size_t n = numbers(generations()).size(); n > kKept; --n) {
    // First its name: half of one would be a damaged one.
    const fs::path gone = generations() / "gone";
    disk::remove(gone);
    disk::rename(at(number_to_forget()), gone);
    disk::remove(gone);
  }
}

int Store::number_to_forget() const {
  const auto of_series = [](const Generation& a, const Generation& b) {
    return a.how.starts_with("subscribers ") && !a.why.empty() && a.how == b.how && a.why == b.why;
  };
  std::vector<Generation> known = all();
  if (!known.empty()) known.pop_back();  // the one before the newest stays: a rollback leads to it
  const auto repeated = std::ranges::adjacent_find(known, of_series);
  return repeated == known.end() ? numbers(generations()).front() : repeated->number;
}

std::optional<Generation> Store::settle(const ConfigTree& installed, const Generation& found, bool keep,
                                        bool taken) const {
  const std::vector<Generation> there = all();
  const Generation* const newest = there.empty() ? nullptr : &there.back();
  const std::string now = installed.hash();
  const auto candidate = staged();
  if (candidate && candidate->about.hash == now && (taken || newest == nullptr || newest->hash != now))
    return add(candidate->about, newest);
  if (keep) return newest != nullptr ? std::optional(*newest) : std::nullopt;
  drop(kStaged);
  const bool read_since =
      newest != nullptr && newest->how == Generation::kNotInEffect && found.how != newest->how;
  if (newest != nullptr && newest->hash == now && !read_since) return *newest;
  Generation about = found;
  about.main = installed.main;
  about.hash = now;
  stage(installed, about);
  return add(about, newest);
}

namespace {

constexpr std::int64_t kLastSecond = 253'402'300'799;  // end of the year 9999

DamagedGeneration damaged(const std::filesystem::path& where) {
  return DamagedGeneration(fmt::format("{} is damaged: remove its directory", where.string()));
}

// Calls f(name, member) for each field, in the order of the file.
template <class G, class F>
void each_field(G& g, F f) {
  f("generation", g.number);
  f("parent", g.parent);
  f("when", g.when);
  f("who", g.who);
  f("how", g.how);
  f("why", g.why);
  f("changes", g.changes);
  f("main", g.main);
  f("installed", g.installed);
  f("hash", g.hash);
}

}  // namespace

Json to_json(const Generation& g) {
  Json j = {{"format", Generation::kFormat}};
  each_field(g, [&](const char* name, const auto& member) { j[name] = member; });
  return j;
}

Generation generation_of(const std::string& text, const std::filesystem::path& where) try {
  const Json j = Json::parse(text);
  if (const int format = j.at("format"); format > Generation::kFormat)
    throw std::runtime_error(
        fmt::format("{} was written by a newer version of surety (format {}, this one reads {}): use that "
                    "version; nothing has been changed",
                    where.string(), format, Generation::kFormat));
  Generation g;
  each_field(g, [&](const char* name, auto& member) { j.at(name).get_to(member); });
  const bool words = g.changes.is_array() && std::ranges::all_of(g.changes, &Json::is_string);
  if (!words || g.when < 0 || g.when > kLastSecond) throw damaged(where);
  return g;
} catch (const Json::exception& e) {
  throw damaged(where);
}

}  // namespace surety
