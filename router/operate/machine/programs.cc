// SPDX-License-Identifier: BSD-3-Clause
// Runs programs of the machine, or of a tree that models one.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "router/operate/machine/host.h"
#include "router/process/fd.h"

extern char** environ;

namespace surety::machine {

namespace {

Outcome recorded(const Host& host, const Words& words) {
  std::string name;
  for (const auto& word : words) name += (name.empty() ? "" : "_") + word;
  std::ranges::replace(name, '/', '_');
  std::error_code error;
  fs::create_directories(host.at("/commands"), error);
  std::ofstream(host.at("/commands/log"), std::ios::app) << shell_text(words) << '\n';
  const auto answer = host.read("/commands/" + name);
  if (answer) return {0, *answer};
  return {127, words.front() + ": not found"};
}

struct Actions {
  posix_spawn_file_actions_t list{};
  Actions() { posix_spawn_file_actions_init(&list); }
  ~Actions() { posix_spawn_file_actions_destroy(&list); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
};

std::string read_to_end(const Fd& from) {
  std::string text;
  std::array<char, 4096> some{};
  for (;;) {
    const ssize_t n = ::read(from.get(), some.data(), some.size());
    if (n > 0) text.append(some.data(), static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return text;
  }
}

// posix_spawnp searches PATH, which for a service, or with sudo, may lack the administrator's directories.
void look_everywhere() {
  const char* const path = std::getenv("PATH");
  const std::string all = std::string(path ? path : "/usr/bin:/bin") + ":/usr/sbin:/sbin";
  if (!path || std::string_view(path).find("/usr/sbin") == std::string_view::npos)
    ::setenv("PATH", all.c_str(), 1);
}

}  // namespace

Outcome Host::run(const Words& words) const {
  if (!is_this_machine()) return recorded(*this, words);
  look_everywhere();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {126, std::strerror(errno)};
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  Actions actions;
  posix_spawn_file_actions_addopen(&actions.list, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions.list, write_end.get(), 1);
  posix_spawn_file_actions_adddup2(&actions.list, write_end.get(), 2);
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  if (const int error = ::posix_spawnp(&child, argv[0], &actions.list, nullptr, argv.data(), environ);
      error != 0)
    return {127, words.front() + ": " + std::strerror(error)};
  write_end = Fd();
  Outcome outcome;
  outcome.output = read_to_end(read_end);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

}  // namespace surety::machine
