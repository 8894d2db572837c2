// SPDX-License-Identifier: BSD-3-Clause
// What setup changes, written down before it is changed, so that all of it can be undone: after a power cut
// at any instant, and in the middle of undoing.
//
// A step is on the disk before it is made. Undoing goes from the last to the first: what is not as the step
// left it is somebody else's by now, and stays.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "router/machine/host.h"

namespace surety::machine {

class Journal {
 public:
  Journal(Host host, fs::path file);  // throws std::runtime_error where the file is no journal

  bool empty() const { return steps_.empty(); }

  // A file, as a whole.
  void replace(const fs::path& path, const std::string& text, unsigned mode = 0644);
  // A number of /sys or /proc; the kernel may give less. The one that it is then.
  long long set(const fs::path& path, long long value);
  // A program, and the one that takes it back. None of both: nothing is run. `what`: what it changes.
  Outcome run(const Words& words, const Words& undo, const std::string& what);
  // Before a PCI device gets another driver than the kernel's.
  void bind(const std::string& address);
  // Only what is to be run once `file`, which is changed after this, has been undone.
  void on_undo(const Words& undo, const std::string& file);

  // Sentences: what was undone and what was kept; and what could not be undone, why, and the command for it.
  // The latter stays in the journal, with all earlier steps of the same thing, and everything else is undone.
  struct Undone {
    std::vector<std::string> says, left;
  };
  Undone undo();

 private:
  struct Step {
    std::string kind;                   // "file", "number", "driver", "program"
    std::string path;                   // of what is changed; of a program, whatever that is called
    std::optional<std::string> before;  // none: there was no such file
    std::string after;
    unsigned mode = 0644;  // of `before`
    Words undo{};
  };
  void add(Step step);
  void save() const;
  // What was done; throws std::runtime_error where it cannot be undone.
  std::string undo_step(const Step& step) const;
  std::string undo_file(const Step& step) const;
  std::string undo_number(const Step& step) const;
  std::string undo_override(const Step& step) const;
  std::string undo_program(const Step& step) const;
  std::string by_hand(const Step& step) const;
  static nlohmann::json json_of(const Step& step);
  static Step step_of(const nlohmann::json& json);

  Host host_;
  fs::path file_;
  std::vector<Step> steps_;
};

}  // namespace surety::machine
