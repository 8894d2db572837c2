// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/author.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace surety {

std::string name_of_user(unsigned user) {
  passwd found{}, *result = nullptr;
  char room[4096];
  if (::getpwuid_r(user, &found, room, sizeof room, &result) == 0 && result != nullptr) return found.pw_name;
  return std::to_string(user);
}

std::string author() {
  const char* const sudo = std::getenv("SUDO_USER");
  if (::geteuid() == 0 && sudo != nullptr && *sudo != '\0') return sudo;
  constexpr unsigned kNobodyLoggedIn = 4294967295u;
  unsigned login = kNobodyLoggedIn;
  std::ifstream("/proc/self/loginuid") >> login;
  return name_of_user(login != kNobodyLoggedIn ? login : ::getuid());
}

}  // namespace surety
