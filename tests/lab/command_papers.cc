// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/command_papers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

namespace surety::lab {

namespace {

namespace fs = std::filesystem;

// Debian's, which has matplotlib; another one may be first in PATH.
constexpr const char* kPython = "/usr/bin/python3";
// From the program's directory: as installed, and in the tree that it was built in (build/release/bin).
constexpr std::array kPlaces{"../share/surety/papers", "../../../tests/lab/papers"};

fs::path find_papers(const fs::path& program) {
  for (const char* place : kPlaces) {
    const fs::path papers = (program.parent_path() / place).lexically_normal();
    if (fs::exists(papers / "__main__.py")) return papers;
  }
  throw std::runtime_error(fmt::format("the papers are neither in {} nor in {} beside {}", kPlaces[0],
                                       kPlaces[1], program.parent_path().string()));
}

[[noreturn]] void become(std::vector<std::string> command) {
  std::vector<char*> argv;
  for (auto& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  throw std::runtime_error(fmt::format("cannot run {}: {}", command[0], std::strerror(errno)));
}

}  // namespace

int command_papers(const std::vector<std::string>& arguments) try {
  const auto program = fs::read_symlink("/proc/self/exe");
  // -B: whoever may run it need not be able to write where it is.
  std::vector<std::string> command{kPython, "-B", find_papers(program).string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.insert(command.end(), {"--lab", program.string()});
  std::cout.flush();
  become(std::move(command));
} catch (const std::exception& e) {
  std::cerr << "surety-lab: " << e.what() << '\n';
  return 1;
}

}  // namespace surety::lab
