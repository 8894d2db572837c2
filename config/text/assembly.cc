// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>

namespace surety::config {
namespace {

constexpr std::string_view kInclude = "include";
constexpr const char* kTooLarge = "larger than the limit of 4 MiB, with its included files";

// The path of `name`, which is relative to the directory of the file `from`.
std::string beside(const std::string& from, const std::string& name) {
  return (std::filesystem::path(from).parent_path() / name).lexically_normal().string();
}

// The directory that contains all matches of a pattern.
std::string directory_of(const std::string& pattern, std::size_t wild) {
  const auto end = pattern.rfind('/', wild);
  return end == std::string::npos ? "." : pattern.substr(0, end + 1) + ".";
}

// False: there is no key `include`. An escape, or another encoding, may hide it.
bool may_include_others(std::string_view text) {
  return text.find(kInclude) != text.npos || text.find('\\') != text.npos || text.find('\0') != text.npos;
}

bool is_include(const std::pair<const Node*, const Node*>& entry) {
  return entry.first->kind == Node::Kind::scalar && entry.first->text == kInclude;
}

// A map that takes in others.
class Merging {
 public:
  Merging(Node& all, std::deque<Node>& made) : all_(all), made_(made) {
    for (std::size_t i = 0; i < all.entries.size(); ++i) places_.emplace(all.entries[i].first->text, i);
  }

  void add(const Node& more) {
    std::set<std::string_view> seen;
    for (const auto& [key, value] : more.entries) {
      const auto [place, fresh] = places_.emplace(key->text, all_.entries.size());
      const bool again = !seen.insert(key->text).second;  // in one file
      if (fresh || again || !joined(place->second, *value)) all_.entries.emplace_back(key, value);
    }
    all_.weight += more.weight;
  }

 private:
  bool joined(std::size_t place, const Node& more) {
    const Node* const before = all_.entries[place].second;
    const bool both = before->kind == more.kind;
    if (!both || (more.kind != Node::Kind::map && more.kind != Node::Kind::sequence)) return false;
    Node*& own = own_[place];
    if (own == nullptr) all_.entries[place].second = own = &made_.emplace_back(*before);
    own->entries.insert(own->entries.end(), more.entries.begin(), more.entries.end());
    own->items.insert(own->items.end(), more.items.begin(), more.items.end());
    return true;
  }

