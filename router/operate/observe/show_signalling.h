// SPDX-License-Identifier: BSD-3-Clause
// `surety show signalling`: signals sent, signals received, and their effects.
#pragma once

#include <string>

#include "router/operate/observe/reading_json.h"

namespace surety {

// The rows of table `signalling` (reading_json.h) as paragraphs, one for each kind; results with count 0 only
// with `all`.
std::string render_signalling(const Json& rows, bool all);

}  // namespace surety
