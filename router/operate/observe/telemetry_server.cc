// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/telemetry_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "router/process/version.h"

namespace surety {
namespace {

constexpr std::string_view kRoot = "/surety/";

// Rendered in ASCII; invalid UTF-8 is replaced.
std::string text(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Fd listen_at(const std::filesystem::path& path) {
  const auto fail = [&] {
    throw std::system_error(errno, std::generic_category(), "cannot listen at " + path.string());
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = path.string();
  if (name.size() >= sizeof address.sun_path) errno = ENAMETOOLONG, fail();
  name.copy(address.sun_path, name.size());
  ::unlink(name.c_str());
  Fd s(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!s || ::bind(s.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(name.c_str(), 0600) != 0 || ::listen(s.get(), TelemetryServer::kMaxClients) != 0)
    fail();
  return s;
}

bool is_of(const Fd& s, uid_t user) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(s.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == 0 || peer.uid == user);
}

// False: the client does not read, and there is no room.
bool tell(const Fd& s, const std::string& message) {
  return ::send(s.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(message.size());
}

// The text behind a command's comma: "40" or "40,131072".
struct Wanted {
  std::size_t offset = 0, bytes = kPageBytes;
};
std::optional<Wanted> wanted(std::string_view parameters) {
  Wanted w;
  const char* at = parameters.data();
  const char* const end = at + parameters.size();
  for (std::size_t* const number : {&w.offset, &w.bytes}) {
    const auto [stop, error] = std::from_chars(at, end, *number);
    if (error != std::errc()) return std::nullopt;
    if (stop == end) return w;
    if (*stop != ',') return std::nullopt;
    at = stop + 1;
  }
  return std::nullopt;
}

std::string reply(const std::string& command, const std::string& json) {
  return '{' + text(command) + ':' + json + '}';
}

// An invalid request gets an answer, too.
Json run(const TelemetryServer::Command& command, std::string_view arguments, Fd& socket) try {
  return command(arguments, socket);
} catch (const std::runtime_error& e) {
  return {{"error", e.what()}};
}

}  // namespace

TablePages::TablePages(const Json& rows) : begin_{0} {
  for (const Json& row : rows) begin_.push_back((text_ += text(row) + ',').size());
}

std::string TablePages::page(std::size_t offset, std::size_t bytes) const {
  const std::size_t total = begin_.size() - 1, first = std::min(offset, total);
  const auto past = std::upper_bound(begin_.begin() + static_cast<std::ptrdiff_t>(first), begin_.end(),
                                     begin_[first] + bytes);
  auto next = static_cast<std::size_t>(past - begin_.begin()) - 1;
  if (next == first && first < total) ++next;
  std::string result = fmt::format(R"({{"total":{},"offset":{})", total, offset);
  if (next < total) result += fmt::format(R"(,"next":{})", next);
  result.append(R"(,"rows":[)").append(text_, begin_[first], begin_[next] - begin_[first]);
  if (next > first) result.pop_back();  // the last comma
  return result + "]}";
}

TelemetryServer::TelemetryServer(std::filesystem::path socket, std::function<Reading()> read, Tables tables,
                                 Commands commands)
    : path_(std::move(socket)),
      read_(std::move(read)),
      tables_(std::move(tables)),
      commands_(std::move(commands)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      listener_(listen_at(path_)),
      thread_([this] { serve(); }) {}

TelemetryServer::~TelemetryServer() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
  ::unlink(path_.c_str());
}

void TelemetryServer::serve() {
  for (std::vector<pollfd> waits;; ++wakeups_) {
    waits = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Client& c : clients_) waits.push_back({c.socket.get(), POLLIN, 0});
    if (::poll(waits.data(), waits.size(), -1) <= 0) continue;
    if (waits[0].revents != 0) return;
    std::size_t i = 2;
    std::erase_if(clients_, [&](Client& c) { return waits[i++].revents != 0 && !converse(c); });
    if (waits[1].revents != 0) let_in();
  }
}

void TelemetryServer::let_in() {
  Fd s(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!s) {  // gone already; or no descriptors are left, and the client keeps waiting
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return;
  }
  if (!is_of(s, user_) || !tell(s, text({{"version", std::string("surety ") + kVersion},
                                         {"pid", ::getpid()},
                                         {"max_output_len", 16384},
                                         {"network_namespace", namespace_}})))
    return;
  if (clients_.size() == kMaxClients)
    clients_.erase(std::ranges::min_element(clients_, {}, &Client::last_heard));
  clients_.push_back({std::move(s), wakeups_});
}

// False: the client has disconnected, or is to be disconnected.
bool TelemetryServer::converse(Client& client) try {
  std::array<char, kMaxRequest> request;
  const ssize_t n = ::recv(client.socket.get(), request.data(), request.size(), MSG_DONTWAIT | MSG_TRUNC);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0 || static_cast<std::size_t>(n) > request.size()) return false;
  client.last_heard = wakeups_;
  const std::string said = answer(client, {request.data(), static_cast<std::size_t>(n)});
  return client.socket && tell(client.socket, said);
} catch (const std::exception&) {
  return false;  // no memory
}

Json TelemetryServer::names() const {
  Json all = Json::array({"/"});
  for (const std::string_view name : kTables) all.push_back(std::string(kRoot) + std::string(name));
  for (const auto& [name, make] : tables_) all.push_back(std::string(kRoot) + name);
  for (const auto& [name, command] : commands_) all.push_back(std::string(kRoot) + name);
  return all;
}

bool TelemetryServer::has(std::string_view table) const {
  return tables_.contains(table) || std::ranges::find(kTables, table) != kTables.end();
}

Json TelemetryServer::rows_of(std::string_view name) const {
  const auto own = tables_.find(name);
  return own != tables_.end() ? own->second() : table(read_(), name);
}

std::string TelemetryServer::answer(Client& client, std::string_view request) {
  const std::size_t comma = std::min(request.find(','), request.size());
  const std::string command(request.substr(0, comma));
  if (command == "/") return reply(command, text(names()));
  const bool bare = comma == request.size();
  const std::string_view arguments = bare ? "" : request.substr(comma + 1);
  const std::string_view name =
      table_name(std::string_view(command).substr(std::min(command.size(), kRoot.size())));
  if (!command.starts_with(kRoot)) return reply(command, "null");
  if (const auto known = commands_.find(name); known != commands_.end())
    return reply(command, text(run(known->second, arguments, client.socket)));
  const auto want = bare ? Wanted{} : wanted(arguments);
  if (!has(name) || !want) return reply(command, "null");
  if (want->offset == 0 || client.command != command) {
    client.command.clear();
    const Json rows = rows_of(name);
    if (rows.is_null()) return reply(command, "null");
    client.pages = TablePages(rows);
    client.command = command;
  }
  return reply(command, client.pages.page(want->offset, std::min(want->bytes, kMostPageBytes)));
}

}  // namespace surety
