// SPDX-License-Identifier: BSD-3-Clause
// A YAML text as a tree with the position of each value and key.
//
// Built from yaml-cpp's events, not from its nodes: those have no positions for keys, drop duplicate keys
// silently, and follow aliases without a limit. Guarantees: nothing throws; time and memory are proportional
// to the text; a text beyond the limits, or whose aliases expand beyond them, is refused with one message.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace surety::config {

struct TextFile {
  std::string name, text;
};

struct Mark {
  int line = 1, column = 1;  // 1-based; columns count bytes. A line below 1: in no file (the lab's `--set`)
  const TextFile* file = nullptr;  // included file, which outlives this; null: the main one
  // Sorts marks of the main file first, then by name of the file.
  friend std::strong_ordering operator<=>(const Mark& a, const Mark& b) {
    return std::tuple(name_of(a), a.line, a.column) <=> std::tuple(name_of(b), b.line, b.column);
  }
  friend bool operator==(const Mark& a, const Mark& b) { return (a <=> b) == std::strong_ordering::equal; }

 private:
  static std::string_view name_of(const Mark& m) {
    return m.file == nullptr ? std::string_view() : std::string_view(m.file->name);
  }
};

struct Node {
  enum class Kind : std::uint8_t { null, scalar, sequence, map };
  // Origin of `text`: the file itself, or the value of `!env NAME` or `!file PATH`, which may be a secret.
  enum class Origin : std::uint8_t { written, env, file };
  Kind kind = Kind::null;
  Origin origin = Origin::written;
  Mark mark;
  std::string text;                // for a scalar
  std::vector<const Node*> items;  // for a sequence
  // For a map, in the order of the file, duplicates kept.
  std::vector<std::pair<const Node*, const Node*>> entries;
  std::size_t weight = 1;  // nodes from here down, aliases expanded

  // The entry of a map by its key, or of a list by its position, from 0; null: not there.
  const Node* entry(std::string_view key) const;
};

class Document {
 public:
  static constexpr std::size_t kMaxBytes = 4 << 20;
  static constexpr std::size_t kMaxNodes = 1 << 20;  // aliases expanded
  static constexpr std::size_t kMaxDepth = 32;

  static constexpr std::string_view kEmpty = "empty: a configuration starts with `version: 1`";

  struct Origin {
    int line = 0;                    // below 0: the position of all of it
    const TextFile* file = nullptr;  // file of its marks
    bool references = false;         // true: it may contain `!env` and `!file`; else tags are refused
  };
  explicit Document(std::string_view text) : Document(text, Origin{}) {}
  Document(std::string_view text, Origin origin);
  // A value from outside a file: all its positions are in `line`, which is below 1.
  static Document of_value(std::string_view text, int line) { return {text, Origin{.line = line}}; }

  const Node* root() const { return root_; }  // null when there is an error
  const std::string& error() const { return error_; }
  Mark error_mark() const { return error_mark_; }
  // Scalars with `!env` or `!file`, whose text is the name of the source.
  const std::vector<Node*>& references() const { return references_; }

 private:
  friend class TreeBuilder;
  std::deque<Node> nodes_;  // a deque: nodes do not move
  const Node* root_ = nullptr;
  std::vector<Node*> references_;
  std::string error_;
  Mark error_mark_;
};

}  // namespace surety::config
