// SPDX-License-Identifier: BSD-3-Clause
// Match fields of a packet: `match` of a rule, `permit` and `deny` of a filter, and the fields of a query.
#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <utility>

#include "config/names.h"
#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

std::optional<std::uint16_t> parse_port_number(std::string_view s) {
  std::uint16_t n = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
  if (s.empty() || error != std::errc() || end != s.data() + s.size()) return {};
  return n;
}

// `5004` or `5004-5005`.
void read_port_range(const Node* node, PortRange& out, Problems& problems) {
  const auto* text = node ? text_of(*node, "a port or a range like `5004-5005`", problems) : nullptr;
  if (!text) return;
  const std::string_view s = *text;
  const auto dash = s.find('-');
  const auto from = parse_port_number(s.substr(0, dash));
  const auto to = dash == s.npos ? from : parse_port_number(s.substr(dash + 1));
  if (!from || !to) {
    problems.error(node->mark, "{} is not a port or a range like `5004-5005`", quote(s));
  } else if (*from > *to) {
    problems.error(node->mark, "{} ends before it starts", quote(s));
  } else {
    out = {*from, *to};
  }
}

bool mixes_families(const std::vector<Prefix>& sorted) {
  return !sorted.empty() && sorted.front().address.is_v6() != sorted.back().address.is_v6();
}

// Addresses of one family and ICMP fix the family; two of them must not fix it differently.
void settle_family(MapReader& map, Match& m, Problems& problems) {
  using Family = Match::Family;
  const std::array<std::pair<const char*, const std::vector<Prefix>&>, 2> lists{
      {{"source", m.source}, {"destination", m.destination}}};
  const auto settle = [&](std::string_view key, bool v6) {
    const auto family = v6 ? Family::ipv6 : Family::ipv4;
    if (m.family != Family::any && m.family != family) {
      problems.error(map.at(key), "`{}` is {}, the rest of the match is {}: no packet can match both", key,
                     v6 ? "IPv6" : "IPv4", v6 ? "IPv4" : "IPv6");
    }
    m.family = family;
  };
  for (const auto& [key, list] : lists)
    if (!list.empty() && !mixes_families(list)) settle(key, list.front().address.is_v6());
  if (m.protocol == kIcmp) settle("protocol", false);
  if (m.protocol == kIcmpV6) settle("protocol", true);
  for (const auto& [key, list] : lists) {
    if (m.family != Family::any && mixes_families(list))
      problems.error(map.at(key), "`{}` has IPv4 and IPv6, the rest of the match is {}: leave the others out",
                     key, m.family == Family::ipv6 ? "IPv6" : "IPv4");
  }
}

void check_ports(MapReader& map, const Match& m, Problems& problems) {
  if (!m.protocol || has_ports(*m.protocol)) return;
  for (const auto* key : {"source_port", "destination_port"}) {
    if (map.find(key))
      problems.error(map.at(key), "this protocol has no ports: tcp, udp, dccp and sctp have");
  }
}

void read_tags(MapReader& map, Match& m, Problems& problems) {
  read_integer(map.find("vlan"), 0, kMaxVlan, m.vlan, problems);
  read_integer(map.find("inner_vlan"), 1, kMaxVlan, m.inner_vlan, problems);
  if (map.find("inner_vlan") && (!map.find("vlan") || m.vlan == 0)) {
    problems.error(map.at("inner_vlan"), "an inner VLAN needs `vlan`, the outer one");
  }
}

// Reads the port, interface or VLAN that packets come by.
void read_place(MapReader& map, Match& m, Draft& draft) {
  auto& problems = draft.problems;
  const Node* interface = map.find("interface");
  if (const Node* n = map.find("port")) m.port = draft.ports.resolve(*n, "port", problems);
  if (!interface) return read_tags(map, m, problems);
  m.interface = resolve_link(*interface, draft);
  for (const auto* key : {"port", "vlan", "inner_vlan"}) {
    const Node* n = map.find(key);
    if (n) problems.error(n->mark, "the interface already determines it: leave `{}` out", key);
  }
}

