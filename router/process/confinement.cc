// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/confinement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

namespace surety {
namespace {

using CapabilityMask = std::uint64_t;

CapabilityMask mask_of(const std::set<int>& capabilities) {
  CapabilityMask mask = 0;
  for (const int c : capabilities) mask |= CapabilityMask{1} << c;
  return mask;
}

// Keeps of the calling thread's capabilities those.
bool keep_capabilities(CapabilityMask mask) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2];
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  for (unsigned i = 0; i < 2; ++i) {
    const auto kept = static_cast<std::uint32_t>(mask >> (32 * i)) & data[i].permitted;
    data[i] = {kept, kept, 0};
  }
  return ::syscall(SYS_capset, &header, data) == 0;
}

// The restrictions are per thread, not per process: each thread must apply them itself, also threads of
// libraries. A signal triggers this, as in the C library when it changes the process's user.
struct Order {
  int landlock = -1;
  bool packet_sockets = true;
  Fd done;  // an eventfd
  std::atomic<bool> failed{false};
};
Order* order = nullptr;  // the current one
std::atomic<bool> all_confined{false};

bool confine_thread(int landlock, CapabilityMask capabilities) {
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && (landlock < 0 || landlock::enforce(landlock)) &&
         keep_capabilities(capabilities);
}

void follow_order(int) {
  const int error = errno;
  const bool done =
      order->packet_sockets ? confine_thread(order->landlock, 0) : system_calls::forbid_packet_sockets();
  if (!done) order->failed = true;
  ::eventfd_write(order->done.get(), 1);
  errno = error;
}

std::set<pid_t> threads() {
  std::set<pid_t> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string name = entry.path().filename();
    pid_t id = 0;
    std::from_chars(name.data(), name.data() + name.size(), id);
    all.insert(id);
  }
  return all;
}

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

constexpr int kPatience = 5000;  // ms

// False: it has ended.
bool order_thread(pid_t id) {
  if (::syscall(SYS_tgkill, ::getpid(), id, Confinement::signal()) != 0) return false;
  pollfd done{order->done.get(), POLLIN, 0};
  int ready = 0;
  while ((ready = ::poll(&done, 1, kPatience)) < 0 && errno == EINTR) {
  }
  eventfd_t one = 0;
  if (ready > 0 && ::eventfd_read(done.fd, &one) == 0) return true;
  if (threads().contains(id)) fail(ETIMEDOUT, "cannot confine a thread: no answer");
  return false;
}

// Each round finds the threads that the previous ones have made; confined threads make only confined ones.
void tell_others(int landlock, bool packet_sockets) {
  Order here{landlock, packet_sockets, Fd(::eventfd(0, EFD_CLOEXEC))};
  if (!here.done) fail(errno, "cannot create an eventfd");
  order = &here;
  struct sigaction action {
  }, before{};
  action.sa_handler = follow_order;
  action.sa_flags = SA_RESTART;
  sigaction(Confinement::signal(), &action, &before);
  std::set<pid_t> done{static_cast<pid_t>(::syscall(SYS_gettid))};
  for (bool fresh = true; fresh;) {
    fresh = false;
    for (const pid_t id : threads())
      if (done.insert(id).second) fresh |= order_thread(id);
  }
  sigaction(Confinement::signal(), &before, nullptr);
  if (here.failed) fail(EPERM, "cannot confine a thread");
}

}  // namespace

int Confinement::signal() {
  return SIGRTMAX;
}

void Confinement::join_others() {
  if (!all_confined) return;
  if (!keep_capabilities(0) || !system_calls::forbid_packet_sockets()) fail(errno, "cannot confine a thread");
}

Confinement::Confinement(const Needs& needs) {
  const Fd ruleset = landlock::ruleset(needs, pins_);
  const std::string_view files = landlock::summary(ruleset ? landlock::abi() : 0);
  tell_others(ruleset.get(), true);
  if (!confine_thread(ruleset.get(), mask_of(needs.capabilities))) fail(errno, "cannot confine this process");
  const bool filtered = system_calls::filter(needs.packet_sockets);
  // One filter for all threads is installed first: the kernel cannot add it to threads with different ones.
  if (filtered && needs.packet_sockets) tell_others(-1, false);
  all_confined = filtered;
  summary_ =
      fmt::format("confined: {} of {} capabilities, no new privileges, {}, {}", needs.capabilities.size(),
                  CAP_LAST_CAP + 1,
                  filtered ? "the system calls of a router" : "all system calls (no seccomp here)", files);
}

}  // namespace surety

namespace surety::landlock {
namespace {

// Constants of ABI 3, 4 and 5, which the kernel headers of Debian 12 lack.
constexpr std::uint64_t kTruncate = 1u << 14, kDeviceIoctl = 1u << 15;
constexpr long kAbiOfTcp = 4;
constexpr std::uint64_t kBindTcp = 1u << 0, kConnectTcp = 1u << 1;
struct RulesetAttributes {
  std::uint64_t files, tcp;
};

constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kChange = kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate |
                                  LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                  kDeviceIoctl;
constexpr std::uint64_t kMake =
    kChange | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR;
constexpr std::uint64_t kOfFiles = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate |
                                   kDeviceIoctl;  // other rights are for directories

RulesetAttributes all_rights(long abi) {
  std::uint64_t files = (std::uint64_t{LANDLOCK_ACCESS_FS_MAKE_SYM} << 1) - 1;  // ABI 1
  if (abi >= 2) files |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) files |= kTruncate;
  if (abi >= 5) files |= kDeviceIoctl;
  return {files, abi >= kAbiOfTcp ? kBindTcp | kConnectTcp : 0};
}

void allow(const Fd& ruleset, const std::string& path, std::uint64_t rights, std::vector<Fd>& pins) {
  Fd at(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat file {};
  if (!at || ::fstat(at.get(), &file) != 0) return;
  const landlock_path_beneath_attr rule{S_ISDIR(file.st_mode) ? rights : rights & kOfFiles, at.get()};
  ::syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  if (path.starts_with("/proc")) pins.push_back(std::move(at));
}

}  // namespace

long abi() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

std::string_view summary(long abi) {
  if (abi < 1) return "all files (no Landlock here)";
  return abi >= kAbiOfTcp ? "files and TCP by Landlock" : "files by Landlock";
}

Fd ruleset(const Needs& needs, std::vector<Fd>& pins) {
  const long known = abi();
  if (known < 1) return Fd();
  const RulesetAttributes handled = all_rights(known);
  const std::size_t size = known >= kAbiOfTcp ? sizeof handled : sizeof handled.files;
  Fd made(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, size, 0)));
  if (!made) return made;
  for (const std::string& path : needs.read) allow(made, path, kRead & handled.files, pins);
  for (const std::string& path : needs.change) allow(made, path, kChange & handled.files, pins);
  for (const std::string& path : needs.make) allow(made, path, kMake & handled.files, pins);
  return made;
}

bool enforce(int ruleset) {
  return ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

}  // namespace surety::landlock
