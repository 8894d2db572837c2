// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/snapshot.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace surety {

namespace {

ServiceProgram compile(const config::Service& s) {
  ServiceProgram p;
  p.name = s.name;
  p.committed = s.committed;
  p.bucket = config::committed_bucket(s.conditioner);
  p.objective = s.objective;
  p.mark_in = s.mark_in.value_or(kKeepDscp);
  p.mark_out = s.mark_out.value_or(kKeepDscp);
  p.mark_red = s.mark_red.value_or(p.mark_out);
  p.drop_red = s.drop_red;
  if (s.color_aware) {
    p.came_out = s.mark_out.value_or(kKeepDscp);
    p.came_red = s.mark_red.value_or(kKeepDscp);
  }
  std::visit(
      [&](const auto& c) {
        using T = std::decay_t<decltype(c)>;
        p.conditioner = T::kWord;
        if constexpr (std::is_same_v<T, config::Csa>) {
          p.kind = ServiceProgram::Kind::csa;
          p.csa = c.bucket;
        } else if constexpr (!std::is_same_v<T, config::None>) {
          p.kind = ServiceProgram::Kind::meter;
          p.meter.emplace(c);
        }
      },
      s.conditioner);
  return p;
}

ServiceProgram unconditioned(std::string name, std::uint8_t mark) {
  ServiceProgram p;
  p.name = std::move(name);
  p.conditioner = "none";
  p.mark_in = p.mark_out = p.mark_red = mark;
  return p;
}

// True if all queues for this DSCP on a port have RIO, also those of its interfaces.
bool all_have_rio(const PortQueues& port, config::Dscp dscp) {
  const auto has_rio = [&](const config::QueueSet& set) {
    return set.classes[set.by_dscp[dscp].class_index].scheduling.queue.rio.has_value();
  };
  return has_rio(port) && (!port.tree || std::ranges::all_of(port.tree->sets, has_rio));
}

// The classes that the DSCPs of a removed class lead to now.
std::uint64_t heirs_of(std::size_t gone, const config::QueueSet& before, const config::QueueSet& now) {
  std::uint64_t heirs = 0;
  for (std::size_t dscp = 0; dscp < now.by_dscp.size(); ++dscp)
    if (before.by_dscp[dscp].class_index == gone) heirs |= std::uint64_t{1} << now.by_dscp[dscp].class_index;
  return heirs != 0 ? heirs : std::uint64_t{1} << now.by_dscp[0].class_index;
}

// Classes are identified by name. Empty: all are where they were, strict or not.
ClassMoves moves_of(const config::QueueSet& before, const config::QueueSet& now) {
  ClassMoves moves;
  const auto same = [](const config::QueueClass& a, const config::QueueClass& b) {
    return a.scheduling.name == b.scheduling.name && a.scheduling.strict == b.scheduling.strict;
  };
  if (std::ranges::equal(before.classes, now.classes, same)) return moves;
  for (std::size_t c = 0; c < before.classes.size(); ++c) {
    const auto at = std::ranges::find_if(now.classes, [&](const config::QueueClass& q) {
      return q.scheduling.name == before.classes[c].scheduling.name;
    });
    const bool gone = at == now.classes.end();
    moves.to.push_back(gone ? ClassMoves::kGone : static_cast<std::uint8_t>(at - now.classes.begin()));
    moves.heirs.push_back(gone ? heirs_of(c, before, now) : 0);
  }
  return moves;
}

constexpr std::size_t kMostServices = 0xffff;

// True if flows of one service may keep their state for the other.
bool same_kind(const ServiceProgram& a, const ServiceProgram& b) {
  return a.kind == b.kind && a.conditioner == b.conditioner && (!a.meter || a.meter->same_kind(*b.meter));
}

// True if the same DSCPs are red in the same classes: a queue counts red packets only if its class has some
// (active_queue.h).
bool same_red(const config::QueueSet& before, const config::QueueSet& now) {
  const auto same = [](const auto& a, const auto& b) {
    const bool red = a.precedence == Precedence::red;
    return red == (b.precedence == Precedence::red) && (!red || a.class_index == b.class_index);
  };
  return std::ranges::equal(before.by_dscp, now.by_dscp, same);
}

}  // namespace

