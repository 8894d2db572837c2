// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/upgrade.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "router/dpdk/hand_over.h"
#include "router/observe/telemetry_client.h"

namespace surety {

namespace {

using namespace std::chrono_literals;

constexpr auto kUntilReady = 120s;  // tables of a million routes, on a machine that is busy

std::string contents_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

RouterFacts ask(const std::optional<std::string>& router) {
  return facts_of(TelemetryClient().ask(kHandOver, std::string(kFacts), router));
}

// "0::/system.slice/surety.service": where it is, below the mounted hierarchy; empty: of another kind.
std::string control_group(const std::string& process) {
  std::istringstream lines(contents_of("/proc/" + process + "/cgroup"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("0::")) return line.substr(3);
  return {};
}

void join_control_group(pid_t of) {
  const std::string group = control_group(std::to_string(of));
  if (group.empty() || group == control_group("self")) return;
  std::ofstream("/sys/fs/cgroup" + group + "/cgroup.procs") << ::getpid() << std::flush;
}

// What it writes to: a journal's socket cannot be opened anew.
void write_where(pid_t other) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, other, 0)));
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    if (const Fd theirs(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), fd, 0))); theirs)
      ::dup2(theirs.get(), fd);
  if (process && ::setns(process.get(), CLONE_NEWNET) != 0) return;  // it is in the same one, perhaps
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& w : words) all.push_back(w.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_of(pid_t process) {
  std::vector<std::string> words;
  std::istringstream all(contents_of(fmt::format("/proc/{}/environ", process)));
  for (std::string word; std::getline(all, word, '\0');)
    // Whose signs of life a service manager waits for.
    words.push_back(word.starts_with("WATCHDOG_PID=") ? fmt::format("WATCHDOG_PID={}", ::getpid()) : word);
  return words;
}

std::string line_of(const std::string& text, std::string_view key) {
  const auto at = text.find(key);
  return at == text.npos ? "" : text.substr(at + key.size(), text.find('\n', at) - at - key.size());
}

// What a service manager has given the old one, as far as a process may see and take it: not its bounding set
// of capabilities, which it has given up since, nor its view of the files. Its threads have cores of their
// own by now, so this one may have them all, as its unit says.
void take_limits(pid_t old) {
  for (const auto limit : {RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_CORE, RLIMIT_NPROC, RLIMIT_AS})
    if (rlimit theirs{}; ::prlimit(old, limit, nullptr, &theirs) == 0) ::setrlimit(limit, &theirs);
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  ::sched_setaffinity(0, sizeof all, &all);
  const std::string status = contents_of(fmt::format("/proc/{}/status", old));
  if (const std::string mask = line_of(status, "\nUmask:\t"); !mask.empty())
    ::umask(static_cast<mode_t>(std::strtoul(mask.c_str(), nullptr, 8)));
  std::ofstream("/proc/self/oom_score_adj") << contents_of(fmt::format("/proc/{}/oom_score_adj", old));
}

[[noreturn]] void become(const RouterFacts& old) {
  std::string program = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<std::string> words{program, "run", "--take-over", old.file};
  std::vector<std::string> environment = environment_of(old.process);
  join_control_group(old.process);
  take_limits(old.process);
  write_where(old.process);
  ::setsid();
  if (::chdir(fmt::format("/proc/{}/cwd", old.process).c_str()) != 0 && ::chdir("/") != 0) ::_exit(1);
  ::execve(program.c_str(), pointers(words).data(), pointers(environment).data());
  ::_exit(1);
}

// Whether it forwards now; throws where it has ended.
bool forwards(pid_t process, const std::optional<std::string>& router) {
  if (int status = 0; ::waitpid(process, &status, WNOHANG) == process)
    throw std::runtime_error(
        "the new router has ended, and its log says why; see whether the old one goes on: "
        "`surety show ports`");
  try {
    const RouterFacts now = ask(router);
    return now.process == process && now.forwards;
  } catch (const std::runtime_error&) {
    return false;  // between the two, or the new one is about to take over
  }
}

}  // namespace

int upgrade(const std::optional<std::string>& router) try {
  const RouterFacts old = ask(router);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t process = ::fork();
  if (process < 0) throw std::runtime_error("no other process can be started");
  if (process == 0) become(old);
  while (!forwards(process, router)) {
    if (std::chrono::steady_clock::now() - begin > kUntilReady) {
      ::kill(process, SIGTERM);
      throw std::runtime_error("the new router is not ready after two minutes, and has been told to end");
    }
    std::this_thread::sleep_for(50ms);
  }
  fmt::print("process {} has taken over from process {}\n", process, old.process);
  return 0;
} catch (const std::runtime_error& e) {
  std::cerr << "surety: error: " << e.what() << "\n";
  return 1;
}

}  // namespace surety
