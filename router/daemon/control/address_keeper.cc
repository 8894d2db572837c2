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

std::string AddressKeeper::described(const ControlPort& c) const {
  return (c.index < links_.ports().size() ? "port " : "interface ") + links_.name_of(c);
}

void AddressKeeper::on(const AddressEvent& event, Time now) {
  const DeviceAddress address{event.ifindex, event.address};
  const ControlPort* const c = links_.link_with(event.ifindex);
  const bool ours = c != nullptr && is_ours(*c, event.address);
  unseen_.erase(address);
  if (event.action == EventAction::remove) {
    present_.erase(address);
    if (ours) miss(*c, Cause::removed, event.address, now);
    return;
  }
  if (!ours) return;
  present_.insert(address);
  for (const Cause cause : {Cause::removed, Cause::refused})
    if (const auto at = absences_.find({c->index, cause}); at != absences_.end())
      at->second.addresses.erase(event.address);
  if (told_.erase(address) == 0) return;
  events_.add(
      {EventLevel::notice,
       EventKind::link,
       fmt::format("{}: the kernel has {} now, which it refused", described(*c), to_string(event.address)),
       {{"interface", links_.name_of(*c)}, {"state", "address_set"}, {"address", to_string(event.address)}}});
}

// Messages were lost: an address that is not reported any more was removed.
void AddressKeeper::end_sync(Time now) {
  for (const auto& [ifindex, address] : std::exchange(unseen_, {}))
    on({.action = EventAction::remove, .ifindex = ifindex, .address = address}, now);
}

void AddressKeeper::miss(const ControlPort& c, Cause cause, const Prefix& address, Time now) {
  Absence& a = absences_[{c.index, cause}];
  a.addresses.insert(address);
  if (a.due != kNever) return;
  const bool calm = a.times == 0 || now - a.last > kCalm;
  if (calm) a.times = 0;
  a.pause = calm ? kSoon : std::min(2 * a.pause, kSlowest);
  a.due = now + a.pause;
  next_ = std::min(next_, a.due);
}

void AddressKeeper::work(Time now) {
  if (now >= next_) {
    next_ = kNever;
    // An attempt for refused addresses sets removed ones as well, which then are due.
    for (const auto& [of, absence] : absences_)
      if (of.second == Cause::refused && absence.due <= now)
        if (const auto removed = absences_.find({of.first, Cause::removed}); removed != absences_.end())
          removed->second.due = now;
    for (auto& [of, absence] : absences_) {
      if (absence.due > now) {
        next_ = std::min(next_, absence.due);
        continue;
      }
      absence.due = kNever;
      ControlPort* const c = links_.existing_link(of.first);
      // A link that was opened on another device meanwhile has its addresses.
      std::erase_if(absence.addresses, [&](const Prefix& a) {
        return c == nullptr || !is_ours(*c, a) || present_.contains({c->interface, a});
      });
      if (!absence.addresses.empty() && c->state.in_kernel != false) restore(*c, of.second, absence, now);
      absence.addresses.clear();
    }
  }
  look_at_refused(now);
}

void AddressKeeper::restore(ControlPort& c, Cause cause, Absence& absence, Time now) {
  absence.last = now;
  ++absence.times;
  kernel_.add_addresses(c);
  if (cause == Cause::refused) return;  // the kernel's event comes if it has taken them
  std::vector<std::string> addresses;
  for (const Prefix& a : absence.addresses)
    if (!kernel_.refused().contains({c.interface, a})) addresses.push_back(to_string(a));
  if (addresses.empty()) return;
  std::string text = fmt::format("{}: another program has removed {}, set again now", described(c),
                                 fmt::join(addresses, ", "));
  if (absence.times > 1)
    text += fmt::format(" (time {}; `kernel: {{addresses: off}}` leaves addresses to that program)",
                        absence.times);
  events_.add(
      {EventLevel::warning,
       EventKind::link,
       std::move(text),
       {{"interface", links_.name_of(c)}, {"state", "addresses_restored"}, {"times", absence.times}}});
}

// Wherever they were to be set: at the start, in a reload, when a link comes up, or here.
void AddressKeeper::look_at_refused(Time now) {
  std::erase_if(told_, [&](const auto& told) {
    const ControlPort* const c = links_.link_with(told.first.first);
    return c == nullptr || !is_ours(*c, told.first.second);
  });
  for (const auto& [address, reason] : kernel_.refused()) {
    const ControlPort* const c = links_.link_with(address.first);
    // KernelEntries::restore() tries again when a link comes up.
    if (c == nullptr || !is_ours(*c, address.second) || c->state.in_kernel == false) continue;
    miss(*c, Cause::refused, address.second, now);
    if (std::exchange(told_[address], reason) == reason) continue;
    const std::string text = to_string(address.second);
    events_.add(
        {EventLevel::warning,
         EventKind::link,
         fmt::format("{}: {} is not set in the kernel: {}; the router tries again, every {} s at least",
                     described(*c), text, reason, kSlowest / std::chrono::seconds(1)),
         {{"interface", links_.name_of(*c)},
          {"state", "address_refused"},
          {"address", text},
          {"reason", reason}}});
  }
}

}  // namespace surety
