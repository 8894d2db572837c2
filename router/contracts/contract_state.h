// SPDX-License-Identifier: BSD-3-Clause
// What a contract's conditioner knows, for another process of the same configuration and clock to go on by.
#pragma once

#include <type_traits>

#include "router/flows/flow_record.h"
#include "router/interfaces/interface_record.h"
#include "router/wire/headers.h"

namespace surety {

struct ContractState {
  FlowKey key;             // of its flow, or of the contract that flows share
  ConditionerState state;  // csa: nothing is held
  std::uint16_t rule = 0;
  std::uint16_t service = 0;
  InterfaceIndex interface = 0;  // its first packet came by
  bool shared = false;
};
static_assert(std::is_trivially_copyable_v<ContractState>);

}  // namespace surety
