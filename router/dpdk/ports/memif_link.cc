// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/ports/memif_link.h"

#include <rte_log.h>

#include "router/dpdk/ports/memif_keeper.h"

namespace surety {

namespace {

using namespace std::chrono_literals;
constexpr auto kPatience = 1s;

}  // namespace

MemifLink::MemifLink(std::uint16_t port, const config::Device& device, BurstGate& gate)
    : port_(port), server_(device.server), path_(device.name), gate_(gate), keeper_(MemifKeeper::instance()) {
  // A client without a server is no error, but the driver says so at each attempt.
  rte_log_set_level_pattern("pmd.net.memif", RTE_LOG_CRIT);
  keeper_.add(*this);
}

MemifLink::~MemifLink() {
  keeper_.remove(*this);
  gate_.shut();
}

bool MemifLink::connected() const {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(port_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

// A server is found again by its clients; a client's device connects when it is started, once.
void MemifLink::tend(Time now) {
  if (!started_) return start(now);
  if (server_) return;
  if (connected()) {
    was_connected_ = true;
    return;
  }
  if (!was_connected_ && now < patient_until_) return;
  gate_.shut();
  rte_eth_dev_stop(port_);
  started_ = was_connected_ = false;
  start(now);
}

void MemifLink::start(Time now) {
  if (rte_eth_dev_start(port_) != 0) return;
  started_ = true;
  patient_until_ = now + kPatience;
  gate_.open();
}

}  // namespace surety
