// SPDX-License-Identifier: BSD-3-Clause
// State of a contract's conditioner, for another process with the same configuration and clock.
#pragma once

#include <type_traits>

#include "router/pipeline/flows/flow_record.h"
#include "router/pipeline/interfaces/interface_record.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

struct ContractState {
  FlowKey key;             // the flow's, or that of the contract that flows share
  ConditionerState state;  // csa: nothing is held
  std::uint16_t rule = 0;
  std::uint16_t service = 0;
  InterfaceIndex interface = 0;  // ingress interface of its first packet
  bool shared = false;
};
static_assert(std::is_trivially_copyable_v<ContractState>);

}  // namespace surety
