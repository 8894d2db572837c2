// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control_tables.h"

#include "router/daemon/control.h"

namespace surety {

namespace {

InterfaceName names_of(const Interfaces& interfaces) {
  return [&](InterfaceIndex i) { return interfaces.name(i); };
}

// Copies known neighbours, a few at a time; with the last ones those being resolved, which are few.
template <class Answer>
bool copy_some(const Control& control, Answer& answer, Time now) {
  using State = NeighborRow::State;
  answer.next = control.routes().look_at_neighbors(
      *answer.next, ControlTables::kPlaces,
      [&](const IpAddress& address, InterfaceIndex i, const MacAddress& mac, Routes::NeighborSource source) {
        NeighborRow row{address, i, mac, source, State::known, {}};
        const ControlPort* const c = control.link_of(i);
        if (c != nullptr && c->responder && source == Routes::NeighborSource::learned)
          if (const auto last = c->responder->neighbors().last(address)) row.age = now - *last;
        answer.rows.push_back(row);
      });
  if (answer.next) return true;
  control.for_each_responder([&](InterfaceIndex link, const Responder& responder) {
    responder.neighbors().for_each_unknown([&](const IpAddress& address, bool unreachable, Time last) {
      const InterfaceIndex i = responder.interface_towards(address).value_or(link);
      const bool asked = last != Time{};
      answer.rows.push_back({address,
                             i,
                             {},
                             {},
                             unreachable ? State::unreachable : State::asked,
                             asked ? std::optional(now - last) : std::nullopt});
    });
  });
  answer.names = control.interfaces();
  return false;
}

}  // namespace

Json ControlTables::routes() {
  const auto answer = routes_.fetch(kPatience);
  return answer ? route_rows(answer->copy, names_of(*answer->names)) : Json();
}

Json ControlTables::neighbors() {
  auto answer = neighbors_.fetch(kPatience);
  return answer ? neighbor_rows(std::move(answer->rows), names_of(*answer->names)) : Json();
}

bool ControlTables::step(const Control& control, Time now) {
  const bool more = routes_.work([&](RoutesAnswer& answer) {
    answer.names = control.interfaces();
    return answer.copy.step(control.routes(), kPlaces);
  });
  return neighbors_.work([&](NeighborsAnswer& answer) { return copy_some(control, answer, now); }) || more;
}

}  // namespace surety
