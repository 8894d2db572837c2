// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <system_error>

#include "config/text/regular_file.h"
#include "router/process/fd.h"

extern char** environ;

namespace surety::machine {

namespace {

constexpr const char* kNew = ".surety-new";

[[noreturn]] void fail(std::string_view what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), fmt::format("cannot {} {}", what, path.string()));
}

void write_all(const Fd& file, std::string_view text, const fs::path& path) {
  while (!text.empty()) {
    const ssize_t n = ::write(file.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", path);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void sync_directory(const fs::path& directory) {
  const Fd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() >= 0) ::fsync(opened.get());
}

std::string trimmed(const std::string& text) {
  const auto from = text.find_first_not_of(" \t\r\n\0");
  return from == text.npos ? std::string() : text.substr(from, text.find_last_not_of(" \t\r\n") + 1 - from);
}

std::optional<std::string> whole_file(const fs::path& path) {
  constexpr std::size_t kMostBytes = 64 << 20;
  config::RegularFile file(path);
  std::string text = file.text(kMostBytes);
  if (!file.error().empty() || text.size() > kMostBytes) return {};
  return text;
}

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

Host::Host(const fs::path& root) : root_(fs::absolute(root).lexically_normal()) {
  if (!root_.has_filename() && root_ != "/") root_ = root_.parent_path();
}

Host Host::enter(const fs::path& root) {
  Host tree(root);
  if (!tree.is_this_machine() && ::chroot(tree.root_.c_str()) == 0 && ::chdir("/") == 0) {
    tree.root_ = "/";
    tree.entered_ = true;
  }
  return tree;
}

// Part by part, so that an absolute link of the tree stays in the tree.
fs::path Host::at(const fs::path& path) const {
  if (root_ == "/") return path;
  fs::path inside = "/";
  int links = 0;
  std::vector<fs::path> rest;
  const auto put = [&](const fs::path& more) {
    const fs::path relative = more.relative_path();
    std::vector<fs::path> parts(relative.begin(), relative.end());
    rest.insert(rest.end(), parts.rbegin(), parts.rend());
  };
  put(path);
  while (!rest.empty()) {
    const fs::path part = rest.back();
    rest.pop_back();
    if (part == "..") {
      inside = inside.parent_path();
      continue;
    }
    std::error_code error;
    const fs::path target = fs::read_symlink(root_ / (inside / part).relative_path(), error);
    if (error || ++links > 40) {
      inside /= part;
      continue;
    }
    if (target.is_absolute()) inside = "/";
    put(target);
  }
  return root_ / inside.relative_path();
}

bool Host::exists(const fs::path& path) const {
  std::error_code error;
  return fs::exists(at(path), error);
}

std::optional<std::string> Host::read(const fs::path& path) const {
  return whole_file(at(path));
}

std::optional<std::string> Host::line(const fs::path& path) const {
  auto text = read(path);
  if (text) text = trimmed(*text);
  return text;
}

std::optional<long long> Host::number(const fs::path& path) const {
  const auto text = line(path);
  long long n = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), n).ec != std::errc()) return {};
  return n;
}

std::vector<std::string> Host::list(const fs::path& path) const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(at(path), error), end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename());
  std::ranges::sort(names);
  return names;
}

std::optional<std::string> Host::link(const fs::path& path) const {
  std::error_code error;
  const auto target = fs::read_symlink(at(path.parent_path()) / path.filename(), error);
  if (error) return {};
  return target.filename().string();
}

void Host::write(const fs::path& path, std::string_view text) const {
  const Fd file(::open(at(path).c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) fail("open", path);
  write_all(file, text, path);
  // A file of a tree would keep the end of what was longer; the kernel's have none.
  if (!is_this_machine() && ::ftruncate(file.get(), static_cast<off_t>(text.size())) != 0)
    fail("write", path);
}

void Host::replace(const fs::path& path, std::string_view text, unsigned mode) const {
  constexpr int kWriting = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const fs::path real = at(path), beside = real.string() + kNew;
  std::error_code error;
  fs::create_directories(real.parent_path(), error);
  {
    const Fd file(::open(beside.c_str(), kWriting, mode));
    if (file.get() >= 0 && !config::not_regular(file.get()).empty()) errno = EINVAL, fail("write", path);
    if (file.get() < 0) fail("write", path);
    try {
      write_all(file, text, path);
      if (::fchmod(file.get(), mode) != 0 || ::fsync(file.get()) != 0) fail("write", path);
    } catch (...) {
      ::unlink(beside.c_str());
      throw;
    }
  }
  if (::rename(beside.c_str(), real.c_str()) != 0) fail("write", path);
  sync_directory(real.parent_path());
}

void Host::remove(const fs::path& path) const {
  if (::unlink(at(path).c_str()) != 0 && errno != ENOENT) fail("remove", path);
  sync_directory(at(path).parent_path());
}

void Host::tidy(const fs::path& path) const {
  ::unlink((at(path).string() + kNew).c_str());
}

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

bool Host::has(const std::string& program) const {
  for (const char* directory :
       {"/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"})
    if (exists(fs::path(directory) / program)) return true;
  return false;
}

bool Host::clock_synchronised() const {
  if (exists("/run/systemd/timesync/synchronized")) return true;
  timex clock{};
  return is_this_machine() && ::adjtimex(&clock) >= 0 && (clock.status & STA_UNSYNC) == 0;
}

std::vector<unsigned> cores_of(std::string_view list) {
  std::vector<unsigned> cores;
  const char* at = list.data();
  const char* const end = at + list.size();
  const auto next = [&](unsigned& n) {
    const auto [after, error] = std::from_chars(at, end, n);
    at = after;
    return error == std::errc();
  };
  for (unsigned first = 0; next(first);) {
    unsigned last = first;
    if (at != end && *at == '-' && !next((++at, last))) break;
    for (unsigned c = first; c <= last && cores.size() < 4096; ++c) cores.push_back(c);
    if (at == end || *at++ != ',') break;
  }
  return cores;
}

std::string text_of(const std::vector<unsigned>& cores) {
  return fmt::format("{}", fmt::join(cores, ","));
}

std::string unit_of(const std::string& router) {
  return router == "surety" ? router : "surety@" + router;
}

std::string shell_text(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
      return (std::isalnum(static_cast<unsigned char>(c)) != 0) ||
             std::string_view("._-/:=,+@").find(c) != std::string_view::npos;
    });
    std::string quoted;
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += (text.empty() ? "" : " ") + (plain ? word : "'" + quoted + "'");
  }
  return text;
}

}  // namespace surety::machine
