// SPDX-License-Identifier: BSD-3-Clause
// The last kKept generations of a router's configuration, DIR/generations/000012: its description (JSON), and
// configuration/ with its files.
//
// A generation is complete or does not exist. Before a configuration is installed, it is staged as the next
// generation; it becomes one if it is the installed one: settle() decides this, also after a kill in between.
// Changes require the ChangeLock of DIR. Throws std::runtime_error, one sentence, if anything cannot be read
// or written; then nothing has changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "router/operate/generations/config_tree.h"
#include "router/operate/observe/reading_json.h"

namespace surety {

// A configuration that was in effect in a router, and its history.
struct Generation {
  static constexpr int kFormat = 1;
  static constexpr std::string_view kNotInEffect =
      "edited, not in effect";   // value of `how`: edited by hand, and not read
  int number = 0, parent = 0;    // parent: the previous one; 0: none
  std::int64_t when = 0;         // Unix seconds
  std::string who, how, why;     // "alice", "apply --confirm", "more for gold"
  std::string main;              // name of the main file
  std::string installed;         // path of the router's file
  std::string hash;              // ConfigTree::hash()
  Json changes = Json::array();  // strings: changes from the previous one
};

// A generation that cannot be read, while others can.
struct DamagedGeneration : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Json to_json(const Generation& g);
// Throws DamagedGeneration, or std::runtime_error for a newer format. `where`: for the message.
Generation generation_of(const std::string& text, const std::filesystem::path& where);

class Store {
 public:
  // Beyond these the oldest generation is removed; before it, of changes of subscribers in a row with the
  // same command and reason, such as those of RADIUS, the oldest that another one follows.
  static constexpr std::size_t kKept = 50;

  // DIR: a router's state directory. open() creates it; reading does not.
  explicit Store(std::filesystem::path directory) : directory_(std::move(directory)) {}
  void open() const;
  const std::filesystem::path& directory() const { return directory_; }

  // Returns the generations, the oldest first, without damaged ones: `damaged` gets a sentence about each of
  // these. Throws for a generation of a newer version.
  std::vector<Generation> all(std::vector<std::string>* damaged = nullptr) const;
  // Throws DamagedGeneration.
  ConfigTree tree_of(const Generation& g) const;
  // True if a generation has a file of this name and text.
  bool keeps(const std::string& name, const std::string& text) const;

  // Stores a configuration for a router to read; `name`: `staged` or `asked`. Returns the path of the main
  // file.
  std::filesystem::path put(const ConfigTree& tree, const std::string& name) const;
  void drop(const std::string& name) const;

  // Stages the candidate: stage() may be followed by install(), and that by settle().
  std::filesystem::path stage(const ConfigTree& tree, const Generation& about) const;
  struct Staged {
    Generation about;
    ConfigTree tree;
  };
  // nullopt also if the staged configuration is damaged.
  std::optional<Staged> staged() const;
  // Makes the staged configuration a generation if it is the installed one, else removes it unless `keep`; an
  // installed configuration that is no generation yet becomes one, described by `found`. Returns the newest;
  // nullopt: there is none. `taken`: the staged one is in effect. It then becomes a generation also if its
  // texts are those of the newest, and only content of `!file` differs, which the texts do not show.
  std::optional<Generation> settle(const ConfigTree& installed, const Generation& found, bool keep,
                                   bool taken = false) const;

 private:
  std::filesystem::path generations() const { return directory_ / "generations"; }
  std::filesystem::path at(int number) const;
  Generation read(int number) const;
  Generation add(Generation about, const Generation* before) const;
  void forget_old() const;
  int number_to_forget() const;

  std::filesystem::path directory_;
};

}  // namespace surety
