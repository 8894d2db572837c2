// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/telemetry_client.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "router/operate/observe/telemetry_server.h"
#include "router/process/fd.h"
#include "router/process/human.h"
#include "router/process/this_process.h"

namespace surety {
namespace {

namespace fs = std::filesystem;

// Repeats a call after signals: with a time limit no system call on a socket is restarted (signal(7)).
template <class Call>
auto uninterrupted(Call call) {
  for (;;)
    if (const auto result = call(); result >= 0 || errno != EINTR) return result;
}

struct Router {
  std::string name;
  fs::path path;
  Fd socket;
  std::optional<std::string> greeting{};  // set once received
};

struct Found {
  std::vector<Router> routers;
  std::optional<fs::path> forbidden;  // something there that we may not look at
};

int connect_to(Fd& s, const fs::path& path, std::chrono::milliseconds patience) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path) return ENAMETOOLONG;
  text.copy(address.sun_path, text.size());
  s = Fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (s.get() < 0) return errno;
  const timeval limit{patience.count() / 1000, patience.count() % 1000 * 1000};
  setsockopt(s.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(s.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  return uninterrupted([&] { return connect(s.get(), to, sizeof address); }) == 0 ? 0 : errno;
}

// Sorted names below a directory; a directory that we may not read is noted.
std::vector<fs::path> list(const fs::path& directory, std::optional<fs::path>& forbidden) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator i(directory, error), end; !error && i != end; i.increment(error))
    entries.push_back(i->path());
  if (error == std::errc::permission_denied) forbidden = directory;
  std::sort(entries.begin(), entries.end());
  return entries;
}

void find_in(const fs::path& directory, std::chrono::milliseconds patience, Found& found) {
  const std::string name = directory.filename().string().substr(kFilePrefix.size());
  const fs::path path = directory / kTelemetrySocket;
  Fd socket;
  const int error = connect_to(socket, path, patience);
  if (error == 0) found.routers.push_back({name, path, std::move(socket), {}});
  if (error == EACCES || error == EPERM) found.forbidden = directory;
}

// Routers that take connections: all, or those of one name.
Found find(const std::vector<fs::path>& directories, const std::optional<std::string>& name,
           std::chrono::milliseconds patience) {
  Found found;
  std::vector<fs::path> seen;
  for (const fs::path& directory : directories) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(directory / "dpdk", error);  // /var/run is /run
    if (std::find(seen.begin(), seen.end(), real) != seen.end()) continue;
    seen.push_back(real);
    for (const fs::path& entry : list(real, found.forbidden)) {
      const std::string prefix = entry.filename().string();
      if (!prefix.starts_with(kFilePrefix)) continue;
      if (!name || prefix == std::string(kFilePrefix) + *name) find_in(entry, patience, found);
    }
  }
  return found;
}

std::string explain_absence(const Found& found, const std::optional<std::string>& name) {
  if (found.forbidden)
    return fmt::format("permission denied for {}: run as root or as the router's user",
                       found.forbidden->string());
  if (name) return fmt::format("no router called {} is running: start it with `surety run`", *name);
  return "no router is running: start one with `surety run`";
}

std::string explain_choice(const Found& found, bool named) {
  std::vector<std::string_view> names;
  for (const Router& r : found.routers) names.push_back(named ? std::string_view(r.path.native()) : r.name);
  const std::string all = human::list(names);
  if (named) return fmt::format("{} routers have that name: stop all but one of {}", names.size(), all);
  return fmt::format("{} routers are running: choose one of {} with --name", names.size(), all);
}

constexpr std::size_t kMostArguments = 960;  // limit of a router for one command
constexpr std::string_view kSilent = "does not answer: look at its log, or restart it";
constexpr std::string_view kStrange = "gave an invalid answer: is it another version of surety?";

[[noreturn]] void fail(const Router& router, std::string_view what) {
  throw std::runtime_error(fmt::format("router {} {}", router.name, what));
}

std::string receive(const Router& router) {
  // A datagram is truncated at the end of the buffer; the text around a page is shorter than a page.
  std::string text(2 * kMostPageBytes, '\0');
  const ssize_t n = uninterrupted([&] { return recv(router.socket.get(), text.data(), text.size(), 0); });
  if (n <= 0) fail(router, kSilent);  // disconnects or takes too long
  text.resize(static_cast<std::size_t>(n));
  return text;
}

// Sends one request and returns the text of the answer.
std::string answer_of(const Router& router, const std::string& request) {
  const int socket = router.socket.get();
  if (uninterrupted([&] { return send(socket, request.data(), request.size(), MSG_NOSIGNAL); }) < 0)
    fail(router, kSilent);
  return receive(router);
}

