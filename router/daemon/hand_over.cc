// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/hand_over.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "router/operate/observe/telemetry_client.h"

namespace surety {

namespace {

using namespace std::chrono_literals;

constexpr auto kPeerPatience = 5s;
constexpr std::size_t kPart = 64 << 10;  // bytes of a message; it must fit into the socket's buffer
constexpr std::string_view kTake = "take", kDevices = "devices", kRest = "rest", kTaken = "taken",
                           kReload = "reload";

bool waits(const Fd& socket, short event, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  pollfd p{socket.get(), event, 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    const int n = ::poll(&p, 1, static_cast<int>(std::max(left, 0ms).count()));
    if (n >= 0 || errno != EINTR) return n == 1;  // a signal, perhaps SIGHUP: the peer is unaffected
  }
}

// The message that a socket has; empty: the other end has died; nullopt: there is none yet.
std::optional<std::string> heard_now(const Fd& socket) {
  std::array<char, 16> text;
  const ssize_t n = ::recv(socket.get(), text.data(), text.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  return std::string(text.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
}

// Sends objects as in memory: both ends are on one machine with the same kHandOverVersion, which must be
// raised with each change of the format (tests/unit/router/daemon/hand_over_test.cc).
template <class T>
void send_all(const std::vector<T>& all, auto&& send) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr std::size_t kMost = kPart / sizeof(T);
  for (std::size_t i = 0; i < all.size(); i += kMost)
    send(std::string_view(reinterpret_cast<const char*>(&all[i]),
                          std::min(kMost, all.size() - i) * sizeof(T)));
}

// False: the sender has died.
template <class T>
bool hear_all(std::vector<T>& all, std::size_t count, auto&& hear) {
  while (all.size() < count) {
    const std::string part = hear();
    const std::size_t n = part.size() / sizeof(T);
    if (n == 0) return false;
    all.resize(all.size() + n);
    std::memcpy(static_cast<void*>(&all[all.size() - n]), part.data(), n * sizeof(T));
  }
  return true;
}

Json sizes() {
  return {sizeof(ContractState), sizeof(ControlState::Address), sizeof(ControlState::Neighbor)};
}

}  // namespace

Json to_json(const RouterFacts& f) {
  return {{"version", kHandOverVersion},
          {"process", f.process},
          {"file", f.file},
          {"config_hash", f.config_hash},
          {"layout", f.layout},
          {"workers", f.workers},
          {"dispatch_seed", f.dispatch_seed},
          {"hugepages", f.hugepages},
          {"forwards", f.forwards},
          {"sizes", sizes()},
          {"clock", {f.clock.base, f.clock.ns_per_tick}}};
}

RouterFacts facts_of(const Json& j) {
  constexpr const char* kOther = "the running router cannot hand over to this version of surety: restart it";
  try {
    if (j.at("sizes") != sizes()) throw std::runtime_error(kOther);
    return {.process = j.at("process"),
            .file = j.at("file"),
            .config_hash = j.at("config_hash"),
            .layout = j.at("layout"),
            .workers = j.at("workers"),
            .dispatch_seed = j.at("dispatch_seed"),
            .hugepages = j.at("hugepages"),
            .forwards = j.at("forwards"),
            .clock = {j.at("clock").at(0), j.at("clock").at(1)}};
  } catch (const Json::exception&) {
    throw std::runtime_error(kOther);
  }
}

// --- the new one ---

OldProcess::OldProcess(const std::string& router) {
  auto begun = TelemetryClient().begin(kHandOver, std::to_string(kHandOverVersion), router);
  facts_ = facts_of(begun.answer);
  socket_ = std::move(begun.socket);
}

std::string OldProcess::hear(int* fd) {
  if (!socket_) return {};
  if (!waits(socket_, POLLIN, kPeerPatience))
    throw std::runtime_error(fmt::format("process {} does not hand over: see its log", facts_.process));
  std::string text(kPart + sizeof(ContractState), '\0');
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t n = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  if (n <= 0) {
    socket_ = Fd();
    return {};
  }
  if (const cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr && c->cmsg_type == SCM_RIGHTS) {
    int got = -1;
    std::memcpy(&got, CMSG_DATA(c), sizeof got);
    if (fd != nullptr)
      *fd = got;
    else
      ::close(got);
  }
  text.resize(static_cast<std::size_t>(n));
  return text;
}

HandoverState OldProcess::take() {
  if (::send(socket_.get(), kTake.data(), kTake.size(), MSG_NOSIGNAL) < 0) socket_ = Fd();
  int lock = -1;
  const std::string head = hear(&lock);
  HandoverState state;
  state.lock = Fd(lock);
  if (head.empty()) return state;
  const Json json = Json::parse(head, nullptr, false);
  if (!json.is_object())
    throw std::runtime_error("the running router cannot hand over to this version of surety: restart it");
  const auto next = [this] { return hear(); };
  bool whole = hear_all(state.known.addresses, json.value("addresses", std::size_t{0}), next) &&
               hear_all(state.known.neighbors, json.value("stations", std::size_t{0}), next);
  for (const std::size_t count : json.value("contracts", std::vector<std::size_t>()))
    whole = whole && hear_all(state.contracts.emplace_back(), count, next);
  if (!whole) return {};
  if (hear() != kDevices) return {};
  return state;
}

void OldProcess::wait_for_rest() {
  hear();
}

void OldProcess::taken() {
  if (socket_) ::send(socket_.get(), kTaken.data(), kTaken.size(), MSG_NOSIGNAL);
}

std::optional<bool> OldProcess::wants_reload() {
  if (!socket_) return false;
  const auto text = heard_now(socket_);
  if (!text) return {};
  socket_ = Fd();
  return *text == kReload;
}

void tell_main_process() {
  const char* const name = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name == nullptr || (*name != '/' && *name != '@') || std::strlen(name) >= sizeof address.sun_path)
    return;
  std::memcpy(address.sun_path, name, std::strlen(name));
  if (*name == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(name));
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const std::string text = fmt::format("MAINPID={}", ::getpid());
  ::sendto(socket.get(), text.data(), text.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&address), size);
}

