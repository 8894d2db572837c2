// SPDX-License-Identifier: BSD-3-Clause
// What a part of a worker works with: one of two workers of a router with null devices, whose Ingress,
// counters and disposal are the test's.
#pragma once

#include "router/daemon/workers/worker_context.h"
#include "tests/unit/router/daemon/workers/workers_bed.h"

namespace surety::test {

class WorkerParts : public testing::Test {
 protected:
  // Worker 0 owns `lan`, which it reads and dispatches, and `down`; worker 1 owns `up`.
  static constexpr const char* kYaml = R"(
version: 1
router: {name: parts, id: 192.0.2.1}
ports:
  lan: {device: null, addresses: [10.1.0.254/16], trust: core, receive: {dispatch: on}}
  up: {device: null, addresses: [10.2.0.254/16], trust: core}
  down: {device: null, addresses: [10.3.0.254/16], trust: core}
)";
  static constexpr std::size_t kLan = 0, kUp = 1, kDown = 2;

  WorkerContext context(std::size_t worker) {
    return {ports, plan, worker, &fabric, d.ports, d.disposal, d.meter, interfaces};
  }

  DataPlane d{kYaml};
  std::vector<std::unique_ptr<DpdkPort>> ports = make_null_ports(d.snapshot.config, kMaxPorts);
  WorkPlan plan = plan_work(d.snapshot.config, {0, 1}, std::vector<PortAbility>(ports.size()));
  Fabric fabric{"parts", plan};
  InterfaceCounters interfaces;
};

}  // namespace surety::test
