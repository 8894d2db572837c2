// SPDX-License-Identifier: BSD-3-Clause
// The Prometheus endpoint: http://host:port/metrics, or https.
//
// Guarantees: Collect() is called exactly once per scrape, so that one scrape is one consistent reading, and
// never twice at the same time; it runs on the server's one thread. Silent or slow clients do not delay
// others: connections are bounded in number, each address has a part of them (connection_parts.h), and
// connections idle for five seconds are closed. With a login, all other requests get only a refusal. Pages
// (web_page.h) without a password are served only by a listener on this machine's loopback.
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
  // sentence with the reason and the fix, for an unusable address.
  MetricsServer(const std::string& listen, MetricsAccess access,
                std::unique_ptr<const prometheus::Collectable> readings, WebPages pages = {});
  ~MetricsServer();

  // Replaces the access. If it differs, existing connections are closed. On std::runtime_error nothing has
  // changed.
  void admit(MetricsAccess access);

  int port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace surety
