// SPDX-License-Identifier: BSD-3-Clause
// The texts that a configuration is made of: its file, those that it includes, and the values that it takes
// from the environment (`!env NAME`) and from files (`!file PATH`).
//
// A Tree is all that parse_tree() needs. What parse_file() has read comes with its result, also where it has
// errors; stored without `values` it can be parsed again by parse_stored(), which asks for those anew.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/text/document.h"

namespace surety::config {

struct Tree {
  std::string directory;  // where relative names start, those of keys, too; empty: where the program runs
  std::string file;       // the name of the main one
  std::map<std::string, std::string> texts;   // by name: absolute, or as seen from `directory`
  std::map<std::string, std::string> values;  // by "env NAME" and "file NAME": they may be secrets

  // Of the texts, not of the values, and whatever the main file is called. One file's is its text's (hash.h).
  std::string hash() const;
  std::string path_of(const std::string& name) const;
};

Tree tree_at(const std::string& path);  // where a configuration lies, nothing of it read yet
Tree tree_of(std::string_view text, const std::string& path);

// Where texts come from. An answer without a text has an error, as it stands behind "`NAME`: ".
class Sources {
 public:
  struct Answer {
    std::optional<std::string> text{};
    std::string error{};
    Mark at{};  // of the error, in that text
  };
  virtual ~Sources() = default;
  // Names of files that a pattern (glob(7)) stands for, sorted.
  virtual std::vector<std::string> matching(const std::string& pattern) = 0;
  virtual Answer text(const std::string& name) = 0;
  virtual Answer variable(const std::string& name) = 0;
  virtual Answer secret(const std::string& name) = 0;
};

// This machine's files and environment; `tree` says where, and gets what was read.
class FileSources : public Sources {
 public:
  explicit FileSources(Tree& tree) : tree_(tree) {}
  std::vector<std::string> matching(const std::string& pattern) override;
  Answer text(const std::string& name) override;
  Answer variable(const std::string& name) override;
  Answer secret(const std::string& name) override;

 private:
  Tree& tree_;
};

// What a tree has, and nothing else.
class TreeSources : public Sources {
 public:
  explicit TreeSources(const Tree& tree) : tree_(tree) {}
  std::vector<std::string> matching(const std::string& pattern) override;
  Answer text(const std::string& name) override;
  Answer variable(const std::string& name) override;
  Answer secret(const std::string& name) override;

 private:
  const Tree& tree_;
};

// Texts from `tree`, and values from this machine, which it gets.
class StoredSources : public TreeSources {
 public:
  explicit StoredSources(Tree& tree) : TreeSources(tree), values_(tree) {}
  Answer variable(const std::string& name) override { return values_.variable(name); }
  Answer secret(const std::string& name) override { return values_.secret(name); }

 private:
  FileSources values_;
};

}  // namespace surety::config
