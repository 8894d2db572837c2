// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/metrics_server.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace surety {
namespace {

class Source : public prometheus::Collectable {
 public:
  explicit Source(MetricsServer::Collect collect) : collect_(std::move(collect)) {}
  std::vector<prometheus::MetricFamily> Collect() const override {
    const std::lock_guard lock(mutex_);
    return collect_();
  }

 private:
  MetricsServer::Collect collect_;
  mutable std::mutex mutex_;
};

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// "host:port" or "[v6]:port"; none when it is neither.
std::optional<Address> resolve(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = listen.substr(0, colon);
  const std::string port = listen.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (host.empty() || port.empty() || error != std::errc{} || end != port.data() + port.size())
    return std::nullopt;
  addrinfo hints{};
  hints.ai_family = host.find(':') == std::string::npos ? AF_INET : AF_INET6;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return std::nullopt;
  Address address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  freeaddrinfo(found);
  return address;
}

// Why the address cannot be bound, as errno; 0 when it can. The HTTP server only says that it failed.
int bind_error(const Address& address) {
  const int fd = socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const int error = bind(fd, address.get(), address.size) == 0 && listen(fd, 1) == 0 ? 0 : errno;
  close(fd);
  return error;
}

// A connection that comes to nothing.
void knock(Address address, int port) {
  const in_port_t network_order = htons(static_cast<std::uint16_t>(port));
  if (address.storage.ss_family == AF_INET6)
    reinterpret_cast<sockaddr_in6&>(address.storage).sin6_port = network_order;
  else
    reinterpret_cast<sockaddr_in&>(address.storage).sin_port = network_order;
  const int fd = socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  if (connect(fd, address.get(), address.size) != 0 && errno == EINPROGRESS) {
    pollfd connected{fd, POLLOUT, 0};
    poll(&connected, 1, 10);
  }
  close(fd);
}

std::string explain(const std::string& listen, const char* why) {
  return fmt::format(
      "metrics: cannot listen on {} ({}): choose another address under `metrics: {{listen: ...}}`", listen,
      why);
}

std::string explain(const std::string& listen, int error) {
  switch (error) {
    case EADDRINUSE:
      return fmt::format(
          "metrics: {} is taken by another program: choose another port under `metrics: {{listen: ...}}`",
          listen);
    case EADDRNOTAVAIL:
      return fmt::format(
          "metrics: no interface has the address of {}: listen on 127.0.0.1 or on an address of this machine",
          listen);
    case EACCES:
      return fmt::format("metrics: {} needs a privilege for ports below 1024: choose a port from 1024 on",
                         listen);
    default:
      return explain(listen, std::strerror(error));
  }
}

// Two threads: a scraper that keeps its connection open does not keep a second one out.
std::unique_ptr<prometheus::Exposer> expose(const std::string& listen) try {
  return std::make_unique<prometheus::Exposer>(listen, 2);
} catch (const std::exception& e) {
  if (!listen.starts_with('[')) throw std::runtime_error(explain(listen, e.what()));
  throw std::runtime_error(  // Debian builds libcivetweb without IPv6
      fmt::format("metrics: {} cannot be used because libcivetweb was built without IPv6: listen on an IPv4 "
                  "address such as 127.0.0.1:9464",
                  listen));
}

}  // namespace

struct MetricsServer::State {
  Address address;
  std::shared_ptr<Source> source;
  std::unique_ptr<prometheus::Exposer> exposer;
};

MetricsServer::MetricsServer(const std::string& listen, Collect collect) {
  const std::optional<Address> address = resolve(listen);
  if (!address)
    throw std::runtime_error(fmt::format(
        "metrics: `{}` is not an address and a port: write `listen: \"127.0.0.1:9464\"`", listen));
  if (const int error = bind_error(*address); error != 0) throw std::runtime_error(explain(listen, error));
  state_.reset(new State{*address, std::make_shared<Source>(std::move(collect)), expose(listen)});
  state_->exposer->RegisterCollectable(state_->source);
}

// civetweb looks at its stop flag when a connection comes, or every 2 s:
// too long for the restart of a router.
MetricsServer::~MetricsServer() {
  std::atomic<bool> stopped = false;
  std::thread waker([&, address = state_->address, port = port()] {
    for (; !stopped; std::this_thread::sleep_for(std::chrono::milliseconds(1))) knock(address, port);
  });
  state_->exposer.reset();
  stopped = true;
  waker.join();
}

int MetricsServer::port() const {
  return state_->exposer->GetListeningPorts().at(0);
}

}  // namespace surety
