// SPDX-License-Identifier: BSD-3-Clause
#include "config/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <unordered_map>

#include "config/text/problems.h"

namespace surety::config {
namespace {

constexpr std::size_t kMaxName = 63;

void report_repeated(const Node& node, Problems& problems) {
  std::unordered_map<std::string_view, Mark> first;
  for (const auto& [key, value] : node.entries) {
    if (key->kind != Node::Kind::scalar) {
      problems.error(key->mark, "a key must be a word");
      continue;
    }
    const auto [it, fresh] = first.emplace(key->text, key->mark);
    if (!fresh)
      problems.error(key->mark, "{} is already there, at {}", quote(key->text), line_name(it->second));
  }
}

}  // namespace

bool same_word(std::string_view text, std::string_view word) {
  if (word != "on" && word != "off") return text == word;
  return parse_flag(text).value == (word == "on");
}

bool is_name(std::string_view s) {
  return !s.empty() && s.size() <= kMaxName && std::isalnum(static_cast<unsigned char>(s.front())) &&
         std::all_of(s.begin(), s.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
         });
}

std::string owner_of(const TextFile& file) {
  return file.text.starts_with(kHeadOfOwner) ? std::filesystem::path(file.name).stem().string() : "";
}

MapReader::MapReader(const Node& node, std::string what, Problems& problems)
    : node_(node), what_(std::move(what)), problems_(problems) {
  if (node.kind != Node::Kind::map) {
    problems.error(node.mark, "expected {}: `key: value` pairs", what_);
  }
  report_repeated(node, problems);
}

MapReader::~MapReader() {
  if (ignore_) return;
  std::sort(known_.begin(), known_.end());
  known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
  for (const auto& [key, value] : node_.entries) {
    if (problems_.full()) return;
    if (key->kind != Node::Kind::scalar || std::binary_search(known_.begin(), known_.end(), key->text))
      continue;
    problems_.error(key->mark, "unknown key {} in {}{}", quote(key->text), what_, hint(key->text, known_));
  }
}

const Node* MapReader::find(std::string_view key) {
  known_.push_back(key);
  for (const auto& [k, value] : node_.entries) {
    if (k->kind == Node::Kind::scalar && k->text == key) return value;
  }
  return nullptr;
}

const Node* MapReader::require(std::string_view key) {
  const Node* n = find(key);
  if (!n && node_.kind == Node::Kind::map) problems_.error(node_.mark, "{} needs `{}`", what_, key);
  return n;
}

Mark MapReader::at(std::string_view key) const {
  for (const auto& [k, value] : node_.entries) {
    if (k->kind == Node::Kind::scalar && k->text == key) return value->mark;
  }
  return node_.mark;
}

void MapReader::word_error(const Node& n, std::string_view key, const std::vector<std::string_view>& names) {
  if (n.kind != Node::Kind::scalar) {
    problems_.error(n.mark, "`{}` is one of: {}", key, fmt::join(names, ", "));
  } else {
    problems_.error(n.mark, "no `{}` is called {}{}", key, quote(n.text), hint(n.text, names));
  }
}

std::string with_article(std::string_view noun) {
  return fmt::format("{} {}", std::string_view("aeiou").find(noun.front()) == noun.npos ? "a" : "an", noun);
}

void check_names(const Node& node, std::string_view noun, Problems& problems) {
  if (node.kind != Node::Kind::map) {
    problems.error(node.mark, "expected {}s by name: `name: ...`", noun);
  }
  report_repeated(node, problems);
  for (const auto& [key, value] : node.entries) {
    if (key->kind == Node::Kind::scalar && !is_name(key->text)) {
      problems.error(key->mark, "{} cannot name {}: up to {} letters, digits, `-`, `_` and `.`",
                     quote(key->text), with_article(noun), kMaxName);
    }
  }
}

std::vector<const Node*> list_of(const Node& node) {
  return node.kind == Node::Kind::sequence ? node.items : std::vector{&node};
}

const std::vector<const Node*>& sequence(const Node& node, std::string_view what, Problems& problems) {
  if (node.kind != Node::Kind::sequence) problems.error(node.mark, "expected a list of {}", what);
  return node.items;
}

}  // namespace surety::config
