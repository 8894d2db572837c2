// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/upgrade.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
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
#include "router/dpdk/ports/process_lock.h"
#include "router/machine/host.h"
#include "router/observe/telemetry_client.h"
#include "router/process/fd.h"
#include "router/process/service_manager.h"

namespace surety {

namespace {

using namespace std::chrono_literals;

// Tables of a million routes, on a machine that is busy; and less than TimeoutStartSec= of surety.service.
constexpr auto kUntilReady = 100s;

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

// What its supervisor has given the old one, as far as a process may see and take it: not its view of the
// files, nor which system calls it may not make. Its threads have cores of their own by now, so this one may
// have them all, as its unit says.
void take_limits(pid_t old) {
  for (const auto limit : {RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_CORE, RLIMIT_NPROC, RLIMIT_AS})
    if (rlimit theirs{}; ::prlimit(old, limit, nullptr, &theirs) == 0) ::setrlimit(limit, &theirs);
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  ::sched_setaffinity(0, sizeof all, &all);
  const std::string status = contents_of(fmt::format("/proc/{}/status", old));
  if (const std::string mask = line_of(status, "\nUmask:\t"); !mask.empty())
    ::umask(static_cast<mode_t>(std::strtoul(mask.c_str(), nullptr, 8)));
  if (const std::string bounds = line_of(status, "\nCapBnd:\t"); !bounds.empty())
    for (unsigned long c = 0; c < 64; ++c)
      if ((std::strtoull(bounds.c_str(), nullptr, 16) >> c & 1) == 0) ::prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
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

// Not a child of this process, which ends before it does: what takes it on is systemd, then, which supervises
// only children of its own. None: it has ended already.
Fd start(const RouterFacts& old, pid_t& process) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no other process can be started");
  const Fd read_end(ends[0]), write_end(ends[1]);
  const pid_t between = ::fork();
  if (between < 0) throw std::runtime_error("no other process can be started");
  if (between == 0) {
    const pid_t child = ::fork();
    if (child == 0) become(old);
    ::_exit(::write(write_end.get(), &child, sizeof child) == sizeof child ? 0 : 1);
  }
  ::waitpid(between, nullptr, 0);
  if (::read(read_end.get(), &process, sizeof process) != sizeof process || process < 0)
    throw std::runtime_error("no other process can be started");
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

bool lives(const Fd& process) {
  pollfd p{process.get(), POLLIN, 0};
  return process && ::poll(&p, 1, 0) == 0;
}

bool forwards(pid_t process, const std::optional<std::string>& router) {
  try {
    const RouterFacts now = ask(router);
    return now.process == process && now.forwards;
  } catch (const std::runtime_error&) {
    return false;  // between the two, or the new one is about to take over
  }
}

void follow(const RouterFacts& old, const std::optional<std::string>& router) {
  const auto begin = std::chrono::steady_clock::now();
  pid_t process = 0;
  const Fd started = start(old, process);
  while (!forwards(process, router)) {
    if (!lives(started))
      throw std::runtime_error(
          "the new router has ended, and its log says why; see whether the old one goes on: "
          "`surety show ports`");
    if (std::chrono::steady_clock::now() - begin > kUntilReady) {
      ::kill(process, SIGTERM);
      throw std::runtime_error(fmt::format("the new router is not ready after {} s, and has been told to end",
                                           kUntilReady.count()));
    }
    std::this_thread::sleep_for(50ms);
  }
  fmt::print("process {} has taken over from process {}\n", process, old.process);
}

// --- a router that is a service ---

// Whoever may write there is root.
std::string request_for(const std::string& process) {
  return fmt::format("{}/upgrade-{}", ProcessLock::directory(), process);
}

bool is_main_process(pid_t process, const std::string& service) {
  const auto said = machine::Host().run({"systemctl", "show", "--value", "-p", "MainPID", service});
  return said.output == fmt::format("{}\n", process);
}

// False: nobody there knows of such requests.
bool follow_within(const std::string& service, const RouterFacts& old,
                   const std::optional<std::string>& router) {
  const std::string request = request_for(std::to_string(old.process));
  std::ofstream(request) << std::flush;
  const auto done = machine::Host().run({"systemctl", "reload", service});
  if (std::filesystem::remove(request)) return false;
  if (done.status != 0)
    throw std::runtime_error(
        fmt::format("no new router has taken over: `journalctl -u {}` says why; see whether the old one goes "
                    "on: `surety show ports`",
                    service));
  fmt::print("process {} has taken over from process {}\n", ask(router).process, old.process);
  return true;
}

int fail(const std::runtime_error& e) {
  std::cerr << "surety: error: " << e.what() << "\n";
  return 1;
}

}  // namespace

int upgrade(const std::optional<std::string>& router) try {
  const RouterFacts old = ask(router);
  const auto service = ServiceManager::service_of(old.process);
  const bool is_service = service && is_main_process(old.process, *service);
  if (is_service && follow_within(*service, old, router)) return 0;
  if (is_service)
    std::cerr << fmt::format(
        "surety: warning: {} has no `ExecReload=surety reload`: until it is started again, the new router is "
        "without what its unit forbids\n",
        *service);
  follow(old, router);
  return 0;
} catch (const std::runtime_error& e) {
  return fail(e);
}

std::optional<int> upgrade_instead_of_reload(const std::optional<std::string>& router) try {
  const char* const process = std::getenv("MAINPID");  // systemd.exec(5)
  if (process == nullptr || !std::filesystem::remove(request_for(process))) return {};
  follow(ask(router), router);
  return 0;
} catch (const std::runtime_error& e) {
  return fail(e);
}

}  // namespace surety
