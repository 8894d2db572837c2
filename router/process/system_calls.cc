// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/confinement.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string_view>

namespace surety::system_calls {
namespace {

// clang-format off
constexpr int kAllowed[] = {
    // Files that are open, or that Landlock allows.
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(pread64),
    SCMP_SYS(pwrite64), SCMP_SYS(lseek), SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(close),
    SCMP_SYS(close_range), SCMP_SYS(fstat), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(newfstatat),
    SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(getdents64), SCMP_SYS(getcwd), SCMP_SYS(unlink), SCMP_SYS(unlinkat),
    SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(mkdir), SCMP_SYS(mkdirat),
    SCMP_SYS(rmdir), SCMP_SYS(fcntl), SCMP_SYS(ioctl), SCMP_SYS(flock), SCMP_SYS(dup), SCMP_SYS(dup2),
    SCMP_SYS(dup3), SCMP_SYS(pipe2), SCMP_SYS(fsync),
    // Memory.
    SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(mlock),
    SCMP_SYS(mlock2), SCMP_SYS(munlock), SCMP_SYS(memfd_create), SCMP_SYS(ftruncate), SCMP_SYS(fallocate),
    SCMP_SYS(mbind), SCMP_SYS(get_mempolicy), SCMP_SYS(set_mempolicy), SCMP_SYS(mincore),
    // Sockets that are open; see below for new ones.
    SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(connect), SCMP_SYS(accept), SCMP_SYS(accept4),
    SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(sendmmsg), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg),
    SCMP_SYS(recvmmsg), SCMP_SYS(shutdown), SCMP_SYS(getsockopt), SCMP_SYS(setsockopt),
    SCMP_SYS(getsockname), SCMP_SYS(getpeername),
    // A memif peer that rings, and the memory that it brings.
    SCMP_SYS(io_setup), SCMP_SYS(io_submit), SCMP_SYS(io_getevents), SCMP_SYS(io_destroy),
    SCMP_SYS(fstatfs),
    // Waiting. epoll_create: DPDK's thread for interrupts, each time that a device comes or goes; it ends the
    // process if it is refused.
    SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(pselect6), SCMP_SYS(epoll_create),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_pwait2),
    SCMP_SYS(eventfd2), SCMP_SYS(timerfd_create), SCMP_SYS(timerfd_settime), SCMP_SYS(timerfd_gettime),
    SCMP_SYS(futex), SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep), SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(restart_syscall),
    // Threads and signals; see below for new ones. capset: there are no capabilities to win, a thread that makes
    // another gives its own up.
    SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(gettid),
    SCMP_SYS(getpid), SCMP_SYS(getppid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid),
    SCMP_SYS(getegid), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_setaffinity),
    SCMP_SYS(sched_getparam), SCMP_SYS(sched_getscheduler), SCMP_SYS(getcpu), SCMP_SYS(membarrier),
    SCMP_SYS(prctl), SCMP_SYS(capget), SCMP_SYS(capset), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(rt_sigtimedwait),
    // The machine.
    SCMP_SYS(getrandom), SCMP_SYS(uname), SCMP_SYS(sysinfo), SCMP_SYS(getrlimit), SCMP_SYS(prlimit64),
    SCMP_SYS(getrusage),
    // Addresses that are left to the kernel (router/daemon/linux/steer.h), with the capability for it.
    SCMP_SYS(bpf),
};
// clang-format on

constexpr int kFamilies[] = {AF_UNIX, AF_NETLINK};
// Datagram sockets are for requests to the kernel. A new TCP socket could connect anywhere if Landlock does
// not cover TCP.
constexpr int kOfDatagrams[] = {AF_INET, AF_INET6};
constexpr scmp_datum_t kTypeOfSocket = 0xf;  // without SOCK_CLOEXEC and SOCK_NONBLOCK
constexpr int kPacketFamilies[] = {AF_PACKET, AF_XDP};

scmp_arg_cmp equal(unsigned argument, std::int64_t value) {
  return {argument, SCMP_CMP_EQ, static_cast<scmp_datum_t>(value), 0};
}

bool allow(scmp_filter_ctx filter, bool packet_sockets) {
  int failed = 0;
  for (const int call : kAllowed) failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
  // No memory that can be executed.
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)})
    failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
                               SCMP_A2(SCMP_CMP_MASKED_EQ, static_cast<scmp_datum_t>(PROT_EXEC), 0));
  for (const int family : kFamilies)
    failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, equal(0, family));
  for (const int family : kOfDatagrams)
    failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2, equal(0, family),
                               SCMP_A1(SCMP_CMP_MASKED_EQ, kTypeOfSocket, SOCK_DGRAM));
  for (const int family : kPacketFamilies)
    if (packet_sockets)
      failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, equal(0, family));
  // A socket's mode, before others can connect.
  if (packet_sockets) failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fchmod), 0);
  // Threads, but no processes; the filter cannot check arguments of clone3(), and the C library falls back to
  // clone().
  failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                             SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
  failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  // Signals to itself.
  failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, equal(0, ::getpid()));
  return failed == 0;
}

// Runs in a signal handler: only async-signal-safe calls are allowed.
void tell(int call) {
  static std::array<std::atomic<bool>, 1024> told{};
  if (call < 0 || call >= static_cast<int>(told.size()) ||
      told[static_cast<std::size_t>(call)].exchange(true))
    return;
  std::array<char, 128> text{};
  std::size_t n = 0;
  const auto add = [&](std::string_view s) {
    for (const char c : s) text[n++] = c;
  };
  add("surety: error: system call ");
  for (int digit = 1000; digit > 0; digit /= 10)
    if (call >= digit || digit == 1) text[n++] = static_cast<char>('0' + call / digit % 10);
  add(" is not permitted to a router: refused\n");
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), n);
}

void refuse(int, siginfo_t* info, void* context) {
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = -EPERM;
  tell(info->si_syscall);
}

struct Release {
  void operator()(void* filter) const { seccomp_release(filter); }
};

}  // namespace

bool filter(bool packet_sockets) {
  struct sigaction action {};
  action.sa_sigaction = refuse;
  action.sa_flags = SA_SIGINFO;
  const std::unique_ptr<void, Release> filter(seccomp_init(SCMP_ACT_TRAP));
  return filter && sigaction(SIGSYS, &action, nullptr) == 0 && allow(filter.get(), packet_sockets) &&
         seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
         seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2) == 0 && seccomp_load(filter.get()) == 0;
}

bool forbid_packet_sockets() {
  constexpr auto kFamily =
      static_cast<std::uint32_t>(offsetof(seccomp_data, args));  // the first argument's low half
  static sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFamily),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_PACKET, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_XDP, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  static const sock_fprog whole{std::size(program), program};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0;
}

}  // namespace surety::system_calls
