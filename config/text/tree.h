// SPDX-License-Identifier: BSD-3-Clause
// The texts that a configuration is made of: its file, those that it includes, and the values that it takes
// from the environment (`!env NAME`) and from files (`!file PATH`).
//
// A Tree is all that parse_tree() needs. parse_file() returns the texts and values that it has read, also
// where there are errors; stored without `values` the tree can be parsed again by parse_stored(), which reads
// them again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/text/document.h"
#include "config/text/problems.h"

namespace surety::config {

struct Tree {
  std::string directory;  // base of relative names, those of keys, too; empty: the working directory
  std::string file;       // the name of the main one
  std::map<std::string, std::string> texts;   // keys: absolute names, or relative to `directory`
  std::map<std::string, std::string> values;  // keys: "env NAME" and "file NAME"; they may be secrets

  // Hash of the texts, without the values and the main file's name. For one file, hash_of() its text.
  std::string hash() const;
  std::string path_of(const std::string& name) const;
};

Tree tree_at(const std::string& path);  // tree of a configuration's path, nothing of it read yet
Tree tree_of(std::string_view text, const std::string& path);

// Source of texts. An answer without a text has an error, to be printed after "`NAME`: ".
class Sources {
 public:
  struct Answer {
    std::optional<std::string> text{};
    std::string error{};
    Mark at{};  // position of the error in that text
  };
  virtual ~Sources() = default;
  // Names of files that match a pattern (glob(7)), sorted.
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

// The texts and values of a tree, and nothing else.
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

// The fingerprint of a text for metrics and logs: FNV-1a, 64 bits, as 16 hexadecimal digits. Identifies
// texts; does not resist attacks.
std::string hash_of(std::string_view text);

// Readers of files that an operator writes: regular files (regular_file.h). Errors are reported, without a
// mark.

// The text of a file, as far as a Document takes it; none: reported.
std::optional<std::string> read_text(const std::string& path, Problems& problems);
// The text of a configuration: also reported, and none, where the text ends within a line, since it may still
// be being written, and its beginning may be a valid configuration. JSON ends with its last brace.
std::optional<std::string> read_yaml(const std::string& path, Problems& problems);
// The text of a file with a secret: also reported where other users of this machine may read or change it.
std::optional<std::string> read_secret(const std::string& path, Problems& problems);

}  // namespace surety::config
