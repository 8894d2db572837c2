// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/bpf_object_path.h"

#include <filesystem>

namespace surety {

std::string bpf_object_path(std::string_view file) {
  std::error_code error;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto directory = executable.parent_path();
  for (const auto& candidate : {directory / file, directory / ".." / "lib" / "surety" / "bpf" / file})
    if (std::filesystem::exists(candidate, error)) return candidate.lexically_normal().string();
  return {};
}

}  // namespace surety
