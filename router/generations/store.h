// SPDX-License-Identifier: BSD-3-Clause
// The generations of a router's configuration, DIR/generations/000012: what it is (JSON), and configuration/
// with the files as they were. The last kKept of them.
//
// A generation is there whole or not at all. Before a configuration is installed, it is staged as the next
// generation; whether it has become one is decided by what is installed, and by nothing else: settle() says
// so, whatever was killed in between. Who changes anything here has the ChangeLock of DIR. Throws
// std::runtime_error, one sentence, where something cannot be read or written; then nothing has changed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "router/generations/config_tree.h"
#include "router/generations/generation.h"

namespace surety {

class Store {
 public:
  static constexpr std::size_t kKept = 50;

  // DIR: a router's state. It is made where it does not exist by `open`; reading needs none.
  explicit Store(std::filesystem::path directory) : directory_(std::move(directory)) {}
  void open() const;
  const std::filesystem::path& directory() const { return directory_; }

  // Returns the generations, the oldest first, without damaged ones: `damaged` gets a sentence about each of
  // these. Throws for a generation of a newer version.
  std::vector<Generation> all(std::vector<std::string>* damaged = nullptr) const;
  // Throws DamagedGeneration.
  ConfigTree tree_of(const Generation& g) const;
  // Whether a generation has a file of this name and text.
  bool keeps(const std::string& name, const std::string& text) const;

  // Where a router may read what it is asked about: `name` is `staged` or `asked`. The path of the first
  // file.
  std::filesystem::path put(const ConfigTree& tree, const std::string& name) const;
  void drop(const std::string& name) const;

  // The candidate: stage() may be followed by install(), and that by settle().
  std::filesystem::path stage(const ConfigTree& tree, const Generation& about) const;
  struct Staged {
    Generation about;
    ConfigTree tree;
  };
  // None also where what is staged is damaged.
  std::optional<Staged> staged() const;
  // What is staged becomes a generation where it is what is installed, else goes unless `keep`; what is
  // installed and no generation yet becomes one of `found`. The newest; none: there is nothing.
  // `taken`: what is staged is in effect. Then it becomes one also where its texts are those of the newest,
  // and only what `!file` stands for differs, which the files cannot say.
  std::optional<Generation> settle(const ConfigTree& installed, const Generation& found, bool keep,
                                   bool taken = false) const;

 private:
  std::filesystem::path generations() const { return directory_ / "generations"; }
  std::filesystem::path at(int number) const;
  Generation read(int number) const;
  Generation add(Generation about, const Generation* before) const;
  void forget_old() const;

  std::filesystem::path directory_;
};

}  // namespace surety
