// SPDX-License-Identifier: BSD-3-Clause
// The machine as setup and doctor see it: files below a root directory, and programs that are run.
//
// With the root "/" it is this machine. With any other it is a tree that stands for one: /sys, /proc and /etc
// are looked for below it, links in it are followed as if it were the root, and programs are not run: what is
// asked of them is written to ROOT/commands/log, one line each, and answered from the file
// ROOT/commands/WORDS, the words joined by "_" (a "/" in them becomes "_", too); without such a file a
// program is not installed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace surety::machine {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Outcome {
  int status = 0;      // of the program; 127: there is none of that name
  std::string output;  // standard output, and what it said on standard error where it failed
  bool ok() const { return status == 0; }
};

class Host {
 public:
  explicit Host(fs::path root = "/");
  // The tree at `root`, which becomes this process's root, so that what reads files by itself, such as a
  // configuration with its includes, stays in it, too. Without the privilege for that: as Host(root).
  static Host enter(const fs::path& root);

  bool is_this_machine() const { return root_ == "/" && !entered_; }
  const fs::path& root() const { return root_; }  // without a "/" at its end
  // Where `path`, absolute, really is.
  fs::path at(const fs::path& path) const;

  bool exists(const fs::path& path) const;
  // All of a file; none where it cannot be read, as many files of /sys of a device that is down cannot.
  std::optional<std::string> read(const fs::path& path) const;
  // Without the blanks and line ends around it.
  std::optional<std::string> line(const fs::path& path) const;
  std::optional<long long> number(const fs::path& path) const;
  // Names in a directory, sorted; empty where there is none.
  std::vector<std::string> list(const fs::path& path) const;
  // The last part of what a link points at.
  std::optional<std::string> link(const fs::path& path) const;

  // One write to a file that is there already, as /sys and /proc want it. Throws std::system_error.
  void write(const fs::path& path, std::string_view text) const;
  // A file as a whole or not at all: written beside it, on the disk, renamed. Makes its directories.
  // Throws std::system_error.
  void replace(const fs::path& path, std::string_view text, unsigned mode = 0644) const;
  void remove(const fs::path& path) const;  // and on the disk; nothing where it is not there
  // Removes what a process that was killed in replace() has left beside the file.
  void tidy(const fs::path& path) const;

  // Never throws: what went wrong is in the outcome. Without a shell; standard input is empty.
  Outcome run(const Words& words) const;
  bool has(const std::string& program) const;

  // Whether NTP or PTP keeps this machine's clock.
  bool clock_synchronised() const;

 private:
  fs::path root_;
  bool entered_ = false;  // is a tree, though its root is "/"
};

// "2-4,7" as cores; what is no number ends it.
std::vector<unsigned> cores_of(std::string_view list);
std::string text_of(const std::vector<unsigned>& cores);
// As a shell takes them.
std::string shell_text(const Words& words);

// The service of the router of that name.
std::string unit_of(const std::string& router);

}  // namespace surety::machine
