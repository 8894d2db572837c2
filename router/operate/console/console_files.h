// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

namespace surety {

// Directory of the page's files: ../share/surety/console from the running executable.
std::filesystem::path console_files();

}  // namespace surety
