// SPDX-License-Identifier: BSD-3-Clause
// Section `hosts` of a scenario.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "config/address.h"
#include "tests/lab/scenario/scenario_sections.h"

namespace surety::lab {
namespace {

using config::quote;

constexpr std::uint64_t kMaxTimes = 10'000;
constexpr std::size_t kMaxHosts = 100'000;
constexpr std::uint32_t kMadeUp = 10u << 24;  // 10.0.0.0/8

using Owners = std::map<std::string, std::string>;  // of addresses

void add_one(IpAddress& a) {
  std::uint8_t* const bytes = a.data();
  for (std::size_t i = a.size(); i-- > 0;) {
    if (++bytes[i] != 0) return;
  }
}

IpAddress made_up(std::uint32_t index) {
  return IpAddress::v4(__builtin_bswap32(kMadeUp | index));
}

// The first and last addresses of a /24 belong to nobody: they look like the network's and the broadcast.
bool is_made_up_well(std::uint32_t index) {
  return (index & 255) != 0 && (index & 255) != 255;
}

Owners addresses_of_routers(const Scenario& s) {
  Owners owners;
  for (const auto& r : s.routers) {
    for (const auto& port : r.config.ports) {
      for (const auto& p : port.addresses)
        owners.emplace(to_string(p.address), fmt::format("port `{}.{}`", r.name, port.name));
    }
  }
  return owners;
}

struct Item {
  HostSet set;
  std::optional<IpAddress> address;
  Mark address_at;
};

Item read_item(const Node& node, config::Problems& problems) {
  Item item;
  item.set.count = 1;
  item.set.at = node.mark;
  if (node.kind == Node::Kind::scalar) {
    item.set.name = node.text;
    return item;
  }
  config::MapReader map(node, "a host", problems);
  if (map.required("name", item.set.name)) item.set.at = map.at("name");
  item.set.replicas = config::read_integer(map.find("times"), 1, kMaxTimes, item.set.count, problems);
  map.read("address", item.address);
  item.address_at = map.at("address");
  return item;
}

// Whether there may be such hosts beside those before.
bool check_item(const HostSet& set, const ScenarioDraft& draft) {
  auto& problems = draft.problems;
  if (set.name.empty()) return false;  // reported
  if (!config::is_name(set.name)) {
    problems.error(set.at, fmt::format("{} cannot name a host: up to 63 letters, digits, `-`, `_` and `.`",
                                       quote(set.name)));
  } else if (draft.find_router(set.name)) {
    problems.error(set.at, fmt::format("{} is a router already", quote(set.name)));
  } else if (draft.find_hosts(set.name)) {
    problems.error(set.at, fmt::format("there is already a host {}", quote(set.name)));
  } else if (draft.scenario.hosts.size() + set.count > kMaxHosts) {
    problems.error(set.at, fmt::format("too many hosts: at most {}", kMaxHosts));
  } else {
    return true;
  }
  return false;
}

void give_addresses(const Item& item, Owners& owners, ScenarioDraft& draft) {
  IpAddress a = *item.address;
  for (std::size_t i = item.set.first; i < item.set.first + item.set.count; ++i, add_one(a)) {
    auto& host = draft.scenario.hosts[i];
    host.address = a;
    const auto text = to_string(a);
    if (!is_unicast(a)) {
      draft.problems.error(item.address_at, fmt::format("`{}` cannot be the address of a host", text));
      return;
    }
    const auto [it, fresh] = owners.emplace(text, fmt::format("host `{}`", host.name));
    if (!fresh) {
      draft.problems.error(item.address_at, fmt::format("`{}` is the address of {}", text, it->second));
      return;
    }
  }
}

void make_addresses(const std::vector<bool>& given, const Owners& owners, ScenarioDraft& draft) {
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i]) continue;
    auto& address = draft.scenario.hosts[i].address;
    last = std::max(last + 1, static_cast<std::uint32_t>(i) + 1);
    while (!is_made_up_well(last) || owners.contains(to_string(made_up(last)))) ++last;
    address = made_up(last);
  }
}

}  // namespace

std::optional<HostSet> ScenarioDraft::find_hosts(std::string_view name) const {
  const auto base = name.substr(0, name.find('#'));
  const auto it = host_set_index.find(base);
  if (it == host_set_index.end()) return {};
  const HostSet& set = host_sets[it->second];
  if (base.size() == name.size()) return set;
  const auto number = config::parse_integer(name.substr(base.size() + 1), 1, set.count).value;
  if (!set.replicas || !number) return {};
  return HostSet{std::string(name), set.first + *number - 1, 1, false, set.at};
}

void read_hosts(const Node& node, ScenarioDraft& draft) {
  Owners owners = addresses_of_routers(draft.scenario);
  std::vector<bool> given;
  for (const Node* n :
       config::sequence(node, "hosts, like `[h1, {name: customer, times: 12}]`", draft.problems)) {
    Item item = read_item(*n, draft.problems);
    if (!check_item(item.set, draft)) continue;
    item.set.first = draft.scenario.hosts.size();
    for (std::size_t k = 1; k <= item.set.count; ++k) {
      draft.scenario.hosts.push_back(
          {.name = item.set.replicas ? fmt::format("{}#{}", item.set.name, k) : item.set.name,
           .address = {}});
      draft.host_places.emplace_back();
    }
    given.resize(draft.scenario.hosts.size(), item.address.has_value());
    if (item.address) give_addresses(item, owners, draft);
    draft.host_set_index.emplace(item.set.name, draft.host_sets.size());
    draft.host_sets.push_back(std::move(item.set));
  }
  make_addresses(given, owners, draft);
}

}  // namespace surety::lab