// --- the old one ---

void NewProcess::begin(std::string_view version, const RouterFacts& facts, Fd& socket) {
  const std::scoped_lock lock(mutex_);
  if (version != std::to_string(kHandOverVersion))
    throw std::runtime_error("this router cannot hand over to that version of surety: restart it");
  if (lives()) throw std::runtime_error("another process is already taking over");
  socket_ = std::move(socket);
  send(Json{{"/surety/" + std::string(kHandOver), to_json(facts)}}.dump());
}

bool NewProcess::lives() const {
  if (!socket_) return false;
  pollfd p{socket_.get(), POLLRDHUP, 0};
  return ::poll(&p, 1, 0) == 0 || (p.revents & (POLLRDHUP | POLLHUP)) == 0;
}

bool NewProcess::is_there() {
  const std::scoped_lock lock(mutex_);
  return lives();
}

bool NewProcess::takes() {
  const std::scoped_lock lock(mutex_);
  if (!socket_) return false;
  const auto text = heard_now(socket_);
  if (!text || *text == kTake) return text.has_value();
  socket_ = Fd();  // the peer has died
  return false;
}

void NewProcess::send(std::string_view message, int fd) {
  iovec part{const_cast<char*>(message.data()), message.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr m{};
  m.msg_iov = &part;
  m.msg_iovlen = 1;
  if (fd >= 0) {
    m.msg_control = control.data();
    m.msg_controllen = control.size();
    cmsghdr* const c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  while (::sendmsg(socket_.get(), &m, MSG_NOSIGNAL) < 0)
    if ((errno != EAGAIN && errno != EINTR) || !waits(socket_, POLLOUT, kPeerPatience))
      throw std::runtime_error("the new process ended before it took over");
}

void NewProcess::give(const HandoverState& state, int lock) {
  std::vector<std::size_t> counts;
  for (const auto& c : state.contracts) counts.push_back(c.size());
  const ControlState& known = state.known;
  send(
      Json{{"contracts", counts}, {"addresses", known.addresses.size()}, {"stations", known.neighbors.size()}}
          .dump(),
      lock);
  const auto next = [this](std::string_view part) { send(part); };
  send_all(known.addresses, next);
  send_all(known.neighbors, next);
  for (const auto& contracts : state.contracts) send_all(contracts, next);
}

void NewProcess::devices_are_free() {
  send(kDevices);
}

void NewProcess::rest_is_free() {
  send(kRest);
}

void NewProcess::wait_until_taken() {
  std::array<char, 16> text;
  if (!waits(socket_, POLLIN, kPeerPatience) || ::recv(socket_.get(), text.data(), text.size(), 0) <= 0)
    throw std::runtime_error("the new process ended before it took over");
}

void NewProcess::pass_on_reload() {
  ::send(socket_.get(), kReload.data(), kReload.size(), MSG_NOSIGNAL);
}

}  // namespace surety
