// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/upgrade.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include "router/daemon/hand_over.h"
#include "router/operate/machine/host.h"
#include "router/operate/observe/telemetry_client.h"
#include "router/process/fd.h"
#include "router/process/service_manager.h"

namespace surety {

namespace {

using namespace std::chrono_literals;

// Tables of a million routes, on a machine that is busy; and less than TimeoutStartSec= of surety.service.
constexpr auto kUntilReady = 100s;

enum class Within { unit, shell };  // place where the new process is started

std::string contents_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

RouterFacts ask(const std::optional<std::string>& router) {
  return facts_of(TelemetryClient().ask(kHandOver, std::string(kFacts), router));
}

// "0::/system.slice/surety.service": path below the mounted hierarchy; empty: another hierarchy.
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

// Duplicates the outputs of the other process: a journal's socket cannot be opened again.
void write_where(pid_t other) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, other, 0)));
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    if (const Fd theirs(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), fd, 0))); theirs)
      ::dup2(theirs.get(), fd);
  if (process && ::setns(process.get(), CLONE_NEWNET) != 0) return;  // possibly already in that namespace
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (std::string& w : words) all.push_back(w.data());
  all.push_back(nullptr);
  return all;
}

// The service manager's watchdog must accept the new process. Variables that load code are left out: a
// process can change its environment.
std::vector<std::string> environment_of(pid_t process) {
  std::vector<std::string> words;
  std::istringstream all(contents_of(fmt::format("/proc/{}/environ", process)));
  for (std::string word; std::getline(all, word, '\0');)
    if (!word.starts_with("LD_") && !word.starts_with("WATCHDOG_PID=")) words.push_back(word);
  words.push_back(fmt::format("WATCHDOG_PID={}", ::getpid()));
  return words;
}

// The environment that systemd gives a reload of the unit; of the running router's only the variables that
// systemd gives to that process alone.
std::vector<std::string> environment_within(pid_t process) {
  std::vector<std::string> words;
  for (char** word = environ; *word != nullptr; ++word)
    if (!std::string_view(*word).starts_with("MAINPID=")) words.emplace_back(*word);
  for (const std::string& word : environment_of(process))
    if (word.starts_with("WATCHDOG_") ||
        (word.starts_with("NOTIFY_SOCKET=") && ::getenv("NOTIFY_SOCKET") == nullptr))
      words.push_back(word);
  return words;
}

std::string line_of(const std::string& text, std::string_view key) {
  const auto at = text.find(key);
  return at == text.npos ? "" : text.substr(at + key.size(), text.find('\n', at) - at - key.size());
}

// Takes over the limits of the old process, as far as they are visible and permitted: not its mount namespace
// and its system call filter. Its threads are pinned to cores by now, so this one gets all cores that its
// unit permits.
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

// If a unit defines the rest, only the kernel's information about the running router is used: a compromised
// router could otherwise choose less confinement.
[[noreturn]] void become(const RouterFacts& old, Within within) {
  std::string program = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<std::string> words{program, "run", "--take-over", old.file};
  std::vector<std::string> environment =
      within == Within::unit ? environment_within(old.process) : environment_of(old.process);
  join_control_group(old.process);
  take_limits(old.process);
  if (within == Within::shell) write_where(old.process);
  ::setsid();
  if (::chdir(fmt::format("/proc/{}/cwd", old.process).c_str()) != 0 && ::chdir("/") != 0) ::_exit(1);
  ::execve(program.c_str(), pointers(words).data(), pointers(environment).data());
  ::_exit(1);
}

// Starts the new process, but not as a child of this one, which ends earlier: systemd adopts it, and
// supervises only its own children. Empty: it has ended already.
Fd start(const RouterFacts& old, Within within, pid_t& process) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot start a new process");
  const Fd read_end(ends[0]), write_end(ends[1]);
  const pid_t between = ::fork();
  if (between < 0) throw std::runtime_error("cannot start a new process");
  if (between == 0) {
    const pid_t child = ::fork();
    if (child == 0) become(old, within);
    ::_exit(::write(write_end.get(), &child, sizeof child) == sizeof child ? 0 : 1);
  }
  ::waitpid(between, nullptr, 0);
  if (::read(read_end.get(), &process, sizeof process) != sizeof process || process < 0)
    throw std::runtime_error("cannot start a new process");
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

