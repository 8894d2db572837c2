// SPDX-License-Identifier: BSD-3-Clause
// `surety show signalling`: what this router signals, whom it heard, and what follows of it.
#pragma once

#include <string>

#include "router/observe/reading_json.h"

namespace surety {

// The rows of table `signalling` (reading_json.h) as paragraphs, one for each kind; results that never
// happened with `all` only.
std::string render_signalling(const Json& rows, bool all);

}  // namespace surety
