// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

namespace surety {

// Where the page's files are if they are anywhere: ../share/surety/console from the running executable.
std::filesystem::path console_files();

}  // namespace surety
