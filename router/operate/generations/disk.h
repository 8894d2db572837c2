// SPDX-License-Identifier: BSD-3-Clause
// File operations that a power cut leaves undone or complete, never in between.
//
// Results are on the disk when they return: files and their directories are synced. All throw
// std::runtime_error: one sentence with the file and the kernel's reason.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "config/text/regular_file.h"

namespace surety::disk {

namespace fs = std::filesystem;

// Owner and mode of a file.
struct Rights {
  mode_t mode = 0600;
  std::optional<uid_t> user{};  // nullopt: the creator
  std::optional<gid_t> group{};
};
// The rights of a file or a directory; nullopt: it does not exist.
std::optional<Rights> rights_of(const fs::path& path);

// Reads a regular file of at most 16 MiB. `links`: `refused` for files that this program has written.
std::string read(const fs::path& file, config::Links links);
// Writes a new file, or overwrites an unfinished one, which is not in use before it is renamed.
void write(const fs::path& file, std::string_view text, const Rights& rights);
// Replaces the file in one step.
void replace(const fs::path& file, std::string_view text, const Rights& rights);
// Makes a directory and its parents, with the same rights.
void make_directory(const fs::path& directory, const Rights& rights);
// Renames within one directory.
void rename(const fs::path& from, const fs::path& to);
// Removes recursively; does nothing if there is none.
void remove(const fs::path& path);

}  // namespace surety::disk
