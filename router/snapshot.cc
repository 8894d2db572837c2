#include "router/snapshot.h"

#include <algorithm>
#include <type_traits>

namespace surety {

namespace {

constexpr std::uint64_t kTicksPerSecond = 1'000'000'000;  // meters run on Time itself

ServiceProgram compile(const config::Service& s) {
  ServiceProgram p;
  p.name = s.name;
  p.committed = s.committed;
  p.mark_in = s.mark_in.value_or(kKeepDscp);
  p.mark_out = s.mark_out.value_or(kKeepDscp);
  p.mark_red = s.mark_red.value_or(p.mark_out);
  p.drop_red = s.drop_red;
  std::visit(
      [&](const auto& c) {
        using T = std::decay_t<decltype(c)>;
        if constexpr (std::is_same_v<T, config::Csa>) {
          p.kind = ServiceProgram::Kind::csa;
          p.conditioner = "csa";
          p.csa = c.bucket;
        } else if constexpr (std::is_same_v<T, config::TokenBucketMarker>) {
          p.kind = ServiceProgram::Kind::token_bucket;
          p.conditioner = "token-bucket";
          p.bucket = c.bucket;
        } else if constexpr (std::is_same_v<T, config::Police>) {
          p.kind = ServiceProgram::Kind::police;
          p.conditioner = "police";
          p.bucket = c.bucket;
        } else if constexpr (std::is_same_v<T, config::None>) {
          p.conditioner = "none";
        } else {
          p.kind = ServiceProgram::Kind::meter;
          p.conditioner = std::is_same_v<T, config::SrTcm> ? "srtcm" : "trtcm";
          p.meter.emplace(c, kTicksPerSecond);
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

// One first-in-first-out class for everything, as a port has without `queues`.
config::QueueSet plain_queue() {
  config::QueueSet q;
  config::QueueClass c;
  c.scheduling.name = "default";
  q.classes.push_back(c);
  return q;  // by_dscp: class 0, OUT
}

// RIO's averages decay over idle time at the pace of the port (rio.h).
void set_capacity(config::QueueSet& set, const config::Port& port) {
  if (!port.shaper.rate) return;
  for (auto& c : set.classes)
    if (c.scheduling.queue.rio) c.scheduling.queue.rio->capacity = *port.shaper.rate;
}

}  // namespace

Snapshot::Snapshot(config::Config c) : config(std::move(c)), classifier(config) {
  for (const auto& s : config.services) services.push_back(compile(s));
  services.push_back(unconditioned("unclassified", 0));
  services.push_back(unconditioned("trusted", kKeepDscp));
  for (const auto& port : config.ports) {
    queues.push_back(port.queues ? config.queues[*port.queues] : plain_queue());
    set_capacity(queues.back(), port);
  }
  domain_of.assign(config.ports.size() * services.size(), kNoDomain);
  for (std::size_t port = 0; port < config.ports.size(); ++port) find_domains(static_cast<PortIndex>(port));
}

void Snapshot::find_domains(PortIndex port) {
  const std::size_t first = domains.size();
  std::vector<std::size_t> services_of;  // the first one of each domain
  for (std::size_t s = 0; s < config.services.size(); ++s) {
    const auto* csa = std::get_if<config::Csa>(&config.services[s].conditioner);
    if (csa == nullptr) continue;
    const std::size_t cls = queues[port].by_dscp[config.services[s].mark_out.value_or(0)].class_index;
    std::size_t d = first;
    while (d < domains.size() && !(domains[d].class_index == cls && domains[d].params == csa->alpha)) ++d;
    if (d == domains.size()) {
      domains.push_back(
          {config.ports[port].name + "/" + queues[port].classes[cls].scheduling.name, port, cls, csa->alpha});
      services_of.push_back(s);
    }
    domain_of[s * config.ports.size() + port] = static_cast<std::uint16_t>(d);
  }
  const auto several = [&](std::size_t cls) {
    return std::count_if(domains.begin() + static_cast<std::ptrdiff_t>(first), domains.end(),
                         [&](const CsaDomain& d) { return d.class_index == cls; }) > 1;
  };
  for (std::size_t d = first; d < domains.size(); ++d)
    if (several(domains[d].class_index))
      domains[d].name += "/" + config.services[services_of[d - first]].name;
}

}  // namespace surety
