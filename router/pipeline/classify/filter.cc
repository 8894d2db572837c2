// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/classify/filter.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "router/pipeline/wire/parse_frame.h"

namespace surety {

namespace {

using detail::Protocol;

bool has_ports(std::uint8_t protocol) {
  return protocol == Protocol::kTcp || protocol == Protocol::kUdp || protocol == Protocol::kDccp ||
         protocol == Protocol::kSctp;
}

// Headers that may follow a fragment header: RFC 8200 4.1, RFC 4302.
bool is_extension(std::uint8_t protocol) {
  return protocol == Protocol::kHopByHop || protocol == Protocol::kRouting ||
         protocol == Protocol::kFragment || protocol == Protocol::kAuthentication ||
         protocol == Protocol::kDestinationOptions;
}

bool is_first(const ParsedPacket& p, const std::uint8_t* frame) {
  if (p.v6) return (load_be16(frame + p.l4_offset - 6) & 0xfff8) == 0;  // the fragment header ends there
  return (load_be16(frame + p.l3_offset + 6) & 0x1fff) == 0;
}

void hide(AclInput& in) {
  in.ports = AclInput::hidden;
  in.protocol = Protocol::kFragment;
}

void look_at_fragment(const ParsedPacket& p, const std::uint8_t* frame, AclInput& in) {
  if (p.v6 && is_extension(p.protocol)) return hide(in);
  if (!has_ports(p.protocol)) return;
  if (!is_first(p, frame)) {
    in.ports = AclInput::elsewhere;
    return;
  }
  constexpr int kPorts = 4;
  if (p.l3_offset + p.length - p.l4_offset < kPorts) return hide(in);
  in.ports = AclInput::known;
  std::memcpy(&in.source_port, frame + p.l4_offset, kPorts);
}

AclInput input(const FilteredPacket& packet) {
  AclInput in = acl_input(*packet.header);
  if (packet.header->fragment) [[unlikely]]
    look_at_fragment(*packet.header, packet.frame, in);
  return in;
}

// Adds the lines of an entry, with the rules for fragments in filter.h.
void add(const config::FilterEntry& e, std::uint32_t number, std::vector<AclEntry>& to) {
  const bool by_ports = constrains_ports(e.match), by_any = by_ports || e.match.protocol;
  to.push_back({.match = &e.match, .number = number});
  if (by_ports) to.back().ports = AclInput::known;
  if (by_ports && e.permit)
    to.push_back({.match = &e.match, .number = number, .ports = AclInput::elsewhere, .any_port = true});
  if (by_any && !e.permit)
    to.push_back({.match = &e.match,
                  .number = number,
                  .ports = AclInput::hidden,
                  .any_port = true,
                  .any_protocol = true});
}

}  // namespace

Filter::Filter(config::Filter filter) : config_(std::move(filter)), v4_(build(false)), v6_(build(true)) {
  for (const auto& e : config_.entries) each_packet_ |= e.match.dscp.has_value();
  name_counters();
}

Acl Filter::build(bool v6) const {
  std::vector<AclEntry> entries;
  for (std::size_t i = 0; i < config_.entries.size(); ++i)
    add(config_.entries[i], static_cast<std::uint32_t>(i), entries);
  return Acl(entries, v6, ("filter " + config_.name).c_str());
}

void Filter::name_counters() {
  std::map<std::pair<std::string, bool>, std::uint32_t> known;
  const auto add = [&](const std::string& name, bool permit) {
    const auto next = static_cast<std::uint32_t>(counters_.size());
    const auto at = known.try_emplace({name, permit}, next);
    if (at.second) counters_.push_back({name, permit});
    verdicts_.push_back({at.first->second & 0x7fff'ffff, permit});
  };
  for (std::size_t i = 0; i < config_.entries.size(); ++i) {
    const config::FilterEntry& e = config_.entries[i];
    add(e.name.empty() ? std::to_string(i + 1) : e.name, e.permit);
  }
  add("default", false);
}

void Filter::match(std::span<const FilteredPacket> packets, std::span<std::uint32_t> entries) const {
  assert(packets.size() <= kMostAtOnce && entries.size() >= packets.size());
  std::fill_n(entries.begin(), packets.size(), static_cast<std::uint32_t>(config_.entries.size()));
  match_family(packets, false, entries);
  match_family(packets, true, entries);
}

void Filter::match_family(std::span<const FilteredPacket> packets, bool v6,
                          std::span<std::uint32_t> entries) const {
  const Acl& acl = v6 ? v6_ : v4_;
  if (acl.empty()) return;
  std::array<AclInput, kMostAtOnce> inputs;
  std::array<std::uint32_t, kMostAtOnce> found;
  std::array<std::uint8_t, kMostAtOnce> from;
  std::size_t n = 0;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    if (packets[i].header->v6 != v6) continue;
    inputs[n] = input(packets[i]);
    from[n++] = static_cast<std::uint8_t>(i);
  }
  if (n == 0) return;
  acl.match({inputs.data(), n}, found);
  for (std::size_t k = 0; k < n; ++k)
    if (found[k] != Acl::kNone) entries[from[k]] = found[k];
}

namespace {

using Places = std::unordered_map<std::string_view, std::size_t>;

// Filters by name; only the first of a name.
Places places(const Filters& filters) {
  Places at;
  for (std::size_t i = 0; i < filters.size(); ++i) at.emplace(filters[i].config().name, i);
  return at;
}

}  // namespace

Filters::Filters(const config::Config& config, const Filters* before) : firsts_{0} {
  const Places known = before == nullptr ? Places{} : places(*before);
  for (const config::Filter& f : config.filters) {
    const auto same = known.find(f.name);
    filters_.push_back(same != known.end() && (*before)[same->second].config() == f
                           ? before->filters_[same->second]
                           : std::make_shared<const Filter>(f));
    firsts_.push_back(firsts_.back() + filters_.back()->counters().size());
  }
  if (before == nullptr) return;
  for (std::size_t i = 0; i < filters_.size(); ++i)
    if (const auto same = known.find(filters_[i]->config().name); same != known.end())
      follow(i, *before, same->second);
}

// Filter i is what filter k was.
void Filters::follow(std::size_t i, const Filters& before, std::size_t k) {
  const std::size_t to = firsts_[i], from = before.firsts_[k];
  const auto& now = filters_[i]->counters();
  if (filters_[i] == before.filters_[k]) {
    runs_.push_back({from, to, now.size()});
    return;
  }
  std::map<std::pair<std::string_view, bool>, std::size_t> old;
  for (const auto& c : before.filters_[k]->counters())
    old.emplace(std::pair<std::string_view, bool>(c.name, c.permit), old.size());
  for (std::size_t c = 0; c < now.size(); ++c)
    if (const auto at = old.find({now[c].name, now[c].permit}); at != old.end())
      runs_.push_back({from + at->second, to + c, 1});
}

void Filters::carry_over(std::span<const std::uint64_t> before, std::span<std::uint64_t> now) const {
  for (const Run& r : runs_) std::copy_n(&before[r.from], r.count, &now[r.to]);
}

std::uint64_t Filters::judge(std::size_t i, std::span<const FilteredPacket> packets,
                             std::span<std::uint64_t> counts) const {
  std::array<std::uint32_t, Filter::kMostAtOnce> entries;
  const Filter& filter = *filters_[i];
  filter.match(packets, entries);
  std::uint64_t refused = 0;
  for (std::size_t p = 0; p < packets.size(); ++p) {
    const Filter::Verdict verdict = filter.verdict(entries[p]);
    ++counts[firsts_[i] + verdict.counter];
    refused |= std::uint64_t{verdict.permit == 0} << p;
  }
  return refused;
}

}  // namespace surety
