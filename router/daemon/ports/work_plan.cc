// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/work_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

namespace surety {

namespace {

// The spread that a rule's contracts permit.
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

bool has_customers(const config::Config& config, std::size_t port) {
  constexpr auto customer = config::Port::Trust::customer;
  return config.ports[port].trust == customer ||
         std::ranges::any_of(config.interfaces, [&](const config::Interface& i) {
           return i.port == port && i.trust == customer && i.has_link();
         });
}

// True if a rule applies to a port, as in the classifier (classifier.h).
bool applies(const config::Rule& rule, const config::Config& config, std::size_t port) {
  if (rule.match.interface) return config.interfaces[*rule.match.interface].port == port;
  if (rule.match.port) return *rule.match.port == port;
  return has_customers(config, port);
}

// The port is part of what a flow is, and of `per: vlan` and `per: interface`; other contracts are met
// through every port that their rule applies to.
bool spans_ports(const config::Rule& rule, const config::Config& config) {
  using Per = config::Rule::Per;
  return !rule.match.port && !rule.match.interface && rule.per != Per::flow && rule.per != Per::vlan &&
         rule.per != Per::interface && keeps_state(config.services[rule.service]);
}

// Flows may be spread by any key of a contract; two different keys have none in common.
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
  return plan;
}

bool can_dispatch(const WorkPlan& plan, std::size_t port) {
  return plan.ports[port].readers.size() == 1 && plan.cores.size() > 1 &&
         plan.ports[port].spread != Spread::none;
}

// Dispatch moves each packet to another core's cache: by default it is for workers that would be idle. A
// configured reader of a port's only queue excludes it. `joint`: ports that are planned already.
void plan_dispatch(WorkPlan& plan, const config::Config& config, const std::set<std::size_t>& joint) {
  std::set<std::size_t> readers;
  bool some_idle = true;
  for (const auto& p : plan.ports) {
    readers.insert(p.readers.begin(), p.readers.end());
    some_idle &= !p.dispatch;
  }
  some_idle &= readers.size() < plan.cores.size();
  for (std::size_t p = 0; p < plan.ports.size(); ++p) {
    const config::Port& port = config.ports[p];
    if (!joint.contains(p))
      plan.ports[p].dispatch =
          can_dispatch(plan, p) && port.dispatch.value_or(some_idle && port.rx_workers.empty());
  }
}

// Why a port with configured dispatch does not dispatch.
const char* obstacle(const WorkPlan::Port& port) {
  if (port.spread == Spread::none)
    return "dispatch cannot separate its contracts; remove this key, or use contracts per flow, source or "
           "destination (`per:`)";
  if (port.readers.size() > 1)
    return "the device distributes packets to several queues; remove this key, or add `queues: 1`";
  return "one worker receives for all ports that share its contracts, since one of them has `dispatch: off` "
         "or a fixed reader; remove this key";
}

void check_dispatch(const WorkPlan& plan, const config::Config& config) {
  if (plan.cores.size() == 1) return;
  for (std::size_t p = 0; p < plan.ports.size(); ++p)
    if (config.ports[p].dispatch.value_or(false) && !plan.ports[p].dispatch)
      throw std::runtime_error(fmt::format("port {}: receive: {{dispatch: on}}: {}", config.ports[p].name,
                                           obstacle(plan.ports[p])));
}

// The reader cores of a port with configured or several readers.
std::vector<unsigned> reader_cores(const WorkPlan& plan, std::size_t port) {
  std::set<unsigned> of;
  for (const std::size_t w : plan.ports[port].readers) of.insert(plan.cores[w]);
  return {of.begin(), of.end()};
}

// The one reader that the configuration names for some of these ports; none: it names no reader.
std::optional<std::size_t> named_reader(const WorkPlan& plan, const config::Config& config, std::size_t rule,
                                        const std::vector<std::size_t>& ports) {
  std::set<std::size_t> readers;
  std::vector<std::string> names, named;
  std::optional<unsigned> first;  // a core
  for (const std::size_t p : ports) {
    const config::Port& port = config.ports[p];
    names.push_back(port.name);
    if (port.rx_workers.empty() && port.rx_queues.value_or(1) == 1) continue;
    readers.insert(plan.ports[p].readers.begin(), plan.ports[p].readers.end());
    const auto cores = reader_cores(plan, p);
    if (!first) first = cores.front();
    named.push_back(fmt::format("port {} {}by core{} {}", port.name, named.empty() ? "is read " : "",
                                cores.size() > 1 ? "s" : "", fmt::join(cores, ", ")));
  }
  if (readers.empty()) return std::nullopt;
  if (readers.size() == 1) return *readers.begin();
  throw std::runtime_error(fmt::format(
      "rule {} of `classify` (service {}): ports {} share its contracts, so one worker must receive "
      "from them all; but {}: set the same core for all, like `receive: {{workers: {}}}`, or write a "
      "rule for each port (`match: {{port: {}}}`)",
      config.rules[rule].number, config.services[config.rules[rule].service].name, fmt::join(names, ", "),
      fmt::join(named, ", "), *first, names.front()));
}

// Rules that span ports all span the same ones: those of customers.
// Empty: no contract is met through several.
std::vector<std::size_t> joint_ports(const config::Config& config) {
  std::vector<std::size_t> ports;
  for (std::size_t p = 0; p < config.ports.size(); ++p)
    if (has_customers(config, p)) ports.push_back(p);
  const bool spans = std::any_of(config.rules.begin(), config.rules.end(),
                                 [&](const config::Rule& r) { return spans_ports(r, config); });
  return spans && ports.size() > 1 ? ports : std::vector<std::size_t>{};
}

// True if several workers receive packets of the port.
bool is_spread(const WorkPlan::Port& port) {
  return port.dispatch || std::any_of(port.readers.begin(), port.readers.end(),
                                      [&](std::size_t w) { return w != port.readers[0]; });
}

// Flows have one worker, by either address.
bool keeps_together(Spread by, Spread needed) {
  return by == needed || (needed == Spread::flow && by != Spread::none);
}

// Plans the joint ports, and returns them.
std::set<std::size_t> plan_together(WorkPlan& plan, const config::Config& config) {
  const std::vector<std::size_t> ports = joint_ports(config);
  if (ports.empty()) return {};
  const auto rule = std::find_if(config.rules.begin(), config.rules.end(),
                                 [&](const config::Rule& r) { return spans_ports(r, config); });
  Spread spread = Spread::flow;
  for (const std::size_t p : ports) spread = narrower(spread, plan.ports[p].spread);
  const auto named = named_reader(plan, config, static_cast<std::size_t>(rule - config.rules.begin()), ports);
  const bool off = std::any_of(ports.begin(), ports.end(),
                               [&](std::size_t p) { return !config.ports[p].dispatch.value_or(true); });
  const bool one_reader = named || off || spread == Spread::none;
  const std::size_t reader = named.value_or(plan.ports[ports.front()].owner);
  for (const std::size_t p : ports) {
    WorkPlan::Port& port = plan.ports[p];
    port.spread = spread;
    port.readers.assign(config.ports[p].rx_queues.value_or(1), one_reader ? reader : port.owner);
    port.dispatch = !one_reader && plan.cores.size() > 1;
  }
  return {ports.begin(), ports.end()};
}

}  // namespace

