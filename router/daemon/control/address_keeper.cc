// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/address_keeper.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "router/daemon/control/kernel_entries.h"

namespace surety {

bool AddressKeeper::is_ours(const ControlPort& c, const Prefix& address) const {
  return c.in_kernel() && links_.config().kernel.addresses &&
         std::ranges::find(links_.addresses_of(c), address) != links_.addresses_of(c).end();
}

void AddressKeeper::on(const AddressEvent& event, Time now) {
  const DeviceAddress address{event.ifindex, event.address};
  const ControlPort* const c = links_.link_with(event.ifindex);
  const bool ours = c != nullptr && is_ours(*c, event.address);
  unseen_.erase(address);
  if (event.action == EventAction::remove) {
    present_.erase(address);
    if (ours) removed(*c, event.address, now);
    return;
  }
  if (!ours) return;
  present_.insert(address);
  if (const auto at = removals_.find(c->index); at != removals_.end())
    at->second.addresses.erase(event.address);
}

// Messages were lost: an address that is not reported any more was removed.
void AddressKeeper::end_sync(Time now) {
  for (const auto& [ifindex, address] : std::exchange(unseen_, {}))
    on({.action = EventAction::remove, .ifindex = ifindex, .address = address}, now);
}

void AddressKeeper::removed(const ControlPort& c, const Prefix& address, Time now) {
  Removal& r = removals_[c.index];
  r.addresses.insert(address);
  if (r.due != kNever) return;
  const bool calm = r.times == 0 || now - r.last > kCalm;
  if (calm) r.times = 0;
  r.pause = calm ? kSoon : std::min(2 * r.pause, kSlowest);
  r.due = now + r.pause;
  next_ = std::min(next_, r.due);
}

void AddressKeeper::work(Time now) {
  if (now < next_) return;
  next_ = kNever;
  for (auto& [index, removal] : removals_) {
    if (removal.due > now) {
      next_ = std::min(next_, removal.due);
      continue;
    }
    removal.due = kNever;
    ControlPort* const c = links_.existing_link(index);
    // A link that was opened on another device meanwhile has its addresses.
    std::erase_if(removal.addresses, [&](const Prefix& a) {
      return c == nullptr || !is_ours(*c, a) || present_.contains({c->interface, a});
    });
    if (!removal.addresses.empty() && c->state.in_kernel != false) restore(*c, removal, now);
    removal.addresses.clear();
  }
}

void AddressKeeper::restore(ControlPort& c, Removal& removal, Time now) {
  removal.last = now;
  ++removal.times;
  kernel_.add_addresses(c);
  std::vector<std::string> addresses;
  for (const Prefix& a : removal.addresses) addresses.push_back(to_string(a));
  const std::string name = links_.name_of(c);
  std::string text =
      fmt::format("{} {}: another program has removed {}, set again now",
                  c.index < links_.ports().size() ? "port" : "interface", name, fmt::join(addresses, ", "));
  if (removal.times > 1)
    text += fmt::format(" (time {}; `kernel: {{addresses: off}}` leaves addresses to that program)",
                        removal.times);
  events_.add({EventLevel::warning,
               EventKind::link,
               std::move(text),
               {{"interface", name}, {"state", "addresses_restored"}, {"times", removal.times}}});
}

}  // namespace surety
