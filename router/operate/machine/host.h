// SPDX-License-Identifier: BSD-3-Clause
// The machine for setup and doctor: files below a root directory, and programs to run.
//
// Root "/" means this machine. Any other root is a model of a machine: /sys, /proc and /etc are read below
// it, links in it are followed as if it were the root, and programs are not run: their command lines are
// appended to ROOT/commands/log, and their output is the file ROOT/commands/WORDS, the words joined by "_" (a
// "/" in them becomes "_", too); without such a file a program counts as not installed.
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
  int status = 0;      // exit status; 127: there is no such program
  std::string output;  // standard output, and standard error of a failed program
  bool ok() const { return status == 0; }
};

class Host {
 public:
  explicit Host(const fs::path& root = "/");
  // The tree at `root`, which becomes this process's root, so that code that reads files directly, such as a
  // configuration with its includes, stays in it, too. Without the privilege for that: as Host(root).
  static Host enter(const fs::path& root);

  bool is_this_machine() const { return root_ == "/" && !entered_; }
  const fs::path& root() const { return root_; }  // without a "/" at its end
  // The real path of `path`, which is absolute.
  fs::path at(const fs::path& path) const;

  bool exists(const fs::path& path) const;
  // Content of a file; nullopt: it cannot be read, as many files of /sys for a device that is down.
  std::optional<std::string> read(const fs::path& path) const;
  // The content without leading and trailing white space.
  std::optional<std::string> line(const fs::path& path) const;
  std::optional<long long> number(const fs::path& path) const;
  // Names in a directory, sorted; empty if there is none.
  std::vector<std::string> list(const fs::path& path) const;
  // The last component of a link's target.
  std::optional<std::string> link(const fs::path& path) const;

  // Writes an existing file with one write(2), as required by /sys and /proc. Throws std::system_error.
  void write(const fs::path& path, std::string_view text) const;
  // Replaces a file in one step: written beside it, synced, renamed. Makes its directories. Throws
  // std::system_error.
  void replace(const fs::path& path, std::string_view text, unsigned mode = 0644) const;
  void remove(const fs::path& path) const;  // synced; does nothing if it does not exist
  // Removes what a process killed in replace() has left beside the file.
  void tidy(const fs::path& path) const;

  // Runs a program without a shell; standard input is empty. Never throws: errors are in the outcome.
  Outcome run(const Words& words) const;
  bool has(const std::string& program) const;

  // True if NTP or PTP synchronises this machine's clock.
  bool clock_synchronised() const;

 private:
  fs::path root_;
  bool entered_ = false;  // the root "/" is a tree
};

// Parses "2-4,7" into cores, up to the first invalid character.
std::vector<unsigned> cores_of(std::string_view list);
std::string text_of(const std::vector<unsigned>& cores);
// Quoted for a shell.
std::string shell_text(const Words& words);

// The service of the router of that name.
std::string unit_of(const std::string& router);

}  // namespace surety::machine
