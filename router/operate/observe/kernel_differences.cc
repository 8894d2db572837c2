// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/kernel_differences.h"

#include <fmt/format.h>

#include <utility>

namespace surety {

namespace {

std::string_view words(Unsupported why) {
  switch (why) {
    case Unsupported::encapsulation:
      return "encapsulates packets";
    case Unsupported::translation:
      return "changes the destination of packets";
    case Unsupported::tos:
      return "is only for packets with a TOS";
    case Unsupported::source:
      return "is only for packets from a source prefix";
    case Unsupported::type:
      return "has a type of a newer kernel";
    case Unsupported::none:
      break;
  }
  return "";
}

// True if the route takes the place of all others of its prefix and metric, or of one of them.
bool replaces(const RouteEvent& event) {
  return event.order == RouteOrder::only || event.order == RouteOrder::replace;
}

}  // namespace

void KernelDifferences::on(const RouteEvent& event) {
  const Route route{event.to, event.metric, event.selector, event.from};
  const bool refused = event.unsupported != Unsupported::none;
  if (event.action == EventAction::add && refused) {
    if (routes_.add(route)) warn_of(event);
  } else if (!routes_.empty() && (event.action == EventAction::remove || replaces(event))) {
    routes_.remove(route);
  }
}

void KernelDifferences::warn_of(const RouteEvent& event) {
  const std::string to = to_string(event.to);
  const std::string from = event.from.length == 0 ? "" : " from " + to_string(event.from);
  log_.add(
      {EventLevel::warning,
       EventKind::unsupported_route,
       fmt::format("kernel route {}{} metric {} {}, which the data plane cannot do: by ports its packets are "
                   "dropped as unsupported_route",
                   to, from, event.metric, words(event.unsupported)),
       {{"prefix", to}, {"metric", event.metric}, {"reason", name(event.unsupported)}}});
}

void KernelDifferences::on(const RuleEvent& event) {
  const auto entry = [&](EventAction what) { return Rule{event.v6, event.text, what}; };
  const bool adding = event.action == EventAction::add;
  if (!rules_.empty()) rules_.remove(entry(adding ? EventAction::remove : EventAction::add));
  if (event.followed || !(adding || event.preset)) return;
  if (rules_.add(entry(event.action))) warn_of(event);
}

void KernelDifferences::warn_of(const RuleEvent& event) {
  const bool removed = event.action == EventAction::remove;
  const std::string_view what = removed
                                    ? "has been removed: the data plane uses its table nevertheless"
                                    : "is not followed: the data plane uses the tables local and main only";
  log_.add({EventLevel::warning,
            EventKind::unfollowed_rule,
            fmt::format("kernel rule {}{} {}", event.v6 ? "-6 " : "", event.text, what),
            {{"rule", event.text},
             {"family", event.v6 ? "IPv6" : "IPv4"},
             {"table", event.table},
             {"removed", removed}}});
}

void KernelDifferences::begin_sync() {
  routes_.begin_sync();
  rules_.begin_sync();
}

void KernelDifferences::end_sync() {
  routes_.end_sync();
  rules_.end_sync();
}

}  // namespace surety
