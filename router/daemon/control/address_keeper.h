// SPDX-License-Identifier: BSD-3-Clause
// Sets addresses of the configuration in the kernel again that another program has removed, as KernelRoutes
// does with routes (`ip address flush`, a network manager that starts again), and those that the kernel has
// refused (KernelEntries::refused(): IPv6 is disabled on the device for a while).
//
// Per link at most once in kSoon; where a program removes them each time, or the kernel refuses them, after
// pauses that double up to kSlowest. Each restoration is an event, and so are a refusal with its reason and
// its end. Addresses of a link that is down are set when it comes up.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "conditioners/units.h"
#include "router/daemon/control/control_links.h"
#include "router/operate/observe/events.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

class KernelEntries;

class AddressKeeper {
 public:
  static constexpr Duration kSoon = std::chrono::milliseconds(100), kSlowest = std::chrono::seconds(30);
  // The pause is kSoon again after so long without a removal.
  static constexpr Duration kCalm = std::chrono::seconds(60);

  AddressKeeper(ControlLinks& links, KernelEntries& kernel, EventLog& events)
      : links_(links), kernel_(kernel), events_(events) {}

  // Follows the kernel's addresses. begin_sync() and end_sync(): all addresses are reported in between.
  void on(const AddressEvent& event, Time now);
  void begin_sync() { unseen_ = present_; }
  void end_sync(Time now);

  // Sets the addresses that are due; called each round.
  void work(Time now);

 private:
  using DeviceAddress = std::pair<int, Prefix>;
  struct Absence {
    std::set<Prefix> addresses;
    Time due = kNever;  // kNever: nothing is to be set
    Time last{};        // attempt to set them
    Duration pause = kSoon;
    unsigned times = 0;  // attempts since the last calm
  };
  enum class Cause : std::uint8_t { removed, refused };  // with pauses of their own
  bool is_ours(const ControlPort& c, const Prefix& address) const;
  std::string described(const ControlPort& c) const;
  void miss(const ControlPort& c, Cause cause, const Prefix& address, Time now);
  void restore(ControlPort& c, Cause cause, Absence& absence, Time now);
  void look_at_refused(Time now);

  ControlLinks& links_;
  KernelEntries& kernel_;
  EventLog& events_;
  std::set<DeviceAddress> present_,
      unseen_;  // addresses of the configuration: in the kernel; not reported yet
  std::map<std::pair<InterfaceIndex, Cause>, Absence> absences_;
  std::map<DeviceAddress, std::string> told_;  // refused addresses that are an event, with the reason
  Time next_ = kNever;
};

}  // namespace surety
