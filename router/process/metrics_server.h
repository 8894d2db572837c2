// SPDX-License-Identifier: BSD-3-Clause
// The Prometheus endpoint: http://host:port/metrics, or https.
//
// Guarantees: Collect() is called exactly once per scrape, so that one scrape is one consistent reading, and
// never twice at the same time; it runs on the server's one thread. Nobody who connects and says nothing, or
// reads slowly, keeps others waiting: connections are bounded in number, each address has a part of them
// (connection_parts.h), and those on which nothing moves for five seconds are closed. With a login, whoever
// does not know it learns nothing but that. Where there are pages (web_page.h), who has no password sees them
// only through a listener on this machine's loopback.
#pragma once

#include <prometheus/collectable.h>

#include <memory>
#include <string>

#include "router/process/metrics_access.h"
#include "router/process/web_page.h"

namespace surety {

class MetricsServer {
 public:
  static constexpr std::size_t kConnections = 64;

  // `listen` is "host:port", "[v6]:port", or with port 0 for any free one. Throws std::runtime_error, one
  // sentence that says why and what to do, for an address that cannot be used.
  MetricsServer(const std::string& listen, MetricsAccess access,
                std::unique_ptr<const prometheus::Collectable> readings, WebPages pages = {});
  ~MetricsServer();

  // From now on. Where it is another access, those who are connected have to come again. Throws
  // std::runtime_error, and all stays as it was.
  void admit(MetricsAccess access);

  int port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace surety
