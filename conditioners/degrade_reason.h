// SPDX-License-Identifier: BSD-3-Clause
// Why a packet got less than its service: it went on as best effort, and the name is the counter is the
// metric label (CONTRIBUTING.md rule 4).
//
// A degraded packet is not refused: it stays in the law of counters.h as one that was forwarded (or dropped
// by a later stage under that reason). X(name, stage, help), as in drop_reason.h.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// clang-format off
#define SURETY_DEGRADE_REASONS(X)                                                                                 \
  X(flow_table_full,  classify, "service needs a flow record, and the flow table is full")                        \
  X(flow_share_full,  classify, "service needs a flow record, and its customer has used up its part of the flow table") \
  X(creation_limited, classify, "service needs a flow record, and new flows exceed flow_table.creation_rate or the customer's part of it")
// clang-format on

namespace surety {

enum class DegradeReason : std::uint8_t {
#define X(name, stage, help) name,
  SURETY_DEGRADE_REASONS(X)
#undef X
      none,  // not degraded; also the number of reasons
};
inline constexpr std::size_t kDegradeReasons = static_cast<std::size_t>(DegradeReason::none);

struct DegradeReasonInfo {
  std::string_view name, stage, help;
};

inline constexpr std::array<DegradeReasonInfo, kDegradeReasons> kDegradeReasonInfo{{
#define X(name, stage, help) {#name, #stage, help},
    SURETY_DEGRADE_REASONS(X)
#undef X
}};

constexpr const DegradeReasonInfo& info(DegradeReason r) {
  return kDegradeReasonInfo[static_cast<std::size_t>(r)];
}

}  // namespace surety
