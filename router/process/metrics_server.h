// SPDX-License-Identifier: BSD-3-Clause
// The Prometheus endpoint: http://host:port/metrics.
//
// Guarantees: `collect` is called exactly once per scrape, so that one scrape is one consistent reading, and
// never twice at the same time; it runs on a thread of the server.
#pragma once

#include <prometheus/metric_family.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace surety {

class MetricsServer {
 public:
  using Collect = std::function<std::vector<prometheus::MetricFamily>()>;
  // `listen` is "host:port", "[v6]:port", or with port 0 for any free one. Throws std::runtime_error, one
  // sentence that says why and what to do, for an address that cannot be used.
  MetricsServer(const std::string& listen, Collect collect);
  ~MetricsServer();

  int port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace surety
