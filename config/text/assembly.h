// SPDX-License-Identifier: BSD-3-Clause
// One configuration out of several files.
//
// `include: [p.yaml, customers/*.yaml]` at the top of a file stands for what those say, read after the
// file itself, in the order of the list, and of the names that a pattern stands for. Sections are put
// together: maps by key, lists one behind the other. Whatever is said twice stays there twice, for the reader
// to report. A file is included once; a pattern does not stand for a file that it is in. Names start at the
// directory of the file that they are written in.
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

  // What is wrong is reported; then there may be no root.
  Assembly(const Tree& tree, Sources& sources, Problems& problems);
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  const Node* root() const { return root_; }
  std::string_view text() const { return files_.front().text; }  // of the main file
  // Of other files than the main one: in their directories a reload looks for what it reads. Of a pattern,
  // the directory that it begins in, with "/.".
  const std::vector<std::string>& others() const { return others_; }

 private:
  struct Including;  // a file that is being read, and the one that wants it
  const Node* read(const std::string& name, Mark at, const Including* by);
  const Node* merged(const Node& main, const Including& file);
  void include(const Node& pattern, const Including& file, std::vector<const Node*>& roots);
  bool may_include(const std::string& name, Mark at, const Including& file);
  void resolve(Node& reference, const std::string& from);

  const Tree& tree_;
  Sources& sources_;
  Problems& problems_;
  std::deque<TextFile> files_;
  std::deque<Document> documents_;
  std::deque<Node> made_;
  std::map<std::string, Mark> included_;  // by name: where
  std::size_t bytes_ = 0, weight_ = 0;
  std::size_t taken_ = 0;  // bytes that `!file` and `!env` stand for
  std::vector<std::string> others_;
  const Node* root_ = nullptr;
};

}  // namespace surety::config
