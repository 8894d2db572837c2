// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "router/operate/machine/nics.h"

namespace surety::machine {

namespace {

using Json = nlohmann::json;

Json answer_of(const Host& host, const Words& words) {
  const Outcome outcome = host.run(words);
  const auto from = std::min(outcome.output.find('['), outcome.output.size());
  Json json = Json::parse(outcome.output.substr(from), nullptr, false);
  if (outcome.ok() && json.is_array()) return json;
  if (outcome.ok() && from == outcome.output.size()) return Json::array();
  throw std::runtime_error(
      fmt::format("`{}` does not list what this machine uses: {}; run `apt install iproute2`",
                  shell_text(words), outcome.output.substr(0, 200)));
}

std::vector<std::string> devices_of(const Json& route) {
  std::vector<std::string> devices;
  if (route.contains("dev")) devices.push_back(route["dev"]);
  for (const Json& hop : route.value("nexthops", Json::array()))
    if (hop.contains("dev")) devices.push_back(hop["dev"]);
  return devices;
}

// Half of all addresses is what a VPN sets in a default route's place.
bool leads_everywhere(const Json& route) {
  const std::string to = route.value("dst", "");
  return to == "default" || to.ends_with("/0") || to.ends_with("/1");
}

// True for a route set by the router (router/daemon/linux/kernel_routes.h): its configuration sets it again.
bool is_ours(const Json& route) {
  const std::string protocol = route.value("protocol", "");
  return protocol == "surety" || protocol == "83";
}

bool has_gateway(const Json& route) {
  const auto one = [](const Json& r) { return r.contains("gateway") || r.contains("via"); };
  return one(route) || std::ranges::any_of(route.value("nexthops", Json::array()), one);
}

// Adds the interface and the devices below it that carry a VLAN, bond or bridge.
void add_below(const Host& host, const std::string& interface, std::set<std::string>& all) {
  if (!all.insert(interface).second) return;
  for (const std::string& name : host.list("/sys/class/net/" + interface))
    if (name.starts_with("lower_")) add_below(host, name.substr(6), all);
}

class ManagementPath {
 public:
  explicit ManagementPath(const Host& host) : host_(host), veths_(veths_of(host)) {
    for (const char* family : {"-4", "-6"})
      for (Json& route : answer_of(host, {"ip", "-j", family, "route", "show", "table", "all"}))
        routes_.push_back(std::move(route));
  }
  void keep(const std::string& interface, const std::string& why) {
    std::set<std::string> below;
    add_below(host_, interface, below);
    if (std::ranges::none_of(below, [&](const auto& name) { return is_nic(host_, veths_, name); }))
      for (const Json& route : routes_)  // a tunnel: the egress interfaces of its packets
        if (has_gateway(route))
          for (const auto& device : devices_of(route)) add_below(host_, device, below);
    for (const auto& name : below) kept_.push_back({name, why});
  }
  void keep_default_routes() {
    for (const Json& route : routes_)
      if (leads_everywhere(route) && !is_ours(route))
        for (const auto& device : devices_of(route)) keep(device, "carries the default route");
  }
  void keep_way_to(const std::string& peer, const std::string& local) {
    const std::string why = "carries the SSH session from " + peer;
    for (const Json& route : answer_of(host_, {"ip", "-j", "route", "get", peer}))
      for (const auto& device : devices_of(route)) keep(device, why);
    for (const Json& link : answer_of(host_, {"ip", "-j", "address", "show"}))
      for (const Json& address : link.value("addr_info", Json::array()))
        if (address.value("local", "") == local) keep(link.value("ifname", ""), why);
  }
  std::vector<Kept> take() { return std::move(kept_); }

 private:
  const Host& host_;
  std::set<std::string> veths_;
  std::vector<Json> routes_;
  std::vector<Kept> kept_;
};

// The value in the environment of this process's shell: sudo does not pass it on.
std::optional<std::string> of_ancestors(const Host& host) {
  std::string pid = "self";
  for (int depth = 0; depth < 32; ++depth) {
    const auto stat = host.read("/proc/" + pid + "/stat");
    const auto name_end = stat ? stat->rfind(')') : std::string::npos;
    if (name_end == std::string::npos) return {};
    std::istringstream fields(stat->substr(name_end + 1));
    std::string state;
    if (!(fields >> state >> pid) || pid == "0") return {};
    const std::string environment = '\0' + host.read("/proc/" + pid + "/environ").value_or("");
    constexpr std::string_view kWord("\0SSH_CONNECTION=", 16);
    if (const auto found = environment.find(kWord); found != std::string::npos)
      return std::string(environment.c_str() + found + kWord.size());
  }
  return {};
}

}  // namespace

std::set<std::string> veths_of(const Host& host) {
  std::set<std::string> names;
  for (const Json& link : answer_of(host, {"ip", "-j", "link", "show", "type", "veth"}))
    names.insert(link.value("ifname", ""));
  return names;
}

// True for Ethernet (1) with hardware, which a TAP device does not have, or with another end.
bool is_nic(const Host& host, const std::set<std::string>& veths, const std::string& interface) {
  const fs::path at = "/sys/class/net/" + interface;
  return host.number(at / "type") == 1 && (host.exists(at / "device") || veths.contains(interface));
}

std::vector<Kept> kept_interfaces(const Host& host, const std::optional<std::string>& ssh_connection) {
  ManagementPath keeper(host);
  keeper.keep_default_routes();
  for (const auto& connection : {ssh_connection, of_ancestors(host)}) {
    std::istringstream words(connection.value_or(""));
    std::string peer, peer_port, local;
    if (!(words >> peer >> peer_port >> local)) continue;
    peer = peer.substr(0, peer.find('%'));  // without the zone of a link-local address
    keeper.keep_way_to(peer, local.substr(0, local.find('%')));
  }
  return keeper.take();
}

}  // namespace surety::machine
