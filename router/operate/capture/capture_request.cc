// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/capture/capture_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "config/names.h"

namespace surety {
namespace {

// The place fields of a `match`.
constexpr std::array<std::string_view, 4> kPlaces{"port", "interface", "vlan", "inner_vlan"};

[[noreturn]] void refuse(const std::string& text) {
  throw std::runtime_error(text);
}

std::uint32_t number(const config::Field& field, std::uint32_t least, std::uint32_t most) {
  const auto& [name, text] = field;
  std::uint32_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < least || n > most)
    refuse(fmt::format("`{}={}` is not a number from {} to {}", name, text, least, most));
  return n;
}

void add_reason(std::string_view name, CaptureWish& wish) {
  const auto known = std::ranges::find(kDropReasonInfo, name, &DropReasonInfo::name);
  if (known == kDropReasonInfo.end())
    refuse(fmt::format("no drop reason is called {}: `surety show drops --all` lists them", name));
  wish.reasons.set(static_cast<std::size_t>(known - kDropReasonInfo.begin()));
}

void add_reasons(std::string_view names, CaptureWish& wish) {
  for (std::size_t end = 0; end != names.npos; names.remove_prefix(std::min(names.size(), end + 1)))
    add_reason(names.substr(0, end = names.find(',')), wish);
}

void want_interface(InterfaceIndex i, CaptureWish& wish) {
  if (!wish.known->prefixes(i).empty()) return wish.hosts.push_back(i);
  wish.interfaces.resize(std::max<std::size_t>(wish.interfaces.size(), i + 1u));
  wish.interfaces[i] = 1;
}

bool find_port(std::string_view name, CaptureWish& wish) {
  for (std::size_t p = 0; p < wish.known->ports(); ++p) {
    const auto i = static_cast<InterfaceIndex>(p);
    if (wish.known->exists(i) && wish.known->name(i) == name) wish.ports |= 1u << p;
  }
  return wish.ports != 0;
}

// Finds an interface; for a template all members.
bool find_interface(std::string_view name, CaptureWish& wish) {
  const Interfaces& all = *wish.known;
  for (std::size_t n = all.ports(); n < all.size(); ++n) {
    const auto i = static_cast<InterfaceIndex>(n);
    if (all.exists(i) && (all.name(i) == name || all.name(all[i].link) == name)) want_interface(i, wish);
  }
  return !wish.interfaces.empty() || !wish.hosts.empty();
}

bool find_customer(std::string_view name, CaptureWish& wish) {
  const Interfaces& all = *wish.known;
  for (std::size_t n = all.ports(); n < all.size(); ++n)
    if (const auto i = static_cast<InterfaceIndex>(n); all.exists(i) && all.customer(i) == name)
      want_interface(i, wish);
  return !wish.interfaces.empty() || !wish.hosts.empty();
}

void find_place(const std::string& name, CaptureRequest& r) {
  r.wish.drops = name == "drops";
  if (r.wish.drops)
    r.what = "drops";
  else if (find_port(name, r.wish))
    r.what = "port " + name;
  else if (find_interface(name, r.wish))
    r.what = "interface " + name;
  else if (find_customer(name, r.wish))
    r.what = "customer " + name;
  else
    refuse(fmt::format("no port, interface or customer is called {}: `surety show interfaces` lists them",
                       name));
}

}  // namespace

CaptureRequest parse_capture(std::string_view text, std::shared_ptr<const Interfaces> interfaces) {
  CaptureRequest r;
  r.wish.known = std::move(interfaces);
  std::istringstream words{std::string(text)};
  std::string word;
  if (!(words >> word)) refuse("say what to capture: a port, an interface, a customer or `drops`");
  find_place(word, r);
  std::vector<config::Field> fields;
  while (words >> word) {
    config::Field field = config::field_of(word);
    if (field.first == "reason")
      add_reasons(field.second, r.wish);
    else if (field.first == "rate")
      r.wish.rate = number(field, 1, CaptureRequest::kMostRate);
    else if (field.first == "snap")
      r.wish.snap = number(field, 14, CaptureRequest::kMostSnap);
    else if (field.first == "seconds")
      r.time = std::chrono::seconds(number(field, 1, CaptureRequest::kMostSeconds));
    else if (std::ranges::find(kPlaces, field.first) != kPlaces.end())
      refuse(
          fmt::format("`{}` is no filter of a capture: name the port or interface first; ports of TCP and "
                      "UDP are `source_port` and `destination_port`",
                      field.first));
    else
      fields.push_back(std::move(field));
  }
  if (r.wish.reasons.any() && !r.wish.drops) refuse("only drops have a reason: capture `drops`");
  if (r.wish.reasons.none()) r.wish.reasons.set();
  const auto [match, error] = config::parse_fields(fields);
  if (!error.empty()) refuse(error);
  r.wish.matches_all = fields.empty();
  r.wish.match = match;
  return r;
}

}  // namespace surety
