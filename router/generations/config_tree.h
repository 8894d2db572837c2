// SPDX-License-Identifier: BSD-3-Clause
// A configuration as files: the one that a router is started with, and those that it includes.
//
// Several files cannot be replaced in one step. So what is installed of them is a pointer, a file that
// includes the first one from NAME.applied/HASH beside it: one rename decides between two of these. Files
// that are included from outside the directory of the first one stay where they are.
#pragma once

#include <filesystem>
#include <map>
#include <string>

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

// All files of a configuration, as far as they are there. Throws std::runtime_error without the first one.
ConfigTree gather(const std::filesystem::path& file);  // links are followed
// What `tree` will be once it is what a router is started with, in `file`.
ConfigTree installable(const ConfigTree& tree, const std::filesystem::path& file);
// The other way round: without a pointer.
ConfigTree unwrapped(const ConfigTree& tree);
// Where an error of `tree` is said to be, once it is installed in `file`: the directory that stands for the
// one that its author has them in.
std::filesystem::path seen_in(const ConfigTree& tree, const std::filesystem::path& file);

// To be parsed as if it stood in `file` already, wherever it does: names of keys and secrets start there.
config::Tree as_installed(const std::filesystem::path& staged, const std::filesystem::path& file);

// Makes `tree`, an installable() one, what a router that is started with `file` goes by, in one step: a
// process that is killed, or a disk that is full, leaves the one before or this one, whole. A link stays one;
// mode and owner stay.
void install(const ConfigTree& tree, const std::filesystem::path& file);

}  // namespace surety
