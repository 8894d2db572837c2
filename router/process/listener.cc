// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/listener.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace surety {
namespace {

using Address = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Null when it is neither "host:port" nor "[v6]:port".
Address resolve(const std::string& listen) {
  Address none(nullptr, freeaddrinfo);
  const std::size_t colon = listen.rfind(':');
  if (colon == std::string::npos) return none;
  std::string host = listen.substr(0, colon);
  const std::string port = listen.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (host.empty() || port.empty() || error != std::errc{} || end != port.data() + port.size()) return none;
  addrinfo hints{};
  hints.ai_family = host.find(':') == std::string::npos ? AF_INET : AF_INET6;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return none;
  return {found, freeaddrinfo};
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
      return fmt::format(
          "metrics: cannot listen on {} ({}): choose another address under `metrics: {{listen: ...}}`",
          listen, std::strerror(error));
  }
}

sockaddr_storage bound_to(const Fd& listener) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  return bound;
}

std::string not_an_address(const std::string& listen) {
  return fmt::format("metrics: `{}` is not an address and a port: write `listen: \"127.0.0.1:9464\"`",
                     listen);
}

}  // namespace

Fd listen_at(const std::string& listen) {
  const Address address = resolve(listen);
  if (!address) throw std::runtime_error(not_an_address(listen));
  Fd fd(socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (!fd || setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(fd.get(), address->ai_addr, address->ai_addrlen) != 0 || ::listen(fd.get(), SOMAXCONN) != 0)
    throw std::runtime_error(explain(listen, errno));
  return fd;
}

void check_address(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  const Address address = resolve(colon == std::string::npos ? listen : listen.substr(0, colon) + ":0");
  if (!address) throw std::runtime_error(not_an_address(listen));
  const Fd fd(socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || bind(fd.get(), address->ai_addr, address->ai_addrlen) != 0)
    throw std::runtime_error(explain(listen, errno));
}

int port_of(const Fd& listener) {
  sockaddr_storage bound = bound_to(listener);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

bool is_loopback(const Fd& listener) {
  sockaddr_storage bound = bound_to(listener);
  if (bound.ss_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<sockaddr_in6&>(bound).sin6_addr);
  return ntohl(reinterpret_cast<sockaddr_in&>(bound).sin_addr.s_addr) >> 24 == 127;
}

}  // namespace surety
