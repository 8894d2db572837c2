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
    case Unsupported::none:
      break;
  }
  return "";
}

}  // namespace

void KernelDifferences::on(const RouteEvent& event) {
  const Route route{event.to, event.metric, event.selector};
  if (event.action == EventAction::remove || event.unsupported == Unsupported::none) {
    if (!routes_.empty()) routes_.erase(route);
    return;
  }
  if (routes_.size() == kMost || !routes_.insert(route).second) return;
  const std::string to = to_string(event.to);
  log_.add(
      {EventLevel::warning,
       EventKind::unsupported_route,
       fmt::format("kernel route {} metric {} {}, which the data plane cannot do: by ports its packets are "
                   "dropped as unsupported_route",
                   to, event.metric, words(event.unsupported)),
       {{"prefix", to}, {"metric", event.metric}, {"reason", name(event.unsupported)}}});
}

void KernelDifferences::on(const RuleEvent& event) {
  if (event.followed) return;
  std::pair rule{event.v6, event.text};
  if (event.action == EventAction::remove) {
    rules_.erase(rule);
    return;
  }
  if (rules_.size() == kMost || !rules_.insert(std::move(rule)).second) return;
  log_.add(
      {EventLevel::warning,
       EventKind::unfollowed_rule,
       fmt::format("kernel rule {}{} is not followed: the data plane uses the tables local and main only",
                   event.v6 ? "-6 " : "", event.text),
       {{"rule", event.text}, {"family", event.v6 ? "IPv6" : "IPv4"}, {"table", event.table}}});
}

}  // namespace surety