Spread spread_of(const config::Config& config, std::size_t port) {
  Spread spread = Spread::flow;
  for (const auto& rule : config.rules)
    if (applies(rule, config, port) && keeps_state(config.services[rule.service]))
      spread = narrower(spread, spread_within(rule.per));
  return spread;
}

WorkPlan plan_work(const config::Config& config, const std::vector<unsigned>& cores,
                   const std::vector<PortAbility>& abilities) {
  WorkPlan plan;
  plan.cores = cores;
  for (std::size_t p = 0; p < config.ports.size(); ++p)
    plan.ports.push_back(config.ports[p].exists() ? plan_port(config, p, cores, abilities[p])
                                                  : WorkPlan::Port{});
  plan_dispatch(plan, config, plan_together(plan, config));
  check_dispatch(plan, config);
  return plan;
}

WorkPlan plan_on(const WorkPlan& before, const config::Config& config,
                 const std::vector<PortAbility>& abilities) {
  WorkPlan plan = plan_work(config, before.cores, abilities);
  const auto stays = [&](std::size_t p) { return before.ports[p].exists() && plan.ports[p].exists(); };
  const WorkPlan::Port* model = nullptr;  // plan of the joint ports
  const std::vector<std::size_t> joint = joint_ports(config);
  for (const std::size_t p : joint)
    if (stays(p)) model = &before.ports[p];
  for (const std::size_t p : joint) {
    WorkPlan::Port& port = plan.ports[p];
    if (stays(p) || model == nullptr) continue;
    port.spread = model->spread;
    port.dispatch = model->dispatch;
    if (!model->dispatch) port.readers.assign(port.readers.size(), model->readers[0]);
  }
  for (std::size_t p = 0; p < plan.ports.size(); ++p)
    if (stays(p)) plan.ports[p] = before.ports[p];
  return plan;
}

bool serves(const WorkPlan& plan, const config::Config& config) {
  for (std::size_t p = 0; p < plan.ports.size(); ++p)
    if (is_spread(plan.ports[p]) && !keeps_together(plan.ports[p].spread, spread_of(config, p))) return false;
  const std::vector<std::size_t> joint = joint_ports(config);
  if (joint.empty()) return true;
  Spread needed = Spread::flow;
  for (const std::size_t p : joint) needed = narrower(needed, spread_of(config, p));
  const WorkPlan::Port& first = plan.ports[joint.front()];
  return std::all_of(joint.begin(), joint.end(), [&](std::size_t p) {
    const WorkPlan::Port& port = plan.ports[p];
    if (!is_spread(first)) return !is_spread(port) && port.readers[0] == first.readers[0];
    return port.dispatch && port.spread == first.spread && keeps_together(port.spread, needed);
  });
}

}  // namespace surety
