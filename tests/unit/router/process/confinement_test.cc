// SPDX-License-Identifier: BSD-3-Clause
// Each test in a process of its own, since there is no way back.
#include "router/process/confinement.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <thread>

namespace surety {
namespace {

constexpr int kAllowed = 0;

// What a call of the confined process says; `of_another`: of a thread that was there before it was confined.
int error_of(const Needs& needs, const std::function<long()>& call, bool of_another = false) {
  std::atomic<bool> confined = false;
  std::atomic<int> error = -1;
  const auto make = [&] { error = call() < 0 ? errno : kAllowed; };
  std::thread other([&] {
    while (!confined) std::this_thread::yield();
    if (of_another) make();
  });
  const Confinement confinement(needs);
  confined = true;
  other.join();
  if (!of_another) make();
  return error;
}

#define EXPECT_SAYS(needs, call, error)                                         \
  EXPECT_EXIT(::_exit(error_of(needs, [] { return static_cast<long>(call); })), \
              testing::ExitedWithCode(error), "")
#define EXPECT_SAYS_OF_ANOTHER(needs, call, error)                       \
  EXPECT_EXIT(::_exit(error_of(                                          \
                  needs, [] { return static_cast<long>(call); }, true)), \
              testing::ExitedWithCode(error), "")

TEST(ConfinementDeathTest, HasNoProcessesBesideItAndNoCode) {
  EXPECT_SAYS({}, ::syscall(SYS_fork), EPERM);
  EXPECT_SAYS_OF_ANOTHER({}, ::syscall(SYS_fork), EPERM);
  EXPECT_SAYS({}, ::execl("/bin/true", "true", nullptr), EPERM);
  EXPECT_SAYS(
      {},
      ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0,
      EPERM);
  EXPECT_SAYS({}, ::syscall(SYS_ptrace, 0, 0, 0, 0), EPERM);
}

TEST(ConfinementDeathTest, SaysOnceWhichCallItRefuses) {
  const auto twice = [] { return ::syscall(SYS_ptrace, 0, 0, 0, 0) + ::syscall(SYS_ptrace, 0, 0, 0, 0); };
  EXPECT_EXIT(::_exit(error_of({}, twice)), testing::ExitedWithCode(EPERM),
              "^surety: error: system call 101 is not permitted to a router: refused\n$");
}

TEST(ConfinementDeathTest, OpensNoSocketsOfOtherKinds) {
  EXPECT_SAYS({}, ::socket(AF_UNIX, SOCK_STREAM, 0), kAllowed);
  EXPECT_SAYS({}, ::socket(AF_PACKET, SOCK_RAW, 0), EPERM);
}

// DPDK's thread for interrupts does so each time that a device comes or goes, by this old call, and ends the
// process if it fails.
TEST(ConfinementDeathTest, WaitsForOtherDevicesThanAtTheStart) {
  EXPECT_SAYS({}, ::syscall(SYS_epoll_create, 1), kAllowed);
  EXPECT_SAYS_OF_ANOTHER({}, ::syscall(SYS_epoll_create, 1), kAllowed);
}

// Whether that thread may or may not: EACCES and EPERM of the kernel are of who has no right to.
TEST(ConfinementDeathTest, OpensPacketSocketsOnItsOwnThreadOnly) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  Needs packets;
  packets.packet_sockets = true;
  packets.read = {"/proc"};
  packets.capabilities = {CAP_NET_RAW};
  EXPECT_SAYS(packets, ::socket(AF_PACKET, SOCK_RAW, 0), kAllowed);
  EXPECT_SAYS_OF_ANOTHER(packets, ::socket(AF_PACKET, SOCK_RAW, 0), EPERM);
  EXPECT_SAYS_OF_ANOTHER(packets, ::socket(AF_XDP, SOCK_RAW, 0), EPERM);
  EXPECT_SAYS_OF_ANOTHER(packets, ::socket(AF_UNIX, SOCK_STREAM, 0), kAllowed);
  const auto of_one_made_later = [] {
    int error = kAllowed;
    std::thread([&] {
      Confinement::join_others();
      if (::socket(AF_PACKET, SOCK_RAW, 0) < 0) error = errno;
      if (::socket(AF_UNIX, SOCK_STREAM, 0) < 0) error = -1;
    }).join();
    errno = error;
    return error == kAllowed ? 0L : -1L;
  };
  EXPECT_EXIT(::_exit(error_of(packets, of_one_made_later)), testing::ExitedWithCode(EPERM), "");
}

TEST(ConfinementDeathTest, MakesFilesWhereItNeedsTo) {
  const std::string directory = testing::TempDir() + "confinement_make";
  ::mkdir(directory.c_str(), 0755);
  static const std::string file = directory + "/file";
  ::unlink(file.c_str());
  Needs changes, makes;
  changes.change = {directory};
  makes.make = {directory};
  EXPECT_SAYS(changes, ::open(file.c_str(), O_RDWR | O_CREAT, 0644), EACCES);
  EXPECT_SAYS(makes, ::open(file.c_str(), O_RDWR | O_CREAT, 0644), kAllowed);
}

// Whatever Landlock knows of TCP: a running router makes none, and a request of the kernel's needs a
// datagram.
TEST(ConfinementDeathTest, OpensNoSocketsOfTcp) {
  for (const int family : {AF_INET, AF_INET6}) {
    const auto says = [&](int type, int protocol = 0) {
      return [=] { return static_cast<long>(::socket(family, type, protocol)); };
    };
    const auto expect = [&](const std::function<long()>& call, int error) {
      EXPECT_EXIT(::_exit(error_of({}, call)), testing::ExitedWithCode(error), "");
    };
    expect(says(SOCK_DGRAM), kAllowed);
    expect(says(SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK), kAllowed);
    expect(says(SOCK_STREAM), EPERM);
    expect(says(SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK), EPERM);
    expect(says(SOCK_SEQPACKET, IPPROTO_SCTP), EPERM);
    expect(says(SOCK_RAW, IPPROTO_ICMP), EPERM);
  }
}

// Which blocks signals, since they are for another one: what is refused is no end of the process there,
// either.
TEST(ConfinementDeathTest, RefusesAThreadInTheBackgroundTheSame) {
  const auto run = [] {
    std::atomic<bool> confined = false;
    std::atomic<int> error = -1;
    std::jthread other = background_thread([&](const std::stop_token&) {
      while (!confined) std::this_thread::yield();
      error = ::syscall(SYS_ptrace, 0, 0, 0, 0) < 0 ? errno : kAllowed;
    });
    const Confinement confinement({});
    confined = true;
    other.join();
    return error.load();
  };
  EXPECT_EXIT(::_exit(run()), testing::ExitedWithCode(EPERM), "");
}

TEST(ConfinementDeathTest, OpensWhatItNeeds) {
  const std::string directory = testing::TempDir() + "confinement_test";
  ::mkdir(directory.c_str(), 0755);
  static const std::string file = directory + "/file";
  std::ofstream(file) << "there\n";
  Needs reads, changes;
  reads.read = {directory};
  changes.change = {directory};
  EXPECT_SAYS({}, ::open(file.c_str(), O_RDONLY), EACCES);
  EXPECT_SAYS_OF_ANOTHER({}, ::open(file.c_str(), O_RDONLY), EACCES);
  EXPECT_SAYS(reads, ::open(file.c_str(), O_RDONLY), kAllowed);
  EXPECT_SAYS(reads, ::open(file.c_str(), O_WRONLY), EACCES);
  EXPECT_SAYS(changes, ::open(file.c_str(), O_WRONLY), kAllowed);
  EXPECT_SAYS(changes, ::unlink(file.c_str()), kAllowed);
}

TEST(ConfinementDeathTest, KeepsTheCapabilitiesItNeedsOnItsOwnThreadOnly) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  Needs one;
  one.capabilities = {CAP_SYS_NICE};
  const auto effective = [](int capability) {
    std::ifstream status("/proc/thread-self/status");
    for (std::string word; status >> word;)
      if (word == "CapEff:") {
        status >> word;
        return (std::stoull(word, nullptr, 16) >> capability & 1) != 0;
      }
    return false;
  };
  one.read = {"/proc"};
  const auto has = [&](int capability) { return effective(capability) ? 0 : (errno = EPERM, -1); };
  EXPECT_EXIT(::_exit(error_of(one, [&] { return has(CAP_SYS_NICE); })), testing::ExitedWithCode(kAllowed),
              "");
  EXPECT_EXIT(::_exit(error_of(one, [&] { return has(CAP_SYS_ADMIN); })), testing::ExitedWithCode(EPERM), "");
  EXPECT_EXIT(::_exit(error_of(
                  one, [&] { return has(CAP_SYS_NICE); }, true)),
              testing::ExitedWithCode(EPERM), "");
}

}  // namespace
}  // namespace surety
