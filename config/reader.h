// SPDX-License-Identifier: BSD-3-Clause
// Reading one map of a file: required and optional keys, unknown and repeated ones, typed values.
//
// Use: make a MapReader and read every key that the map may have; its destructor reports the keys that were
// not read. read() leaves its target alone (so the default stays) when the key is missing or its value is
// wrong; the error is reported at the value.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/text/document.h"
#include "config/text/problems.h"
#include "config/values.h"

namespace surety::config {

// `text` says `word`; where the word is `on` or `off`, YAML 1.1's other booleans say it too.
bool same_word(std::string_view text, std::string_view word);

// Up to 63 letters, digits, `-`, `_` and `.`, the first a letter or a digit.
bool is_name(std::string_view text);

// The beginning of a file that `surety subscribers` has written.
inline constexpr std::string_view kHeadOfOwner = "subscribers: {  # of owner ";
// The owner of an included file, by its name; empty: the operator wrote it.
std::string owner_of(const TextFile& file);

class MapReader {
 public:
  // `what` the map is, with its article, for messages: "a port".
  MapReader(const Node& node, std::string what, Problems& problems);
  ~MapReader();
  MapReader(const MapReader&) = delete;
  MapReader& operator=(const MapReader&) = delete;

  const Node* find(std::string_view key);     // null: not there
  const Node* require(std::string_view key);  // reported if not there

  template <class T>
  bool read(std::string_view key, T& out) {
    const Node* n = find(key);
    return n && read_value(*n, out, problems_);
  }
  template <class T>
  bool required(std::string_view key, T& out) {
    const Node* n = require(key);
    return n && read_value(*n, out, problems_);
  }
  // One of a few words: read_word("trust", port.trust, {{"customer", Trust::customer}, ...}).
  template <class T>
  bool read_word(std::string_view key, T& out, std::initializer_list<std::pair<std::string_view, T>> words) {
    const Node* n = find(key);
    if (!n) return false;
    std::vector<std::string_view> names;
    for (const auto& [name, value] : words) {
      if (n->kind == Node::Kind::scalar && same_word(n->text, name)) {
        out = value;
        return true;
      }
      names.push_back(name);
    }
    word_error(*n, key, names);
    return false;
  }

  // The other keys go unreported: for a map whose vocabulary is not known because of an error.
  void ignore_the_rest() { ignore_ = true; }

  Mark at(std::string_view key) const;  // the key's value; the map itself without it
  const Node& node() const { return node_; }

 private:
  void word_error(const Node& n, std::string_view key, const std::vector<std::string_view>& names);

  const Node& node_;
  std::string what_;
  Problems& problems_;
  std::vector<std::string_view> known_;
  bool ignore_ = false;
};

// `noun` with the article that it takes: "a port", "an interface".
std::string with_article(std::string_view noun);

void check_names(const Node& node, std::string_view noun, Problems& problems);

// The entries of a map whose keys are names that the user makes up (ports, services, ...): calls each(name,
// key, value). Reports what is not a map, repeated names and impossible ones; a repeated or impossible one is
// called all the same.
template <class F>
void for_each_named(const Node& node, std::string_view noun, Problems& problems, F&& each) {
  check_names(node, noun, problems);
  for (const auto& [key, value] : node.entries) each(key->text, *key, *value);
}

// A list, or one value as a list of one; null is reported.
std::vector<const Node*> list_of(const Node& node);
// A list proper; anything else is reported.
const std::vector<const Node*>& sequence(const Node& node, std::string_view what, Problems& problems);

}  // namespace surety::config
