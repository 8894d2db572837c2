// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/metrics_server.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sodium.h>
#include <sys/socket.h>

#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "router/process/confinement.h"
#include "router/process/listener.h"

namespace surety {
namespace {

constexpr unsigned kIdleSeconds = 5;
constexpr std::size_t kConnectionMemory = 8192;  // a request with its headers, and what is being written
constexpr const char* kTlsVersions = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

// The key of a client: for IPv6 the network, whose addresses one client can use. A listener for both families
// gets IPv4 addresses as IPv6 ones.
std::string bytes_of(const sockaddr* address) {
  if (address->sa_family == AF_INET6) {
    const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    const char* const bytes = reinterpret_cast<const char*>(&v6);
    return IN6_IS_ADDR_V4MAPPED(&v6) ? std::string(bytes + 12, 4) : std::string(bytes, 8);
  }
  return {reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr), 4};
}

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  randombytes_buf(&seed, sizeof seed);
  return seed;
}

// `text` outlives the call only as a copy.
MHD_Response* response_of(std::string_view text) {
  return MHD_create_response_from_buffer(text.size(), const_cast<char*>(text.data()), MHD_RESPMEM_MUST_COPY);
}

MHD_Result answer(MHD_Connection* to, unsigned status, std::string_view text) {
  MHD_Response* const response = response_of(text);
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
  const MHD_Result result = MHD_queue_response(to, status, response);
  MHD_destroy_response(response);
  return result;
}

MHD_Result ask_for_login(MHD_Connection* to) {
  MHD_Response* const response = response_of("This needs a user and a password.\n");
  const MHD_Result result = MHD_queue_basic_auth_fail_response(to, "surety", response);
  MHD_destroy_response(response);
  return result;
}

// Strings from MHD must be freed by MHD.
std::string take(char* text) {
  std::string taken = text ? text : "";
  MHD_free(text);
  return taken;
}

bool knows(MHD_Connection* connection, const MetricsAccess::Digest& login) {
  char* password = nullptr;
  const std::string user = take(MHD_basic_auth_get_username_password(connection, &password));
  const auto digest = MetricsAccess::digest_of(user + ":" + take(password));
  return sodium_memcmp(digest.data(), login.data(), login.size()) == 0;
}

struct Scrapes {
  std::unique_ptr<const prometheus::Collectable> readings;
  std::mutex one_at_a_time;  // while one access takes over from another

  std::string text() {
    const std::lock_guard lock(one_at_a_time);
    return prometheus::TextSerializer().Serialize(readings->Collect());
  }
};

// Serves with one access, on a thread of its own, until it ends.
class Server {
 public:
  Server(const Fd& listener, MetricsAccess access, Scrapes& scrapes, const WebPages& pages)
      : access_(std::move(access)),
        on_loopback_(is_loopback(listener)),
        scrapes_(scrapes),
        pages_(pages),
        daemon_(start(listener.get())) {
    if (!daemon_) throw std::runtime_error("metrics: the HTTP server does not start");
  }
  Server(const Server&) = delete;
  ~Server() {
    MHD_quiesce_daemon(daemon_);  // the listener is not its to close
    MHD_stop_daemon(daemon_);
  }
  const MetricsAccess& access() const { return access_; }

 private:
  // Started from a confined thread: the server's thread inherits the caller's privileges, and a control
  // thread that reloads has more.
  MHD_Daemon* start(int listener) {
    MHD_Daemon* started = nullptr;
    background_thread([&] {
      try {
        Confinement::join_others();
        started = launch(listener);
      } catch (const std::system_error&) {  // the thread cannot be confined
      }
    }).join();
    return started;
  }

  MHD_Daemon* launch(int listener) {
    const bool tls = !access_.certificate.empty();
    std::vector<MHD_OptionItem> options{
        {MHD_OPTION_LISTEN_SOCKET, listener, nullptr},
        {MHD_OPTION_CONNECTION_LIMIT, 2 * MetricsServer::kConnections, nullptr},
        {MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, nullptr},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory, nullptr},
        {MHD_OPTION_NOTIFY_CONNECTION, reinterpret_cast<std::intptr_t>(&Server::notify), this}};
    if (tls) {
      options.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, access_.certificate.data()});
      options.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, access_.key.data()});
      options.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, const_cast<char*>(kTlsVersions)});
    }
    options.push_back({MHD_OPTION_END, 0, nullptr});
    return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | (tls ? MHD_USE_TLS : 0), 0, nullptr,
                            nullptr, &Server::handle, this, MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END);
  }

  static void notify(void* self, MHD_Connection* connection, void**, MHD_ConnectionNotificationCode code) {
    auto& parts = static_cast<Server*>(self)->parts_;
    const int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) return parts.closed(fd);
    const sockaddr* const from =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
    if (const auto victim = parts.opened(fd, bytes_of(from))) shutdown(*victim, SHUT_RDWR);
  }

  static MHD_Result handle(void* self, MHD_Connection* connection, const char* path, const char* method,
                           const char*, const char*, std::size_t*, void**) {
    const auto& server = *static_cast<Server*>(self);
    if (server.access_.login && !knows(connection, *server.access_.login)) return ask_for_login(connection);
    if (std::string_view(path) != "/metrics") return server.show(connection, path, method);
    if (std::string_view(method) != MHD_HTTP_METHOD_GET)
      return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET.\n");
    return answer(connection, MHD_HTTP_OK, server.scrapes_.text());
  }

  MHD_Result show(MHD_Connection* to, std::string_view path, std::string_view method) const {
    if (!pages_ || !access_.console) return answer(to, MHD_HTTP_NOT_FOUND, "See /metrics.\n");
    if (const auto why = access_.login ? std::string_view() : refusal(to, on_loopback_); !why.empty())
      return answer(to, MHD_HTTP_FORBIDDEN, why);
    if (method != MHD_HTTP_METHOD_GET) return answer(to, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET.\n");
    const auto page = pages_(path);
    if (!page) return answer(to, MHD_HTTP_NOT_FOUND, "See / and /metrics.\n");
    return static_cast<MHD_Result>(surety::answer(to, page));
  }

  MetricsAccess access_;
  const bool on_loopback_;
  Scrapes& scrapes_;
  const WebPages& pages_;
  ConnectionParts parts_{MetricsServer::kConnections, random_seed()};
  MHD_Daemon* daemon_;
};

}  // namespace

struct MetricsServer::State {
  Fd listener;
  Scrapes scrapes;
  WebPages pages;
  std::unique_ptr<Server> server;
};

MetricsServer::MetricsServer(const std::string& listen, MetricsAccess access,
                             std::unique_ptr<const prometheus::Collectable> readings, WebPages pages)
    : state_(new State{listen_at(listen), {std::move(readings), {}}, std::move(pages), nullptr}) {
  admit(std::move(access));
}

MetricsServer::~MetricsServer() = default;

void MetricsServer::admit(MetricsAccess access) {
  State& s = *state_;
  if (s.server && access == s.server->access()) return;
  s.server = std::make_unique<Server>(s.listener, std::move(access), s.scrapes, s.pages);
}

int MetricsServer::port() const {
  return port_of(state_->listener);
}

}  // namespace surety
