// SPDX-License-Identifier: BSD-3-Clause
// A part of a scenario's tree as JSON, which is YAML: for the programs that read the same vocabulary.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "config/text/document.h"

namespace surety::lab {

// Scalars become strings (the readers of config/ take numbers and words from text); aliases are expanded.
// `without`: keys of the outermost map that are left out.
std::string json_text(const config::Node& node, std::initializer_list<std::string_view> without = {});

}  // namespace surety::lab
