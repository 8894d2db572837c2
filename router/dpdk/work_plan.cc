#include "router/dpdk/work_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace surety {

namespace {

// What a rule's contracts cover, as far as spreading goes.
Spread spread_within(config::Rule::Per per) {
  switch (per) {
    case config::Rule::Per::flow:
      return Spread::flow;
    case config::Rule::Per::source:
      return Spread::source;
    case config::Rule::Per::destination:
      return Spread::destination;
    default:
      return Spread::none;  // all of a rule, of a VLAN, of a prefix
  }
}

bool keeps_state(const config::Service& s) {
  return !std::holds_alternative<config::None>(s.conditioner);
}

// Flows may be spread by whatever a contract covers; two different things have nothing in common.
Spread narrower(Spread a, Spread b) {
  if (a == Spread::flow) return b;
  if (b == Spread::flow || a == b) return a;
  return Spread::none;
}

std::size_t worker_on(unsigned core, const std::vector<unsigned>& cores, const config::Port& port) {
  const auto at = std::find(cores.begin(), cores.end(), core);
  if (at == cores.end())
    throw std::runtime_error(fmt::format("port {}: core {} is not a worker; the workers' cores are {}",
                                         port.name, core, fmt::join(cores, ", ")));
  return static_cast<std::size_t>(at - cores.begin());
}

// A queue that exists is read; more queues than that are of no use.
std::uint16_t queues_of(const config::Port& port, const PortAbility& ability, Spread spread,
                        std::size_t workers) {
  if (!port.rx_queues)
    return ability.spreads_by(spread)
               ? static_cast<std::uint16_t>(std::min<std::size_t>(workers, ability.max_rx_queues))
               : std::uint16_t{1};
  if (*port.rx_queues > ability.max_rx_queues)
    throw std::runtime_error(fmt::format("port {}: receive: {{queues: {}}}: the device has {} at most",
                                         port.name, *port.rx_queues, ability.max_rx_queues));
  return *port.rx_queues;
}

WorkPlan::Port plan_port(const config::Config& config, std::size_t p, const std::vector<unsigned>& cores,
                         const PortAbility& ability) {
  const config::Port& port = config.ports[p];
  WorkPlan::Port plan;
  plan.spread = spread_of(config, p);
  plan.owner = port.owner ? worker_on(*port.owner, cores, port) : p % cores.size();
  const std::uint16_t queues = queues_of(port, ability, plan.spread, cores.size());
  for (std::uint16_t q = 0; q < queues; ++q)
    plan.readers.push_back(port.rx_workers.empty()
                               ? (plan.owner + q) % cores.size()
                               : worker_on(port.rx_workers[q % port.rx_workers.size()], cores, port));
  // Who names the readers of a port's only queue wants no others.
  plan.dispatch = queues == 1 && port.rx_workers.empty() && cores.size() > 1 && plan.spread != Spread::none;
  return plan;
}

}  // namespace

Spread spread_of(const config::Config& config, std::size_t port) {
  Spread spread = Spread::flow;
  for (const auto& rule : config.rules)
    if ((!rule.match.port || *rule.match.port == port) && keeps_state(config.services[rule.service]))
      spread = narrower(spread, spread_within(rule.per));
  return spread;
}

WorkPlan plan_work(const config::Config& config, const std::vector<unsigned>& cores,
                   const std::vector<PortAbility>& abilities) {
  WorkPlan plan;
  plan.cores = cores;
  for (std::size_t p = 0; p < config.ports.size(); ++p)
    plan.ports.push_back(plan_port(config, p, cores, abilities[p]));
  return plan;
}

}  // namespace surety
