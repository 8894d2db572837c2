// SPDX-License-Identifier: BSD-3-Clause
// A YAML text as a tree that knows where everything stands, also its keys.
//
// Built from yaml-cpp's events, not from its nodes: those have no positions for keys, drop duplicate keys
// silently, and follow aliases without a limit. Guarantees: nothing throws; time and memory are proportional
// to the text; a text beyond the limits, or whose aliases expand beyond them, is refused with one message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace surety::config {

struct Mark {
  int line = 1, column = 1;  // 1-based; columns count bytes. A line below 1: in no file (the lab's `--set`)
  friend auto operator<=>(const Mark&, const Mark&) = default;
};

struct Node {
  enum class Kind : std::uint8_t { null, scalar, sequence, map };
  Kind kind = Kind::null;
  Mark mark;
  std::string text;                // of a scalar
  std::vector<const Node*> items;  // of a sequence
  // Of a map, in the order of the file, duplicates kept.
  std::vector<std::pair<const Node*, const Node*>> entries;
  std::size_t weight = 1;  // nodes from here down, aliases expanded
};

class Document {
 public:
  static constexpr std::size_t kMaxBytes = 4 << 20;
  static constexpr std::size_t kMaxNodes = 1 << 20;  // aliases expanded
  static constexpr std::size_t kMaxDepth = 32;

  explicit Document(std::string_view text) : Document(text, kOfTheFile) {}
  // A value that comes from elsewhere than a file: all of it stands in `line`, which is below 1.
  static Document of_value(std::string_view text, int line) { return {text, line}; }

  const Node* root() const { return root_; }  // null when there is an error
  const std::string& error() const { return error_; }
  Mark error_mark() const { return error_mark_; }

 private:
  friend class TreeBuilder;
  static constexpr int kOfTheFile = 0;
  Document(std::string_view text, int line);
  std::deque<Node> nodes_;  // a deque: nodes do not move
  const Node* root_ = nullptr;
  std::string error_;
  Mark error_mark_;
};

}  // namespace surety::config
