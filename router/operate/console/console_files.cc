// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/console/console_files.h"

namespace surety {

std::filesystem::path console_files() {
  std::error_code error;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
  return (executable.parent_path() / ".." / "share/surety/console").lexically_normal();
}

}  // namespace surety