  Node& all_;
  std::deque<Node>& made_;
  std::unordered_map<std::string_view, std::size_t> places_;  // position by key
  std::unordered_map<std::size_t, Node*> own_;                // values that are not any file's
};

}  // namespace

struct Assembly::Including {
  const std::string& name;
  const Including* by;
  std::size_t depth;
};

Assembly::Assembly(const Tree& tree, Sources& sources, Problems& problems, For what)
    : tree_(tree), sources_(sources), problems_(problems), for_(what) {
  root_ = read(tree.file, {}, nullptr);
}

const Node* Assembly::read(const std::string& name, Mark at, const Including* by) {
  const auto refuse = [&](Mark mark, std::string message) {
    problems_.error(mark, std::move(message));
    return nullptr;
  };
  if (by != nullptr && bytes_ > Document::kMaxBytes) return refuse(at, kTooLarge);  // nothing more is read
  Sources::Answer answer = sources_.text(name);
  files_.push_back({tree_.path_of(name), std::move(answer.text).value_or("")});
  const TextFile& file = files_.back();
  if (!answer.error.empty())
    return by == nullptr ? refuse(answer.at, answer.error)
                         : refuse(at, fmt::format("{}: {}", quote(name), answer.error));
  if (by != nullptr) others_.push_back(file.name);
  bytes_ += file.text.size();
  if (by != nullptr && bytes_ > Document::kMaxBytes) return refuse(at, kTooLarge);
  if (for_ == For::texts && by != nullptr && !may_include_others(file.text)) return nullptr;
  Document& document =
      documents_.emplace_back(file.text, Document::Origin{0, by == nullptr ? nullptr : &file, true});
  if (document.root() == nullptr && by != nullptr && document.error() == Document::kEmpty) return nullptr;
  if (document.root() == nullptr) return refuse(document.error_mark(), document.error());
  weight_ += document.root()->weight;
  if (weight_ > Document::kMaxNodes) return refuse(at, "too many values, with its included files");
  for (Node* reference : document.references()) resolve(*reference, name);
  return merged(*document.root(), {name, by, by == nullptr ? 0 : by->depth + 1});
}

const Node* Assembly::merged(const Node& main, const Including& file) {
  const auto wanted = std::ranges::find_if(main.entries, is_include);
  if (wanted == main.entries.end()) return &main;
  Node& all = made_.emplace_back(main);
  all.entries.erase(all.entries.begin() + (wanted - main.entries.begin()));
  for (const auto& entry : all.entries)
    if (is_include(entry)) problems_.error(entry.first->mark, "`include` is already there");
  std::vector<const Node*> roots;
  const Node& list = *wanted->second;
  if (list.kind != Node::Kind::sequence) include(list, file, roots);
  for (const Node* pattern : list.items) include(*pattern, file, roots);
  Merging merging(all, made_);
  for (const Node* root : roots) {
    if (root->kind != Node::Kind::map) problems_.error(root->mark, "expected sections: `key: value` pairs");
    merging.add(*root);
  }
  return &all;
}

void Assembly::include(const Node& pattern, const Including& file, std::vector<const Node*>& roots) {
  if (pattern.kind != Node::Kind::scalar || pattern.text.empty())
    return problems_.error(pattern.mark, "expected the name of a file, or a pattern like `customers/*.yaml`");
  const std::string wanted = beside(file.name, pattern.text);
  std::vector<std::string> names = {wanted};
  if (const auto wild = wanted.find_first_of("*?["); wild != std::string::npos) {
    others_.push_back(tree_.path_of(directory_of(wanted, wild)));
    names = sources_.matching(wanted);
    std::erase(names, file.name);
    if (names.empty()) problems_.warning(pattern.mark, "no file matches {}", quote(wanted));
  }
  for (const std::string& name : names)
    if (may_include(name, pattern.mark, file))
      if (const Node* const root = read(name, pattern.mark, &file)) roots.push_back(root);
}

bool Assembly::may_include(const std::string& name, Mark at, const Including& file) {
  const auto refuse = [&](std::string message) {
    problems_.error(at, std::move(message));
    return false;
  };
  std::string way = name;
  for (const Including* f = &file; f != nullptr; f = f->by) {
    way.insert(0, f->name + " -> ");
    if (f->name == name) return refuse(fmt::format("a file that includes itself: {}", way));
  }
  if (file.depth >= kMaxDepth) return refuse(fmt::format("included at a depth of more than {}", kMaxDepth));
  if (files_.size() >= kMaxFiles) return refuse(fmt::format("more than {} files", kMaxFiles));
  const auto [it, fresh] = included_.emplace(name, at);
  return fresh || refuse(fmt::format("{} is already included, at {}", quote(name), line_name(it->second)));
}

void Assembly::resolve(Node& reference, const std::string& from) {
  const bool env = reference.origin == Node::Origin::env;
  const std::string name = env ? reference.text : beside(from, reference.text);
  const std::string what = fmt::format("{} {}", env ? "!env" : "!file", reference.text);
  Sources::Answer answer;
  if (reference.text.empty())
    answer.error = "a name must follow";
  else if (taken_ > Document::kMaxBytes)
    answer.error = "the values of `!file` and `!env` are larger than 4 MiB in all";
  else
    answer = env ? sources_.variable(name) : sources_.secret(name);
  if (!env) others_.push_back(tree_.path_of(name));
  if (!answer.error.empty()) return problems_.error(reference.mark, "{}: {}", quote(what), answer.error);
  reference.text = std::move(answer.text).value_or("");
  taken_ += reference.text.size();
  problems_.hide(reference.mark, reference.text, quote(what));
}

}  // namespace surety::config