Snapshot::Snapshot(config::Config c) : Snapshot(std::move(c), nullptr) {}
Snapshot::Snapshot(config::Config c, const Snapshot& before) : Snapshot(std::move(c), &before) {}

Snapshot::Snapshot(config::Config c, const Snapshot* before)
    : config(std::move(c)),
      interfaces(
          std::make_shared<const Interfaces>(config, before == nullptr ? nullptr : before->interfaces.get())),
      classifier(config, before == nullptr ? nullptr : &before->classifier, interfaces),
      filters(config, before == nullptr ? nullptr : &before->filters),
      host_filters(config, *interfaces),
      tags(config) {
  place_services(before);
  find_queues(before);
  // Contiguous: every burst of csa packets reads it.
  for (std::size_t p = 0; p < config.ports.size(); ++p)
    if (config.ports[p].exists()) ports = p + 1;
  if (before != nullptr) ports = std::max(ports, before->ports);
  domain_of.resize(ports * services.size(), kNoDomain);
  if (before != nullptr) take_domains(*before);
  for (std::size_t port = 0; port < ports; ++port)
    if (config.ports[port].exists()) find_domains(static_cast<PortIndex>(port));
  if (before == nullptr) domain_capacity = domains.size() + std::max(kSpareDomains, 4 * domains.size());
  if (domains.size() > domain_capacity)
    throw std::runtime_error("this configuration needs " + std::to_string(domains.size() - domain_capacity) +
                             " more alphas (one for each port, class and `alpha` of csa services) than a "
                             "running router can add; restart the router to use it");
}

void Snapshot::place_services(const Snapshot* before) {
  if (before != nullptr) {
    services = before->services;
    own_services_ = before->own_services_;
    for (std::size_t s = 0; s < services.size(); ++s)
      services[s].retired = s != own_services_ && s != own_services_ + 1u;
  }
  for (const auto& s : config.services) service_of.push_back(place(compile(s)));
  if (before == nullptr) {
    own_services_ = static_cast<std::uint16_t>(services.size());
    services.push_back(unconditioned("unclassified", 0));
    services.push_back(unconditioned("trusted", kKeepDscp));
  }
  if (services.size() > kMostServices || services.size() > config.services.size() + 2 + kMostRetired)
    throw std::runtime_error(
        "too many services have been removed since the start (" + std::to_string(kMostRetired) +
        " are kept, all together at most 65535); restart the router to use this configuration");
}

std::uint16_t Snapshot::place(ServiceProgram program) {
  const auto at = std::find_if(services.begin(), services.end(), [&](const ServiceProgram& s) {
    return s.retired && s.name == program.name && same_kind(s, program);
  });
  const auto slot = static_cast<std::uint16_t>(at - services.begin());
  if (at == services.end())
    services.push_back(std::move(program));
  else
    *at = std::move(program);
  return slot;
}

void Snapshot::find_queues(const Snapshot* before) {
  for (const auto& port : config.ports) {
    const std::size_t p = queues.size();
    const PortQueues* const old = before != nullptr ? &before->queues[p] : nullptr;
    PortQueues& now = queues.emplace_back();
    static_cast<config::QueueSet&>(now) = at_rate(config.set_of(port.queues), port.shaper.rate);
    now.tree_before = old != nullptr ? old->tree : nullptr;
    now.tree = PortTree::build(config, *interfaces, p, now, now.tree_before.get());
    now.plain = !port.queues && !now.tree;
    if (old == nullptr) continue;
    now.moves = moves_of(*old, now);
    const bool same_tree = now.tree && old->tree ? now.tree->same_layout(*old->tree) : now.tree == old->tree;
    const bool same = now.moves.none() && now.plain == old->plain && same_tree && same_red(*old, now);
    now.layout = static_cast<std::uint16_t>(old->layout + !same);
  }
}

void Snapshot::take_domains(const Snapshot& before) {
  domains = before.domains;
  domain_capacity = before.domain_capacity;
  for (std::size_t s = 0; s < before.services.size(); ++s)
    std::copy_n(before.domains_of(static_cast<std::uint16_t>(s)), before.ports,
                domain_of.begin() + static_cast<std::ptrdiff_t>(s * ports));
  for (auto& d : domains) d.retired = true;
  for (std::size_t port = 0; port < queues.size(); ++port) move_domains(static_cast<PortIndex>(port));
}

