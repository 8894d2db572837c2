// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace surety::lab {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double bits(const std::optional<Rate>& r) {
  return r ? static_cast<double>(r->bits_per_second()) : kUnlimited;
}

// Of a line, and of the port before it.
double capacity(const Plan& plan, LineNumber n) {
  const PlannedLine& l = plan.lines()[n];
  double c = bits(l.parameters->rate);
  if (l.from.router)
    c = std::min(c, bits(plan.scenario().routers[l.from.node].config.ports[l.from.port].shaper.rate));
  return c;
}

// The lines from host to host; Plan made sure that there is a way.
std::vector<LineNumber> way(const Plan& plan, const std::vector<std::vector<LineNumber>>& routes,
                            std::size_t from, std::size_t to) {
  std::vector<LineNumber> lines{plan.hosts()[from].out};
  while (plan.lines()[lines.back()].to.router)
    lines.push_back(routes[plan.lines()[lines.back()].to.node][to]);
  return lines;
}

// What a sender offers by itself, bit/s.
double offered(const config::Sender& s) {
  if (const auto* udp = std::get_if<endpoints::UdpParams>(&s.params)) return bits(udp->rate);
  if (const auto* dccp = std::get_if<endpoints::DccpParams>(&s.params))
    if (dccp->tfrc.application > Rate{}) return bits(dccp->tfrc.application);
  return kUnlimited;
}

struct Load {
  double bits = 0, packets = 0, acknowledgements = 0;
};

double acknowledgements_per_packet(const LabSender& s) {
  if (!std::holds_alternative<endpoints::TcpParams>(s.sender.params)) return 0;
  return s.sink.ack == endpoints::AckPolicy::every ? 1 : 0.5;
}

bool uses_link_addresses(const IpAddress& a) {
  return !a.is_v6() && a.data()[0] == 100 && (a.data()[1] & 0xc0) == 64;
}

void add_sizes(const Scenario& s, std::vector<std::string>& out) {
  if (s.routers.size() > kMostLiveRouters)
    out.push_back(
        fmt::format("{} routers: at most {} run live side by side", s.routers.size(), kMostLiveRouters));
  if (s.hosts.size() > kMostLiveHosts)
    out.push_back(fmt::format("{} hosts: at most {} run live", s.hosts.size(), kMostLiveHosts));
}

}  // namespace

double live_packets_per_second(const Plan& plan) {
  const auto routes = live_routes(plan);
  std::vector<Load> loads(plan.lines().size());
  for (const auto& flow : plan.flows()) {
    const LabSender& s = plan.scenario().senders[flow.sender];
    const auto lines = way(plan, routes, s.host, s.to);
    double rate = offered(s.sender);
    for (const LineNumber n : lines) rate = std::min(rate, capacity(plan, n));
    if (rate == kUnlimited) return kUnlimited;
    const double packets = rate / static_cast<double>(s.sender.common().packet.bits());
    for (const LineNumber n : lines) {
      loads[n].bits += rate;
      loads[n].packets += packets;
      loads[n].acknowledgements += packets * acknowledgements_per_packet(s);
    }
  }
  double sum = 0;
  for (LineNumber n = 0; n < loads.size(); ++n) {
    if (loads[n].bits == 0) continue;
    const double share = std::min(1.0, capacity(plan, n) / loads[n].bits);  // of what is offered
    sum += share * (loads[n].packets + loads[n].acknowledgements);
  }
  return sum;
}

std::vector<std::string> live_refusals(const Plan& plan) {
  const Scenario& s = plan.scenario();
  std::vector<std::string> out;
  add_sizes(s, out);
  if (!s.routes.empty())
    out.emplace_back("routes that change: live routers take the shortest ways; leave `routes` out");
  if (s.senders.empty()) out.emplace_back("no senders: there is nothing to compare");
  for (const auto& h : s.hosts) {
    if (h.address.is_v6()) out.push_back(fmt::format("host {}: live hosts have IPv4 addresses", h.name));
    if (uses_link_addresses(h.address))
      out.push_back(fmt::format(
          "host {}: addresses of 100.64.0.0/10 are those of live links; give it another", h.name));
  }
  for (const Link& l : s.links)
    if (l.a.interface || l.b.interface) {
      out.push_back(
          fmt::format("link {}: live hosts send frames without tags; link it to the port itself", l.name));
      break;
    }
  for (const auto& sender : s.senders)
    if (const auto* dccp = std::get_if<endpoints::DccpParams>(&sender.sender.params);
        dccp != nullptr && dccp->udp)
      out.push_back(
          fmt::format("sender {}: live runs send DCCP directly in IP; leave `encapsulation: udp` out",
                      sender.sender.name));
  for (const auto& r : s.routers)
    if (r.signalling && !r.config.signalling.borders.empty())
      out.push_back(fmt::format("router {}: live routers have other addresses; leave `borders` out", r.name));
  if (const double packets = live_packets_per_second(plan); packets == kUnlimited)
    out.emplace_back("nothing limits the rate of a sender: give a link on its way a `rate`");
  else if (packets > kMostLivePackets)
    out.push_back(fmt::format("up to {:.0f} packets a second over all links, ACKs too: live at most {:.0f}",
                              packets, kMostLivePackets));
  return out;
}

}  // namespace surety::lab
