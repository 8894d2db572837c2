// SPDX-License-Identifier: BSD-3-Clause
// A configuration as files: the main file of a router, and the files that it includes.
//
// A configuration of several files is installed in the layout of its author: the main file as the router's
// file, the others beside it under their own names. They cannot be replaced in one step. Therefore install()
// writes all of them into NAME.applied/HASH and replaces the router's file by a pointer, a file that includes
// the main file from there: one rename decides. lay_out() then writes the files to their places and the main
// file over the pointer, which is in effect until that rename. Files included from outside the directory of
// the main file stay where they are.
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
  std::string main;                          // name of the main file
  std::map<std::string, std::string> files;  // texts by path, relative to the directory of `main`
  std::string hash() const;                  // the hash of a router that has read it
  bool operator==(const ConfigTree&) const = default;
};

// True if a file of a tree is below the directory of its main file, so that it is kept and installed with it.
bool inside(const std::string& name);

// Reads all existing files of a configuration; for a pointer the files that it points at. Follows links.
// Throws std::runtime_error without the main file.
ConfigTree gather(const std::filesystem::path& file);
// The hash of a configuration that was read, the same with and without a pointer.
std::string hash_of(const config::Tree& tree);
// `tree` with its main file renamed to `file`. Throws std::runtime_error if another of its files has that
// name.
ConfigTree installable(const ConfigTree& tree, const std::filesystem::path& file);
// Replacements, in this order, for messages about `tree` in `file`, so that they have the author's file
// names, with `given` as the main file.
using Renames = std::vector<std::pair<std::string, std::string>>;
Renames as_given(const ConfigTree& tree, const std::filesystem::path& file,
                 const std::filesystem::path& given);

// Parses `staged` as if it were in `file`: paths of keys and secrets are relative to that.
config::Tree as_installed(const std::filesystem::path& staged, const std::filesystem::path& file);

// Makes `tree`, an installable() one, the configuration in `file`, in one step: after a kill, or with a full
// disk, the previous one or this one is there, complete. A link stays a link; mode and owner stay.
void install(const ConfigTree& tree, const std::filesystem::path& file);
// The directory of the files that a pointer in `file` points at; empty: `file` is no pointer.
std::filesystem::path pointed_at(const std::filesystem::path& file);
// True if a text of this name is kept elsewhere.
using IsKept = std::function<bool(const std::string& name, const std::string& text)>;
// Throws std::runtime_error if a file is in the place of one of `tree`, an installable() one, or if the
// patterns of `tree` would include a file that it does not have, and that file's text is not kept.
void check_places(const ConfigTree& tree, const std::filesystem::path& file, const IsKept& kept);
// If `file` is a pointer: writes its files to their places, removes others that its patterns would include,
// and replaces the pointer. Throws as check_places() does, and then keeps the pointer.
void lay_out(const std::filesystem::path& file, const IsKept& kept);

}  // namespace surety
