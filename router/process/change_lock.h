// SPDX-License-Identifier: BSD-3-Clause
// One change at a time: of a router's configuration, and of the machine that it stands on.
//
// The kernel drops the lock with the process, however that ends. Nobody waits for another for longer than a
// router takes to keep a generation: who comes second learns who is at it and what he does.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "router/process/fd.h"

namespace surety {

class ChangeLock {
 public:
  // `directory`: where a router keeps its state, or the machine its own; it exists. `who`: a person
  // (router/generations/author.h), `what`: his command. Throws std::runtime_error: somebody else has had it
  // for a second, and who; or the lock cannot be written.
  ChangeLock(const std::filesystem::path& directory, std::string_view who, std::string_view what);
  // None: somebody else has it.
  static std::optional<ChangeLock> if_free(const std::filesystem::path& directory, std::string_view who,
                                           std::string_view what);

 private:
  ChangeLock() = default;
  std::optional<std::string> take(const std::filesystem::path& directory, std::string_view who,
                                  std::string_view what);
  Fd file_;
};

}  // namespace surety
