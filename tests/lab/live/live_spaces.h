// SPDX-License-Identifier: BSD-3-Clause
// The network namespaces of a live run, with the veth pairs between them; they go when their object goes.
#pragma once

#include <functional>
#include <string>

#include "tests/lab/live/live_layout.h"

namespace surety::lab {

class LiveSpaces {
 public:
  // Throws LiveError; then nothing is left behind. `directory`: for the commands' files.
  LiveSpaces(const LiveLayout& layout, std::string directory);
  ~LiveSpaces();
  LiveSpaces(const LiveSpaces&) = delete;
  LiveSpaces& operator=(const LiveSpaces&) = delete;

 private:
  void batch(const std::string& commands, const std::string& space = {});
  void remove();

  std::vector<std::string> names_;
  std::string directory_;
};

// The calling thread is in that namespace from here on, for good. Throws LiveError.
void enter_space(const std::string& name);

}  // namespace surety::lab
