// SPDX-License-Identifier: BSD-3-Clause
// Files that are part of the program (embed.cmake): it needs none of its own beside it.
#pragma once

#include <span>
#include <string_view>

namespace surety::lab {

struct EmbeddedFile {
  std::string_view name, text;  // the name relative to tests/lab/papers
};
std::span<const EmbeddedFile> embedded_papers();
extern const std::string_view kScenarioSchema;  // scenario_schema.json

}  // namespace surety::lab