void follow(const RouterFacts& old, Within within, const std::optional<std::string>& router) {
  const auto begin = std::chrono::steady_clock::now();
  pid_t process = 0;
  const Fd started = start(old, within, process);
  while (!forwards(process, router)) {
    if (!lives(started))
      throw std::runtime_error(
          "the new router has ended, and its log says why; check that the old one still runs: "
          "`surety show ports`");
    if (std::chrono::steady_clock::now() - begin > kUntilReady) {
      ::kill(process, SIGTERM);
      throw std::runtime_error(
          fmt::format("the new router is not ready after {} s, and was stopped", kUntilReady.count()));
    }
    std::this_thread::sleep_for(50ms);
  }
  fmt::print("process {} has taken over from process {}\n", process, old.process);
}

// --- a router that is a service ---

// No router may write here (SECURITY.md), so a compromised one cannot make requests.
const std::string kRequests = "/run/surety-upgrade";

std::string request_for(const std::string& process) {
  return kRequests + "/" + process;
}

// Valid while the requesting process waits: a killed one leaves no request.
class Request {
 public:
  explicit Request(pid_t process) : path_(request_for(std::to_string(process))) {
    ::mkdir(kRequests.c_str(), 0700);
    file_ = Fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
    if (!file_) throw std::runtime_error(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
      throw std::runtime_error("another `surety upgrade` is running");
  }
  ~Request() { ::unlink(path_.c_str()); }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  bool is_taken() const { return !contents_of(path_).empty(); }

 private:
  std::string path_;
  Fd file_;
};

// Accepts a request, if a process is waiting for it.
bool take_request(const char* process) {
  const Fd file(::open(request_for(process).c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return false;
  return ::write(file.get(), "taken\n", 6) == 6;
}

bool is_main_process(pid_t process, const std::string& service) {
  const auto said = machine::Host().run({"systemctl", "show", "--value", "-p", "MainPID", service});
  return said.output == fmt::format("{}\n", process);
}

// False: the unit's program does not support such requests.
bool follow_within(const std::string& service, const RouterFacts& old,
                   const std::optional<std::string>& router) {
  const Request request(old.process);
  const auto done = machine::Host().run({"systemctl", "reload", service});
  if (!request.is_taken() && done.status == 0) return false;
  if (!request.is_taken())
    throw std::runtime_error(fmt::format("systemd does not reload {}: {}", service, done.output));
  if (done.status != 0 || ask(router).process == old.process)
    throw std::runtime_error(
        fmt::format("no new router has taken over: `journalctl -u {}` says why; check that the old one "
                    "still runs: `surety show ports`",
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
  const std::string user = line_of(contents_of(fmt::format("/proc/{}/status", old.process)), "\nUid:\t");
  if (user.empty() || std::strtoul(user.c_str(), nullptr, 10) != ::geteuid())
    throw std::runtime_error(
        fmt::format("process {} belongs to another user: run this as that user", old.process));
  const auto service = ServiceManager::service_of(old.process);
  const bool is_service = service && is_main_process(old.process, *service);
  if (is_service && follow_within(*service, old, router)) return 0;
  if (is_service)
    std::cerr << fmt::format(
        "surety: warning: {} has no `ExecReload=surety reload`: until it is restarted, the new router runs "
        "without the restrictions of its unit\n",
        *service);
  follow(old, Within::shell, router);
  return 0;
} catch (const std::runtime_error& e) {
  return fail(e);
}

std::optional<int> upgrade_instead_of_reload(const std::optional<std::string>& router) try {
  const char* const process = std::getenv("MAINPID");  // systemd.exec(5)
  if (process == nullptr || !take_request(process)) return {};
  RouterFacts old = ask(router);
  const char* const file = std::getenv("SURETY_FILE");
  if (file == nullptr)
    throw std::runtime_error("its unit does not set SURETY_FILE to the configuration of the router");
  if (std::to_string(old.process) != process)
    throw std::runtime_error(
        fmt::format("process {} answers, but the main process of the unit is {}", old.process, process));
  old.file = file;
  follow(old, Within::unit, router);
  return 0;
} catch (const std::runtime_error& e) {
  return fail(e);
}

}  // namespace surety