// Reads the fields of the packet itself.
void read_fields(MapReader& map, Match& m, Problems& problems) {
  read_prefixes(map.find("source"), "source", m.source, problems);
  read_prefixes(map.find("destination"), "destination", m.destination, problems);
  std::uint8_t number = 0;
  const Node* protocol = map.find("protocol");
  if (protocol && read_protocol(*protocol, number, problems)) m.protocol = number;
  read_port_range(map.find("source_port"), m.source_port, problems);
  read_port_range(map.find("destination_port"), m.destination_port, problems);
  const Node* dscp = map.find("dscp");
  if (dscp && read_dscp(*dscp, number, problems)) m.dscp = number;
  map.read_word("family", m.family, {{"ipv4", Match::Family::ipv4}, {"ipv6", Match::Family::ipv6}});
  settle_family(map, m, problems);
  check_ports(map, m, problems);
}

}  // namespace

void read_prefixes(const Node* node, std::string_view key, std::vector<Prefix>& out, Problems& problems) {
  if (!node) return;
  std::vector<std::pair<Prefix, Mark>> all;
  const auto items = list_of(*node);
  if (items.empty()) problems.error(node->mark, "`{}` needs at least one prefix", key);
  for (const Node* item : items) {
    Prefix p;
    if (read_masked(item, p, problems)) all.emplace_back(p, item->mark);
  }
  std::ranges::stable_sort(all, {}, &std::pair<Prefix, Mark>::first);
  for (const auto& [p, mark] : all) {  // a prefix follows those that contain it
    if (out.empty() || !out.back().contains(p.address))
      out.push_back(p);
    else
      problems.warning(mark, "`{}` is already covered by `{}` of this list", to_string(p),
                       to_string(out.back()));
  }
}

std::optional<std::size_t> resolve_link(const Node& reference, Draft& draft) {
  const auto index = draft.interfaces.resolve(reference, "interface", draft.problems);
  const auto& all = draft.config.interfaces;
  if (!index || *index >= all.size() || all[*index].has_link()) return index;
  draft.problems.error(
      reference.mark,
      "{} is a subscriber without an interface of its own: name the port or interface that it is on",
      quote(reference.text));
  return {};
}

void read_rule_match(const Node& node, Match& m, Draft& draft) {
  MapReader map(node, "`match`", draft.problems);
  read_place(map, m, draft);
  read_fields(map, m, draft.problems);
}

void read_filter_match(const Node& node, Match& m, Problems& problems) {
  MapReader map(node, "the match of a filter", problems);
  for (const auto* key : {"port", "interface", "vlan", "inner_vlan"}) {
    const Node* n = map.find(key);
    if (n) problems.error(n->mark, "a filter applies to the interfaces that use it: leave `{}` out", key);
  }
  read_fields(map, m, problems);
}

bool matches_all(const Match& m) {
  const auto any = [](const PortRange& r) { return r.from == 0 && r.to == PortRange{}.to; };
  return !m.port && !m.interface && !m.vlan && !m.inner_vlan && m.source.empty() && m.destination.empty() &&
         !m.protocol && any(m.source_port) && any(m.destination_port) && !m.dscp &&
         m.family == Match::Family::any;
}

std::size_t pairs_of(const Match& m) {
  return std::max<std::size_t>(1, m.source.size()) * std::max<std::size_t>(1, m.destination.size());
}

Field field_of(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == text.npos) return {text, {}};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

MatchText parse_fields(std::span<const Field> fields) {
  std::deque<Node> words;
  const auto scalar = [&](const std::string& text) {
    Node n;
    n.kind = Node::Kind::scalar;
    n.text = text;
    return &words.emplace_back(std::move(n));
  };
  Node map;
  map.kind = Node::Kind::map;
  for (const auto& [name, value] : fields) map.entries.emplace_back(scalar(name), scalar(value));
  MatchText result;
  Problems problems;
  read_filter_match(map, result.match, problems);
  for (const Diagnostic& d : problems.take({}, {}))
    if (result.error.empty() && d.severity == Diagnostic::Severity::error) result.error = d.message;
  return result;
}

}  // namespace surety::config
