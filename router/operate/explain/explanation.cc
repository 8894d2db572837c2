// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/explain/explanation.h"

#include <fmt/format.h>

#include "config/names.h"
#include "router/process/human.h"

namespace surety {
namespace {

using State = NextHopEntry::State;
using Fate = ConditionStage::Forecast::Fate;

std::string protocol_name(std::uint8_t number) {
  for (const std::string_view name : config::protocol_names())
    if (config::parse_protocol(name) == number) return std::string(name);
  return std::to_string(number);
}

Json packet(const Question& q, const IngressTrace& t) {
  Json j = {{"source", to_string(q.source)}, {"destination", to_string(q.destination)}};
  j["protocol"] = protocol_name(q.protocol);
  if (config::has_ports(q.protocol)) {
    j["source_port"] = q.source_port;
    j["destination_port"] = q.destination_port;
  }
  j["dscp"] = config::dscp_name(q.dscp);
  j["bytes"] = t.header.length != 0 ? t.header.length : q.length;
  return j;
}

Json interface(const Interfaces& interfaces, InterfaceIndex i, const config::Config& config) {
  const InterfaceRecord& r = interfaces[i];
  Json j = {{"name", interfaces.name(i)}, {"port", config.ports[r.port].name}};
  if (r.tags.any()) j["tags"] = to_string(r);
  if (r.customer()) j["customer"] = interfaces.customer(i);
  j["trust"] = r.customer() ? "customer" : "core";
  return j;
}

const char* mode_name(config::Port::SourceCheck mode) {
  using Mode = config::Port::SourceCheck;
  return mode == Mode::strict ? "strict" : mode == Mode::loose ? "loose" : "off";
}

Json filter(const IngressTrace::Filtered& f, const Snapshot& s) {
  const config::Filter& filter = s.config.filters[f.filter];
  const bool matched = f.entry < filter.entries.size();
  Json j = {{"filter", filter.name}, {"permit", f.permit}};
  if (!matched) return j["entry"] = "default", j;
  const std::string& name = filter.entries[f.entry].name;
  j["entry"] = name.empty() ? std::to_string(f.entry + 1) : name;
  return j;
}

const char* per_name(config::Rule::Per per) {
  constexpr std::array kNames{"rule", "flow", "source", "destination", "prefix", "vlan", "interface"};
  return kNames[static_cast<std::size_t>(per)];
}

Json rule(const IngressTrace& t, const Snapshot& s) {
  const config::Rule& r = s.config.rules[t.rule];
  Json j = Json::object();
  if (r.number > 0) j["number"] = r.number;
  if (r.line > 0) j["line"] = r.line;
  if (!r.file.empty()) j["file"] = r.file;
  j["service"] = s.services[s.service_of_rule(t.rule)].name;
  j["per"] = per_name(r.per);
  return j;
}

Json service(const ServiceProgram& p) {
  Json j = {{"name", p.name}, {"conditioner", p.conditioner}};
  if (p.committed.bits_per_second() > 0) j["committed_bytes_per_second"] = p.committed.bytes_per_second();
  return j;
}

// The key of the contract: all packets of a rule, one source's, ...
std::string covered(const IngressTrace& t, const Question& q, const Snapshot& s) {
  using Per = config::Rule::Per;
  const config::Rule& r = s.config.rules[t.rule];
  if (!r.customer.empty()) return r.customer;
  switch (r.per) {
    case Per::rule:
      return fmt::format("rule {}", r.number);
    case Per::flow:
      return "this flow";
    case Per::source:
      return to_string(q.source);
    case Per::destination:
      return to_string(q.destination);
    case Per::prefix:
      return to_string(Prefix{q.source, q.source.is_v6() ? r.prefix_v6 : r.prefix_v4}.masked());
    case Per::vlan:
    case Per::interface:
      break;
  }
  return s.interfaces->name(t.header.interface);
}

Json contract(const IngressTrace& t, const Question& q, const Snapshot& s) {
  const ServiceProgram& p = s.services[t.flow.service];
  Json j = {{"contract", t.flow.excess ? "(excess)" : covered(t, q, s)}};
  j["customer"] = s.interfaces->customer(t.header.interface);
  if (t.rule < s.config.rules.size() && !s.config.rules[t.rule].customer.empty())
    j["customer"] = s.config.rules[t.rule].customer;
  j["known"] = t.state_known();
  const bool csa = p.kind == ServiceProgram::Kind::csa;
  for (std::size_t b = 0; b < t.conditioned.buckets.size(); ++b) {
    if (t.conditioned.buckets[b].depth <= 0) continue;
    const char* const name = b == 0 ? "in_bucket" : csa ? "out_bucket" : "excess_bucket";
    j[name] = {{"tokens_bytes", t.conditioned.buckets[b].tokens},
               {"depth_bytes", t.conditioned.buckets[b].depth}};
  }
  if (csa) j["buffer"] = {{"held_packets", t.held}, {"limit_packets", p.csa.buffer}};
  if (t.conditioned.domain != kNoDomain) {
    j["domain"] = s.domains[t.conditioned.domain].name;
    j["alpha_ratio"] = t.conditioned.alpha.value();
  }
  return j;
}

const char* state_name(State s) {
  constexpr std::array kNames{"no route",   "blackhole",  "unreachable", "prohibited", "unsupported", "local",
                              "unresolved", "unresolved", "waiting",     "opening",    "ready"};
  return kNames[static_cast<std::size_t>(s)];
}

Json route(const Traces& traces, const Snapshot& s) {
  const IngressTrace& t = traces.ingress;
  Json j = Json::object();
  if (traces.route) j["prefix"] = to_string(*traces.route);
  j["state"] = state_name(t.hop.state);
  if (t.hop.state < State::glean) return j;
  j["next_hop"] = to_string(traces.gateway.value_or(traces.question.destination));
  j["port"] = s.config.ports[t.hop.port].name;
  j["interface"] = s.interfaces->name(t.hop.interface);
  if (t.target.count > 1) j["of_next_hops"] = t.target.count;
  if (NextHopEntry::known(t.hop.state)) j["mac"] = to_string(t.hop.destination);
  return j;
}

// The aggregate whose marker may change the precedence or drop the packet: the one with the longest prefix
// that has its source.
const config::Aggregate* aggregate_of(const QueueTrace& q, const IngressTrace& t, const Snapshot& s) {
  const config::Aggregate* found = nullptr;
  int longest = -1;
  for (const config::Aggregate& a : s.config.aggregates) {
    const InterfaceIndex owner =
        a.interface ? s.interfaces->of_definition(*a.interface) : static_cast<InterfaceIndex>(a.port);
    if (a.port != t.hop.port || owner != q.owner || a.class_index != q.class_index) continue;
    const auto consider = [&](int length) {
      if (length > longest) longest = length, found = &a;
    };
    if (a.sources.empty()) consider(0);
    for (const Prefix& p : a.sources)
      if (const IpAddress source = source_of(t.header.key);
          p.address.is_v6() == source.is_v6() && p.contains(source))
        consider(p.length);
  }
  return found;
}

Json thresholds(const RedParams& p) {
  return {{"min_packets", p.min}, {"max_packets", p.max}, {"pmax_ratio", p.pmax.value()}};
}

Json queue(const QueueTrace& q, std::uint8_t dscp, const IngressTrace& t, const Snapshot& s) {
  Json j = {{"port", s.config.ports[t.hop.port].name}};
  if (q.owner != t.hop.port) j["interface"] = s.interfaces->name(q.owner);
  const PortQueues& queues = s.queues[t.hop.port];
  const ClassParams& params =
      queues.tree ? queues.tree->classes(q.owner)[q.class_index] : queues.classes[q.class_index].scheduling;
  j["name"] = params.name;
  j["dscp"] = config::dscp_name(dscp);
  j["precedence"] = name(q.precedence);
  j["packets"] = q.depth[0] + q.depth[1] + q.depth[2];
  j["counted_packets"] = q.level;
  j["limit_packets"] = q.limit;
  if (q.has_rio && params.queue.rio) {
    j["average_in_packets"] = q.average_in;
    j["average_total_packets"] = q.average_total;
    j["in"] = thresholds(params.queue.rio->in);
    j["out"] = thresholds(params.queue.rio->out);
    if (params.queue.rio->red) j["red"] = thresholds(*params.queue.rio->red);
  }
  if (const config::Aggregate* const a = aggregate_of(q, t, s)) j["aggregate"] = a->name;
  j["drop_probability"] = q.refusal;
  return j;
}

struct Verdict {
  std::string what, reason{}, words{};
};

Verdict dropped(DropReason reason) {
  return {"dropped", std::string(info(reason).name), std::string(info(reason).help)};
}

Verdict kernel(PuntReason reason) {
  const ResultInfo& i = kPuntReasonInfo[static_cast<std::size_t>(reason)];
  return {"kernel", std::string(i.name), std::string(i.help)};
}

Verdict routed(const IngressTrace& t, const Snapshot& s) {
  const bool customer = (*s.interfaces)[t.header.interface].customer();
  if (t.next_hop == kNextHopForeign && customer) return dropped(DropReason::no_route);
  if (t.hop.state == State::local) return kernel(PuntReason::local);
  if (t.hop.state == State::no_route) return dropped(DropReason::no_route);
  if (t.hop.state == State::unsupported) return dropped(DropReason::unsupported_route);
  if (t.hop.state < State::glean) return dropped(DropReason::blackhole);
  if (t.header.length > mtu_of(t.hop, (*s.interfaces)[t.hop.interface].mtu)) return kernel(PuntReason::mtu);
  if (!t.filter_out.permit) return dropped(DropReason::filtered);
  if (t.hop.state == State::glean) return kernel(PuntReason::neighbor);
  if (!NextHopEntry::known(t.hop.state)) return dropped(DropReason::neighbor_unresolved);
  return {"leaves"};
}

// The verdict of the first stage, in their order, that stops the packet.
Verdict verdict(const IngressTrace& t, const Snapshot& s) {
  if (t.parsed.drop != DropReason::none) return dropped(t.parsed.drop);
  if (t.parsed.punt != PuntReason::none) return kernel(t.parsed.punt);
  if (!t.source_accepted) return dropped(DropReason::source_check);
  if (!t.filter_in.permit) return dropped(DropReason::filtered);
  Verdict v = routed(t, s);
  if (v.what != "leaves") return v;
  if (t.conditioned.fate == Fate::waits) return {"waits", "buffer", "its tokens are not there yet"};
  if (t.conditioned.fate == Fate::dropped) return dropped(t.conditioned.reason);
  return v;
}

std::string marked(const Traces& traces, const Snapshot& s) {
  const ServiceProgram& p = s.services[traces.ingress.flow.service];
  const DegradeReason degraded = traces.ingress.flow.degraded;
  if (degraded != DegradeReason::none) return fmt::format("service {} ({})", p.name, info(degraded).name);
  if (!traces.ingress.flow.own_state) return fmt::format("service {}, not conditioned", p.name);
  const std::string rate = human::rate(static_cast<double>(p.committed.bytes_per_second()));
  if (p.mark_out == kKeepDscp && p.drop_red && p.mark_in != kKeepDscp)
    return fmt::format("service {}, up to {}; packets beyond are dropped", p.name, rate);
  return fmt::format("service {}, marked IN up to {}, {} now", p.name, rate,
                     traces.ingress.conditioned.fate == Fate::in ? "IN" : "OUT");
}

std::string chance(double probability) {
  return fmt::format("{:.3g} %", 100 * probability);
}

std::string chances(const Traces& traces) {
  const QueueTrace &in = traces.queues[0], &out = traces.queues[1];
  if (!traces.ingress.flow.own_state) return fmt::format("drop probability {}", chance(in.refusal));
  return fmt::format("drop probability {} IN, {} OUT", chance(in.refusal), chance(out.refusal));
}

std::string sentence(const Traces& traces, const Snapshot& s, const Verdict& v, const Json& answer) {
  const IngressTrace& t = traces.ingress;
  if (v.what == "dropped") return fmt::format("dropped ({}): {}", v.reason, v.words);
  if (v.what == "kernel") return fmt::format("given to the kernel ({}): {}", v.reason, v.words);
  const Precedence p = t.conditioned.fate == Fate::in ? Precedence::in : Precedence::out;
  const Json& queue = answer.at(p == Precedence::in ? "queue_in" : "queue_out");
  return fmt::format("{}{}, leaves by {} in queue {}, {}", marked(traces, s),
                     v.what == "waits" ? " but has to wait for its tokens" : "",
                     s.interfaces->name(t.hop.interface), queue.at("name").get<std::string>(),
                     chances(traces));
}

}  // namespace

std::uint8_t mark_of(const IngressTrace& t, const Snapshot& snapshot, Precedence precedence) {
  const ServiceProgram& p = snapshot.services[t.flow.service];
  const std::uint8_t mark = precedence == Precedence::in ? p.mark_in
                            : t.conditioned.red          ? p.mark_red
                                                         : p.mark_out;
  return mark != kKeepDscp ? mark : static_cast<std::uint8_t>(t.header.traffic_class >> 2);
}

bool comes_to_queue(const IngressTrace& t) {
  return t.parsed.forwards() && t.hop.state >= State::glean;
}

Json explanation(const Traces& traces, const Snapshot& s) {
  const IngressTrace& t = traces.ingress;
  const Verdict v = verdict(t, s);
  Json j = {{"packet", packet(traces.question, t)}};
  if (t.parsed.drop == DropReason::none)
    j["interface"] = interface(*s.interfaces, t.header.interface, s.config);
  if (t.parsed.forwards()) {
    const InterfaceRecord& from = (*s.interfaces)[t.header.interface];
    if (t.flow.flow_known) j["flow"] = {{"worker", traces.worker}, {"idle_seconds", seconds(t.idle)}};
    if (t.state_known())
      j["counted"] = {{"in_bytes", t.counters.in_bytes}, {"out_bytes", t.counters.out_bytes}};
    j["source_check"] = {{"mode", mode_name(from.source_check)}, {"accepted", t.source_accepted}};
    if (t.filter_in.filter != kNoFilter) j["filter_in"] = filter(t.filter_in, s);
    if (t.rule != Classifier::kNoRule) j["rule"] = rule(t, s);
    if (const DegradeReason degraded = t.flow.degraded; degraded != DegradeReason::none)
      j["degraded"] = {{"reason", info(degraded).name}, {"help", info(degraded).help}};
    j["service"] = service(s.services[t.flow.service]);
    if (t.flow.own_state && t.rule != Classifier::kNoRule) j["contract"] = contract(t, traces.question, s);
    j["route"] = route(traces, s);
    if (t.filter_out.filter != kNoFilter) j["filter_out"] = filter(t.filter_out, s);
  }
  if (comes_to_queue(t)) {
    j["queue_in"] = queue(traces.queues[0], mark_of(t, s, Precedence::in), t, s);
    if (t.flow.own_state) j["queue_out"] = queue(traces.queues[1], mark_of(t, s, Precedence::out), t, s);
  }
  j["verdict"] = v.what;
  if (!v.reason.empty()) j["reason"] = v.reason;
  j["sentence"] = sentence(traces, s, v, j);
  return j;
}

}  // namespace surety
