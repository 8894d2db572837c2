// SPDX-License-Identifier: BSD-3-Clause
// Files that a power cut leaves as they were or as they shall be, never in between.
//
// What these have done is on the disk when they return: files and the directories that name them are synced.
// All throw std::runtime_error: one sentence with the file and the kernel's reason.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "config/text/regular_file.h"

namespace surety::disk {

namespace fs = std::filesystem;

// Whom a file belongs to and who may read it.
struct Rights {
  mode_t mode = 0600;
  std::optional<uid_t> user{};  // none: whoever makes it
  std::optional<gid_t> group{};
};
// Of a file or a directory; none: it does not exist.
std::optional<Rights> rights_of(const fs::path& path);

// At most 16 MiB of a regular file. `refused`: of one that this program has written.
std::string read(const fs::path& file, config::Links links);
// A new file, or one that somebody has left there half written: nobody may rely on it before it gets its
// name.
void write(const fs::path& file, std::string_view text, const Rights& rights);
// In one step, whatever stood there.
void replace(const fs::path& file, std::string_view text, const Rights& rights);
// Also those above it, with the same rights.
void make_directory(const fs::path& directory, const Rights& rights);
// Within one directory.
void rename(const fs::path& from, const fs::path& to);
// With all that is in it; nothing, where there is none.
void remove(const fs::path& path);

}  // namespace surety::disk
