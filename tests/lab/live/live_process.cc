// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

namespace surety::lab {

namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 5ms;
constexpr auto kCommandPatience = 20s;
constexpr int kNotStarted = 127;

// Between fork and exec: nothing but system calls, since other threads may have held any lock.
[[noreturn]] void become(char* const* argv, const char* log) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  setsid();
  const int in = open("/dev/null", O_RDONLY);
  int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (out < 0)
    out = open("/dev/null", O_WRONLY);  // namespaces are removed also when the log's directory is gone
  if (in >= 0 && out >= 0 && dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(out, 2) >= 0)
    execvp(argv[0], argv);
  _exit(kNotStarted);
}

pid_t start(const std::vector<std::string>& command, const std::string& log) {
  std::vector<std::string> kept = command;
  std::vector<char*> argv;
  for (auto& word : kept) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) become(argv.data(), log.c_str());
  if (pid < 0) throw LiveError(fmt::format("cannot start {}: {}", command[0], std::strerror(errno)));
  return pid;
}

std::string text_of(const std::string& file) {
  std::ostringstream s;
  s << std::ifstream(file).rdbuf();
  return s.str();
}

}  // namespace

LiveProcess::LiveProcess(const std::vector<std::string>& command, const std::string& log)
    : pid_(start(command, log)), log_(log) {}

LiveProcess::~LiveProcess() {
  end();
}

std::optional<int> LiveProcess::status() {
  int s = 0;
  if (!status_ && waitpid(pid_, &s, WNOHANG) == pid_)
    status_ = WIFEXITED(s) ? WEXITSTATUS(s) : 128 + WTERMSIG(s);
  return status_;
}

std::string LiveProcess::output() const {
  return text_of(log_);
}

void LiveProcess::end(std::chrono::milliseconds patience) {
  const auto ended = [this] { return status().has_value(); };
  if (ended()) return;
  kill(pid_, SIGTERM);
  if (wait_until(ended, patience, [] { return false; })) return;
  kill(pid_, SIGKILL);
  // A killed process ends as soon as it gets a core, and only then are its devices free.
  wait_until(ended, kCommandPatience, [] { return false; });
}

void run_command(const std::vector<std::string>& command, const std::string& directory) {
  const std::string log = directory + "/command.log";
  std::ofstream(log, std::ios::trunc).flush();
  LiveProcess process(command, log);
  const auto ended = [&] { return process.status().has_value(); };
  if (wait_until(ended, kCommandPatience, [] { return false; }) && process.status() == 0) return;
  throw LiveError(fmt::format("`{}` failed: {}", fmt::join(command, " "), process.output()));
}

bool wait_until(const std::function<bool()>& done, std::chrono::milliseconds patience,
                const std::function<bool()>& stop) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!done()) {
    if (stop() || std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

}  // namespace surety::lab
