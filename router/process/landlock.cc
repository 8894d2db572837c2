// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "router/process/confinement.h"

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
