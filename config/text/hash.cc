// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/hash.h"

#include <fmt/format.h>

#include <cstdint>

namespace surety::config {

std::string hash_of(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", h);
}

}  // namespace surety::config
