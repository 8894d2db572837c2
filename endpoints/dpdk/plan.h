// SPDX-License-Identifier: BSD-3-Clause
// EAL arguments and port configuration of an endpoint, in the terms of the router's driver.
//
// Errors are one sentence with the fix: std::runtime_error.
#pragma once

#include <string>
#include <utility>

#include "endpoints/config/endpoints.h"
#include "router/daemon/ports/eal.h"

namespace surety::endpoints {

// Core of the worker: its own, or any where no core can be spared.
enum class Placement : std::uint8_t { own_core, floating };

// A configuration of the router that has these ports and nothing else. `name`: of the process, for DPDK.
config::Config port_config(const config::Endpoints& c, const std::string& name);

// `core`: of the worker; -1: DPDK's choice.
EalPlan plan_endpoint_eal(const config::Config& ports, Placement placement, int core);

// Too few cores for a busy loop beside everything else: fewer than three.
bool few_cores();

// DPDK, from its start to its cleanup; the directory that it leaves behind goes, too.
class RunningEal {
 public:
  // `name`: as in port_config().
  RunningEal(const EalPlan& plan, std::string name) : name_(std::move(name)) { start_eal(plan); }
  ~RunningEal();
  RunningEal(const RunningEal&) = delete;
  RunningEal& operator=(const RunningEal&) = delete;

 private:
  std::string name_;
};

// Brings the kernel's devices of the ports up.
void prepare_interfaces(const config::Config& ports);

}  // namespace surety::endpoints
