// SPDX-License-Identifier: BSD-3-Clause
// Permits one change at a time: of a router's configuration, and of its machine.
//
// The kernel releases the lock when the process ends. A second process waits no longer than a router needs to
// store a generation, and then gets the holder's name and command.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "router/process/fd.h"

namespace surety {

class ChangeLock {
 public:
  // `directory`: state directory of a router or of the machine; it must exist. `who`: a user
  // (router/process/this_process.h), `what`: the command. Throws std::runtime_error if another process
  // has held the lock for a second, with its user, or if the lock cannot be written.
  ChangeLock(const std::filesystem::path& directory, std::string_view who, std::string_view what);
  // nullopt: another process has it.
  static std::optional<ChangeLock> if_free(const std::filesystem::path& directory, std::string_view who,
                                           std::string_view what);

 private:
  ChangeLock() = default;
  std::optional<std::string> take(const std::filesystem::path& directory, std::string_view who,
                                  std::string_view what);
  Fd file_;
};

}  // namespace surety
