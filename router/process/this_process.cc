// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/this_process.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace surety {
namespace {

double seconds_of(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

// The second number of statm, in pages.
std::uint64_t resident_pages(int statm) {
  std::array<char, 128> text{};
  if (::pread(statm, text.data(), text.size() - 1, 0) <= 0) return 0;
  const char* const second = std::strchr(text.data(), ' ');
  return second == nullptr ? 0 : std::strtoul(second, nullptr, 10);
}

std::filesystem::path directory_of_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

std::uint64_t entries(DIR* directory) {
  std::uint64_t count = 0;
  if (directory == nullptr) return 0;
  ::rewinddir(directory);
  while (const dirent* const entry = ::readdir(directory)) count += entry->d_name[0] != '.';
  return count;
}

}  // namespace

ProcessMeter::ProcessMeter(double start_time_seconds)
    : start_time_seconds_(start_time_seconds),
      memory_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)),
      descriptors_(::opendir("/proc/self/fd")) {}

ProcessUse ProcessMeter::read() const {
  ProcessUse use;
  use.start_time_seconds = start_time_seconds_;
  if (rusage used{}; ::getrusage(RUSAGE_SELF, &used) == 0)
    use.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  use.resident_bytes = resident_pages(memory_.get()) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  use.open_fds = entries(descriptors_.get());
  if (rlimit limit{}; ::getrlimit(RLIMIT_NOFILE, &limit) == 0) use.max_fds = limit.rlim_cur;
  return use;
}

std::string bpf_object_path(std::string_view file) {
  std::error_code error;
  const auto directory = directory_of_program();
  for (const auto& candidate : {directory / file, directory / ".." / "lib" / "surety" / "bpf" / file})
    if (std::filesystem::exists(candidate, error)) return candidate.lexically_normal().string();
  return {};
}

std::string console_files() {
  return (directory_of_program() / ".." / "share/surety/console").lexically_normal().string();
}

std::string name_of_user(unsigned user) {
  passwd found{}, *result = nullptr;
  char room[4096];
  if (::getpwuid_r(user, &found, room, sizeof room, &result) == 0 && result != nullptr) return found.pw_name;
  return std::to_string(user);
}

std::string author() {
  const char* const sudo = std::getenv("SUDO_USER");
  if (::geteuid() == 0 && sudo != nullptr && *sudo != '\0') return sudo;
  constexpr unsigned kNobodyLoggedIn = 4294967295u;
  unsigned login = kNobodyLoggedIn;
  std::ifstream("/proc/self/loginuid") >> login;
  return name_of_user(login != kNobodyLoggedIn ? login : ::getuid());
}

}  // namespace surety
