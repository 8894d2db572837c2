// SPDX-License-Identifier: BSD-3-Clause
// Who changes something: the person who logged in, whatever he has become since.
#pragma once

#include <string>

namespace surety {

// "alice": of $SUDO_USER for root, else of the kernel's login (loginuid), else of the process.
std::string author();
std::string name_of_user(unsigned user);  // "1000" where it has none

}  // namespace surety
