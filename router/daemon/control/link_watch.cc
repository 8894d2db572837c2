// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/link_watch.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "router/daemon/control/kernel_entries.h"
#include "router/pipeline/routes/routes.h"

namespace surety {

bool LinkWatch::look(Time now) {
  if (now < next_look_) return false;
  next_look_ = now + kEvery;
  read(now);
  return true;
}

void LinkWatch::read(Time now) {
  for (ControlPort& c : links_.ports()) {
    const bool reported = c.in_kernel() && !c.twin;
    if (c.open && !reported) follow(c, link_up_(c.index), now);
    if (const auto up = reported ? c.state.in_kernel : c.state.up) tell(c, *up, now);
  }
  if (links_.tagged().empty()) return;
  // Each port is read once, for any number of interfaces: a kernel device takes two system calls.
  std::vector<bool> up;
  for (std::size_t p = 0; p < links_.ports().size(); ++p) up.push_back(link_up_(p));
  for (auto& [index, c] : links_.tagged()) follow(c, up[links_.port_of(c)], now);
}

void LinkWatch::follow(ControlPort& c, bool up, Time now) {
  LinkState& state = c.state;
  if (state.up == up) return;
  if (is_port(c)) {
    state.changes += state.up.has_value();
    tell(c, up, now);
    routes_.set_port_up(c.index, up);
    kernel_.follow_links();
  }
  state.up = up;
  try {
    if (c.twin) c.twin->set_carrier(up);
  } catch (const std::runtime_error& e) {
    spdlog::warn("{}{}: {}", is_port(c) ? "port " : "", links_.name_of(c), e.what());
  }
  if (up && c.responder && !std::exchange(state.inherited, false)) c.responder->link_up(now);
}

// This process sets the carrier of a TAP mirror to its port's link state, which may have changed since the
// kernel's event.
void LinkWatch::on(const LinkEvent& event, Time now) {
  ControlPort* const c = links_.link_with(event.ifindex);
  LinkEvent usable = event;
  if (c != nullptr && c->twin) usable.up = event.enabled;
  routes_.on(usable);
  if (c == nullptr) return;
  LinkState& state = c->state;
  if (!c->twin) {
    tell(*c, event.up, now);
    state.changes += state.in_kernel.value_or(event.up) != event.up;
  }
  const bool was_down = std::exchange(state.in_kernel, event.up) == false;
  if (event.up && was_down) kernel_.restore(*c, event);
  kernel_.follow_links();
  // A change while the link is up is the operator's; the MTU at link-up may be reported more than once.
  const bool changed = std::exchange(state.told_mtu, event.mtu) != event.mtu;
  // The first event counts, up or down: the link may be down by the time of the event.
  if ((event.up && changed && !was_down) || !state.mtu) state.mtu = event.mtu;
  if (!c->tap) return;
  if (event.up && state.up == false) c->responder->link_up(now);
  state.up = event.up;
}

// A port that comes up with the router is not logged. read() comes back to a state that is not logged yet.
void LinkWatch::tell(ControlPort& c, bool up, Time now) {
  LinkState& state = c.state;
  const bool changed = state.told.value_or(true) != up;
  if (!is_port(c) || (changed && state.tell_from > now + (kEventsAtOnce - 1) * kEventEvery)) return;
  state.told = up;
  if (!changed) return;
  state.tell_from = std::max(state.tell_from, now) + kEventEvery;
  events_.add({up ? EventLevel::notice : EventLevel::warning,
               EventKind::link,
               fmt::format("port {}: link {}", links_.name_of(c), up ? "up" : "down"),
               {{"port", links_.name_of(c)}, {"state", up ? "up" : "down"}}});
}

}  // namespace surety
