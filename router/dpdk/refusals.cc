// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/refusals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "router/dpdk/ports/eal.h"
#include "router/dpdk/ports/packet_pool.h"
#include "router/dpdk/ports/port_device.h"
#include "router/process/listener.h"
#include "router/process/metrics_access.h"
#include "router/signals/signal_keys.h"

namespace surety {

std::vector<std::string> refused_here(const config::Config& c) {
  if (std::ranges::any_of(c.ports, [](const config::Port& p) { return p.exists() && missing_device(p); }))
    return {};
  std::vector<std::string> all;
  const auto attempt = [&](auto&& what) {
    try {
      what();
    } catch (const std::runtime_error& e) {
      all.emplace_back(e.what());
    }
  };
  attempt([&] { worker_cores(c); });
  attempt([&] { check_mtus(c); });
  attempt([&] { load_metrics_access(c.metrics); });
  if (!c.metrics.listen.empty()) attempt([&] { check_address(c.metrics.listen); });
  if (c.signalling.mode != config::Signalling::Mode::off)
    for (const std::string& error : load_signal_keys(c.signalling.key_file).errors) all.push_back(error);
  return all;
}

}  // namespace surety