Json read_table(const Router& router, std::string_view table) {
  if (!router.greeting) receive(router);
  Json rows = Json::array();
  const std::string command = fmt::format("/surety/{}", table);
  for (std::size_t offset = 0;;) {
    Json answer = Json::parse(answer_of(router, fmt::format("{},{},{}", command, offset, kMostPageBytes)),
                              nullptr, false);
    if (!answer.is_object() || !answer.contains(command)) fail(router, kStrange);
    Json& page = answer[command];
    if (page.is_null())
      fail(router,
           fmt::format(
               "does not support {}: try again if it has just started, else it is another version of surety",
               command));
    if (!page.is_object() || !page.contains("rows") || !page["rows"].is_array()) fail(router, kStrange);
    for (Json& row : page["rows"]) {
      if (!row.is_object()) fail(router, kStrange);
      rows.push_back(std::move(row));
    }
    if (!page.contains("next")) return rows;
    const Json& next = page["next"];
    if (!next.is_number_unsigned() || next.get<std::size_t>() <= offset) fail(router, kStrange);
    offset = next.get<std::size_t>();
  }
}

bool is_here(Router& router) try {
  router.greeting = receive(router);
  const Json said = Json::parse(*router.greeting, nullptr, false);
  return said.is_object() && said.value("network_namespace", std::uint64_t{0}) == network_namespace();
} catch (const std::runtime_error&) {
  return false;  // no answer
}

// Prefers routers of this network namespace, if there are any.
void prefer_own_namespace(std::vector<Router>& routers) {
  if (routers.size() < 2 || network_namespace() == 0) return;
  const auto others = std::stable_partition(routers.begin(), routers.end(), is_here);
  if (others != routers.begin()) routers.erase(others, routers.end());
}

Router choose(const std::vector<fs::path>& directories, const std::optional<std::string>& name,
              std::chrono::milliseconds patience) {
  Found found = find(directories, name, patience);
  prefer_own_namespace(found.routers);
  if (found.routers.empty()) throw std::runtime_error(explain_absence(found, name));
  if (found.routers.size() > 1) throw std::runtime_error(explain_choice(found, name.has_value()));
  return std::move(found.routers.front());
}

}  // namespace

std::vector<fs::path> runtime_directories() {
  std::vector<fs::path> directories;
  const auto add = [&](const char* path) {
    if (path != nullptr && *path != '\0') directories.emplace_back(path);
  };
  add(std::getenv("RUNTIME_DIRECTORY"));
  add("/var/run");
  add("/run/surety");  // RuntimeDirectory= of the systemd unit
  if (getuid() != 0) {
    add(std::getenv("XDG_RUNTIME_DIR"));
    add("/tmp");
  }
  return directories;
}

bool TelemetryClient::runs(const std::optional<std::string>& router) const {
  const Found found = find(directories_, router, patience_);
  if (found.routers.empty() && found.forbidden) throw std::runtime_error(explain_absence(found, router));
  return !found.routers.empty();
}

std::vector<std::string> TelemetryClient::running() const {
  std::vector<std::string> names;
  for (const Router& r : find(directories_, {}, patience_).routers) names.push_back(r.name);
  std::sort(names.begin(), names.end());
  return names;
}

Json TelemetryClient::table(std::string_view table, const std::optional<std::string>& router) const {
  return read_table(choose(directories_, router, patience_), table);
}

TelemetryClient::Conversation TelemetryClient::begin(std::string_view command, std::string_view arguments,
                                                     const std::optional<std::string>& name) const {
  if (arguments.size() > kMostArguments)
    throw std::runtime_error(fmt::format("the request is too long: {} characters at most", kMostArguments));
  Router router = choose(directories_, name, patience_);
  if (!router.greeting) receive(router);
  const std::string request = fmt::format("/surety/{}", command);
  const Json all = Json::parse(answer_of(router, fmt::format("{},{}", request, arguments)), nullptr, false);
  if (!all.is_object() || !all.contains(request)) fail(router, kStrange);
  const Json& answer = all[request];
  if (answer.is_null())
    fail(router, fmt::format("does not support {}: is it another version of surety?", request));
  if (!answer.is_object()) fail(router, kStrange);
  if (answer.contains("error")) throw std::runtime_error(answer.value("error", ""));
  return {answer, std::move(router.socket)};
}

Json TelemetryClient::ask(std::string_view command, std::string_view arguments,
                          const std::optional<std::string>& router) const {
  return begin(command, arguments, router).answer;
}

}  // namespace surety
