// SPDX-License-Identifier: BSD-3-Clause
// The author of a change: the user of the login, also after su or sudo.
#pragma once

#include <string>

namespace surety {

// "alice": from $SUDO_USER for root, else from the kernel's login (loginuid), else the process's user.
std::string author();
std::string name_of_user(unsigned user);  // "1000" without a name

}  // namespace surety
