// SPDX-License-Identifier: BSD-3-Clause
// The changes of setup, recorded before they are made, so that all of them can be undone: after a power cut
// at any instant, also during the undoing.
//
// A step is on the disk before it is made. Undoing proceeds from the last to the first step: if the state
// differs from the step's result, others have changed it, and it stays.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "router/operate/machine/host.h"

namespace surety::machine {

class Journal {
 public:
  Journal(Host host, fs::path file);  // throws std::runtime_error if the file is no journal

  bool empty() const { return steps_.empty(); }

  // Replaces a whole file.
  void replace(const fs::path& path, const std::string& text, unsigned mode = 0644);
  // Sets a number in /sys or /proc; the kernel may set less. Returns the resulting number.
  long long set(const fs::path& path, long long value);
  // Runs a program; `undo` reverses it. Empty words: nothing is run. `what`: what it changes.
  Outcome run(const Words& words, const Words& undo, const std::string& what);
  // Called before a PCI device gets another driver than the kernel's.
  void bind(const std::string& address);
  // Adds a command for undo only, to run once `file`, which is changed after this, has been undone.
  void on_undo(const Words& undo, const std::string& file);

  // Sentences: `says`: what was undone or kept; `left`: what could not be undone, with the reason and the
  // command for it. The latter stays in the journal, with all earlier steps for the same object, and
  // everything else is undone.
  struct Undone {
    std::vector<std::string> says, left;
  };
  Undone undo();

 private:
  struct Step {
    std::string kind;                   // "file", "number", "driver", "program"
    std::string path;                   // path of the changed object; for a program its `what`
    std::optional<std::string> before;  // nullopt: there was no such file
    std::string after;
    unsigned mode = 0644;  // mode of `before`
    Words undo{};
  };
  void add(Step step);
  void save() const;
  // Returns what was done; throws std::runtime_error if the step cannot be undone.
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
