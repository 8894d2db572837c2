// SPDX-License-Identifier: BSD-3-Clause
// One configuration out of several files.
//
// `include: [p.yaml, customers/*.yaml]` at the top of a file adds the content of these files, read after the
// file itself, in the order of the list, and of the names that a pattern matches. Sections are merged: maps
// by key, lists one after the other. Repeated keys stay, for the reader to report. A file is included once; a
// pattern does not match the file that it is in. Names start at the directory of the file that they are
// written in.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "config/text/document.h"
#include "config/text/problems.h"
#include "config/text/tree.h"

namespace surety::config {

class Assembly {
 public:
  static constexpr std::size_t kMaxDepth = 8, kMaxFiles = 1000;

  // `texts`: `sources` is read for all texts, but only those that may include others are parsed; root() is of
  // no use, and not all errors are reported.
  enum class For : bool { configuration, texts };
  // Errors are reported; then there may be no root.
  Assembly(const Tree& tree, Sources& sources, Problems& problems, For what = For::configuration);
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  const Node* root() const { return root_; }
  std::string_view text() const { return files_.front().text; }  // text of the main file
  // Names of the other files: a reload looks for its inputs in their directories. A pattern has the directory
  // that it begins in, with "/.".
  const std::vector<std::string>& others() const { return others_; }

 private:
  struct Including;  // a file that is being read, and the file that includes it
  const Node* read(const std::string& name, Mark at, const Including* by);
  const Node* merged(const Node& main, const Including& file);
  void include(const Node& pattern, const Including& file, std::vector<const Node*>& roots);
  bool may_include(const std::string& name, Mark at, const Including& file);
  void resolve(Node& reference, const std::string& from);

  const Tree& tree_;
  Sources& sources_;
  Problems& problems_;
  const For for_;
  std::deque<TextFile> files_;
  std::deque<Document> documents_;
  std::deque<Node> made_;
  std::map<std::string, Mark> included_;  // mark of each file's `include`
  std::size_t bytes_ = 0, weight_ = 0;
  std::size_t taken_ = 0;  // bytes from `!file` and `!env`
  std::vector<std::string> others_;
  const Node* root_ = nullptr;
};

}  // namespace surety::config
