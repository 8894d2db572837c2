// SPDX-License-Identifier: BSD-3-Clause
// A configuration as files: the one that a router is started with, and those that it includes.
//
// A configuration of several files is installed where its author's files stand: the first one in the router's
// file, the others beside it by their own names. They cannot be replaced in one step. So install() writes all
// of them into NAME.applied/HASH and replaces the router's file by a pointer, a file that includes the first
// one from there: one rename decides. lay_out() then writes the files to their places and the first one over
// the pointer, which is in effect until that rename. Files that are included from outside the directory of
// the first one stay where they are.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/text/tree.h"

namespace surety {

struct ConfigTree {
  std::string main;                          // the name of the first one
  std::map<std::string, std::string> files;  // by path, as seen from the directory of `main`: the text
  std::string hash() const;                  // as a router's that has read it
  bool operator==(const ConfigTree&) const = default;
};

// Whether a file of a tree stands below its first one's directory, so that it is kept and installed with it.
bool inside(const std::string& name);

// All files of a configuration, as far as they are there; of a pointer those that it points at. Links are
// followed. Throws std::runtime_error without the first one.
ConfigTree gather(const std::filesystem::path& file);
// The hash of a configuration that was read, the same through a pointer as without it.
std::string hash_of(const config::Tree& tree);
// `tree` with its first file called as `file`. Throws std::runtime_error where another of its files is.
ConfigTree installable(const ConfigTree& tree, const std::filesystem::path& file);
// What to replace, in this order, in messages about `tree` in `file`, so that they name the files as the
// author has them, the first one in `given`.
using Renames = std::vector<std::pair<std::string, std::string>>;
Renames as_given(const ConfigTree& tree, const std::filesystem::path& file,
                 const std::filesystem::path& given);

// To be parsed as if it stood in `file` already, wherever it does: names of keys and secrets start there.
config::Tree as_installed(const std::filesystem::path& staged, const std::filesystem::path& file);

// Makes `tree`, an installable() one, what a router that is started with `file` goes by, in one step: a
// process that is killed, or a disk that is full, leaves the one before or this one, whole. A link stays one;
// mode and owner stay.
void install(const ConfigTree& tree, const std::filesystem::path& file);
// The directory with the files that a pointer in `file` points at; empty: `file` is no pointer.
std::filesystem::path pointed_at(const std::filesystem::path& file);
// Whether a text of this name is kept elsewhere.
using IsKept = std::function<bool(const std::string& name, const std::string& text)>;
// Throws std::runtime_error where a file stands in the place of one of `tree`, an installable() one, or its
// patterns would include one that it has not, and that file's text is not kept.
void check_places(const ConfigTree& tree, const std::filesystem::path& file, const IsKept& kept);
// Where `file` is a pointer: writes its files to their places, removes others that its patterns would
// include, and replaces the pointer. Throws as check_places() does, and leaves the pointer.
void lay_out(const std::filesystem::path& file, const IsKept& kept);

}  // namespace surety
