// SPDX-License-Identifier: BSD-3-Clause
// The kernel's own rules for its tables local and main, in a report of all rules: a removed one is not in it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "router/pipeline/routes/route_events.h"

namespace surety {

class PresetRules {
 public:
  // Begins a report.
  void clear() { families_ = {}; }
  // Notes a rule of the report, or a change since its beginning.
  void note(const RuleEvent& rule) {
    Family& family = families_[rule.v6];
    const bool there = rule.action == EventAction::add;
    family.any |= there;
    if (rule.preset && rule.priority == kLocal.priority) family.local = there;
    if (rule.preset && rule.priority == kMain.priority) family.main = there;
  }
  // The removals of those that do not exist. A family without any rule is one for which the kernel has no
  // rules.
  std::vector<RuleEvent> missing() const {
    std::vector<RuleEvent> gone;
    for (const bool v6 : {false, true}) {
      const Family& family = families_[v6];
      if (family.any && !family.local) gone.push_back(removal(v6, kLocal));
      if (family.any && !family.main) gone.push_back(removal(v6, kMain));
    }
    return gone;
  }

 private:
  struct Preset {
    std::uint32_t priority, table;
  };
  static constexpr Preset kLocal{0, 255}, kMain{32766, 254};  // RT_TABLE_LOCAL, RT_TABLE_MAIN
  struct Family {
    bool any = false, local = false, main = false;
  };
  // The event that parse_message() returns for the removal.
  static RuleEvent removal(bool v6, const Preset& preset) {
    return {.action = EventAction::remove,
            .priority = preset.priority,
            .v6 = v6,
            .preset = true,
            .followed = false,
            .table = preset.table,
            .text = std::to_string(preset.priority) + ": from all lookup " + std::to_string(preset.table)};
  }

  std::array<Family, 2> families_{};  // IPv4, IPv6
};

}  // namespace surety
