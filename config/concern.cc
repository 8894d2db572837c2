// SPDX-License-Identifier: BSD-3-Clause
// Contracts, customers and the like that a change affects.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "config/changes.h"
#include "config/text/outline.h"

namespace surety::config {
namespace {

constexpr std::size_t kNamed = 5;

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) all += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kNamed) all += fmt::format(" and {} more", names.size() - kNamed);
  return all;
}

template <class T>
std::optional<std::size_t> index_of(const std::vector<T>& all, const std::string& name) {
  const auto at = std::ranges::find(all, name, &T::name);
  return at == all.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - all.begin()));
}

std::string value(const Outline& item, std::string_view key) {
  const Outline* const o = item.find(key);
  return o == nullptr ? "" : o->words();
}

std::string name_of(const Interface& i, const Config& c) {
  if (i.is_template()) return fmt::format("{0}.{1} to {0}.{2}", i.name, i.first_inner, i.last_inner);
  const Outline* at = c.written.get();
  for (const std::string_view key : {std::string_view("interfaces"), std::string_view(i.name)})
    if (at != nullptr) at = at->find(key);
  const std::string customer = at == nullptr ? "" : value(*at, "customer");
  return customer.empty() ? i.name : fmt::format("{} (customer {})", i.name, customer);
}

template <class F>
std::string interfaces(const Config& c, std::string_view none, F&& wanted) {
  std::vector<std::string> names;
  for (const Interface& i : c.interfaces)
    if (wanted(i)) names.push_back(name_of(i, c));
  return names.empty() ? std::string(none) : "interfaces " + listed(names);
}

std::string subscribers_of(const std::string& plan, const Config& c) {
  const Outline* const all = c.written == nullptr ? nullptr : c.written->find("subscribers");
  std::vector<std::string> names;
  if (all != nullptr)
    for (const Outline& subscriber : all->below)
      if (value(subscriber, "plan") == plan) names.push_back(subscriber.key);
  return names.empty() ? "nothing: no subscriber has this plan" : "subscribers " + listed(names);
}

std::string set_of(const Config& c, const std::string& name) {
  const auto set = index_of(c.queues, name);
  std::vector<std::string> names;
  for (const Port& p : c.ports)
    if (set && p.queues == set) names.push_back("port " + p.name);
  for (const Interface& i : c.interfaces)
    if (set && i.queues == set) names.push_back("interface " + name_of(i, c));
  return names.empty() ? "nothing: no port or interface uses this queue set"
                       : "traffic that leaves by " + listed(names);
}

std::string outlet(const Outline& item) {
  const std::string port = value(item, "port");
  return fmt::format("class {} of {} {}", value(item, "queue"), port.empty() ? "interface" : "port",
                     port.empty() ? value(item, "interface") : port);
}

std::string whole(std::string_view section) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWhom = {{
      {"admission", "admission of contracts"},
      {"pcp", "tagged frames that leave, and those from the core"},
      {"signalling", "congestion signals"},
      {"metrics", "readers of the metrics"},
      {"log", "readers of the log"},
      {"icmp", "receivers of ICMP errors"},
      {"flow_table", "new flows"},
      {"kernel", "the kernel's routes and addresses"},
      {"version", "nothing"},
  }};
  const auto at = std::ranges::find(kWhom, section, [](const auto& w) { return w.first; });
  return std::string(at == kWhom.end() ? "all traffic of the router" : at->second);
}

}  // namespace

std::string concern(std::string_view section, const std::string& name, const Outline& item, const Config& c) {
  if (name.empty()) return whole(section);
  if (section == "ports") return "traffic of port " + name;
  if (section == "groups") {
    const auto group = index_of(c.groups, name);
    return interfaces(c, "nothing: no interface is in this group",
                      [&](const Interface& i) { return group && i.group == group; });
  }
  if (section == "interfaces") return interfaces(c, name, [&](const Interface& i) { return i.name == name; });
  if (section == "subscribers") return "subscriber " + name;
  if (section == "plans") return subscribers_of(name, c);
  if (section == "filters") {
    const auto filter = index_of(c.filters, name);
    const auto uses = [&](const auto& at) {
      return filter && (at.filter_in == filter || at.filter_out == filter);
    };
    std::vector<std::string> ports;
    for (const Port& p : c.ports)
      if (uses(p)) ports.push_back(p.name);
    if (ports.empty()) return interfaces(c, "nothing: no port or interface uses this filter", uses);
    const std::string others = interfaces(c, "", uses);
    return "ports " + listed(ports) + (others.empty() ? "" : ", " + others);
  }
  if (section == "routes") return "traffic to " + name;
  if (section == "neighbors") return "traffic through " + name;
  if (section == "queues") return set_of(c, name);
  if (section == "services") return "contracts of service " + name;
  if (section == "classify") return "contracts of service " + value(item, "service");
  if (section == "aggregates") return outlet(item);
  return whole(section);
}

}  // namespace surety::config
