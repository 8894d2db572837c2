// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include "config/sections.h"

namespace surety::config {

void warn_about_unused(Draft& draft) {
  std::set<std::size_t> queues, services;
  for (const auto& p : draft.config.ports) {
    if (p.queues) queues.insert(*p.queues);
  }
  for (const auto& i : draft.config.interfaces) {
    if (i.queues) queues.insert(*i.queues);
  }
  for (const auto& r : draft.config.rules) services.insert(r.service);
  // A plan is offered, with or without a subscriber.
  for (const Draft::Plan& plan : draft.plan_terms) {
    if (plan.like.queues) queues.insert(*plan.like.queues);
    if (plan.service) services.insert(*plan.service);
  }
  for (std::size_t i = 0; i < draft.config.queues.size(); ++i) {
    if (queues.contains(i)) continue;
    draft.problems.warning(draft.queue_places[i], "no port uses queue set `{}`", draft.config.queues[i].name);
  }
  for (std::size_t i = 0; i < draft.config.services.size(); ++i) {
    // A service without a conditioner guarantees nothing, so that an unused one is no mistake.
    if (services.contains(i) || std::holds_alternative<None>(draft.config.services[i].conditioner)) continue;
    draft.problems.warning(draft.service_places[i].name, "no rule uses service `{}`",
                           draft.config.services[i].name);
  }
}

void validate(Draft& draft) {
  validate_ports(draft);
  validate_interfaces(draft);
  validate_signalling(draft);
  validate_aggregates(draft);
  // Sums and warnings of things that an error has left half read would only distract.
  if (!draft.problems.any_error()) validate_parts(draft);
  if (!draft.problems.any_error()) settle_auto_max(draft);
  if (draft.problems.any_error()) return;
  settle_bursts(draft);
  warn_about_interfaces(draft);
  warn_about_filters(draft);
  warn_about_overlaps(draft);
  warn_about_routes(draft);
  warn_about_covered_rules(draft);
  warn_about_sources(draft);
  warn_about_contracts(draft);
  check_admission(draft);
  warn_about_shares(draft);
  warn_about_services(draft);
  warn_about_marks(draft);
  warn_about_aggregates(draft);
  warn_about_unused(draft);
}

}  // namespace surety::config