// Domains of a removed class follow the queue of a class that has its packets, for the flows that still use
// their alpha.
void Snapshot::move_domains(PortIndex port) {
  const ClassMoves& moves = queues[port].moves;
  if (moves.none()) return;
  for (CsaDomain& d : domains) {
    if (d.port != port) continue;
    const std::uint64_t successors = moves.successors(std::uint64_t{1} << d.class_index);
    d.moved |= moves.to[d.class_index] == ClassMoves::kGone;
    d.class_index = static_cast<std::size_t>(std::countr_zero(successors));
  }
}

// A retired service keeps its domains. Continuing domains come first, so that no new one takes theirs.
void Snapshot::find_domains(PortIndex port) {
  const auto each = [&](auto&& f) {
    for (std::size_t i = 0; i < config.services.size(); ++i)
      if (const auto* csa = std::get_if<config::Csa>(&config.services[i].conditioner))
        f(config.services[i], *csa, domain_of[service_of[i] * ports + port]);
  };
  const auto wanted = [&](const config::Service& service, const config::Csa& csa) {
    const config::Dscp dscp = service.mark_out.value_or(0);
    const std::size_t cls = queues[port].by_dscp[dscp].class_index;
    const ClassParams& queue = queues[port].classes[cls].scheduling;
    CsaDomain domain{config.ports[port].name + "/" + queue.name, port, cls, csa.alpha};
    // Only OUT packets in a queue with RIO find congestion: otherwise an unlimited alpha would never
    // decrease.
    const bool red = queues[port].by_dscp[dscp].precedence == Precedence::red;
    if (domain.params.max == Ratio::unlimited() && (red || !all_have_rio(queues[port], dscp)))
      domain.params.max = CsaParams().max;
    return domain;
  };
  for (std::size_t i = 0; i < config.services.size(); ++i)
    domain_of[service_of[i] * ports + port] = kNoDomain;
  each(
      [&](const auto& service, const auto& csa, std::uint16_t& d) { d = take_domain(wanted(service, csa)); });
  std::vector<std::pair<std::uint16_t, const std::string*>> found;  // with the first service of each
  each([&](const auto& service, const auto& csa, std::uint16_t& d) {
    if (d == kNoDomain) d = place_domain(wanted(service, csa));
    if (std::ranges::none_of(found, [&](const auto& f) { return f.first == d; }))
      found.emplace_back(d, &service.name);
  });
  for (const auto& f : found) {
    CsaDomain& domain = domains[f.first];
    const auto same_class = [&](const auto& o) { return domains[o.first].class_index == domain.class_index; };
    if (std::ranges::count_if(found, same_class) > 1) domain.name += "/" + *f.second;
  }
}

// Index of this domain, which is now in use: the previous configuration's; if the class had none, one that
// moved to this class. kNoDomain: there is none.
std::uint16_t Snapshot::take_domain(const CsaDomain& domain) {
  const auto find = [&](bool moved) {
    return std::ranges::find_if(domains, [&](const CsaDomain& d) {
      return d.moved == moved && d.port == domain.port && d.class_index == domain.class_index &&
             (d.retired ? domain.params.continues(d.params) : domain.params == d.params);
    });
  };
  auto at = find(false);
  if (at == domains.end()) at = find(true);
  if (at == domains.end()) return kNoDomain;
  if (at->retired) *at = domain;
  return static_cast<std::uint16_t>(at - domains.begin());
}

// Adds a new domain. If there is no room, it takes the place of a retired one, whose flows follow another
// alpha until they are led to their own, some turns later.
std::uint16_t Snapshot::place_domain(const CsaDomain& domain) {
  if (const std::uint16_t shared = take_domain(domain); shared != kNoDomain) return shared;
  const bool full = domain_capacity > 0 && domains.size() >= domain_capacity;
  const auto retired =
      std::ranges::find_if(domains, [&](const CsaDomain& d) { return d.retired && d.port == domain.port; });
  const auto at = full && retired != domains.end() ? retired : domains.insert(domains.end(), domain);
  *at = domain;
  return static_cast<std::uint16_t>(at - domains.begin());
}

}  // namespace surety
