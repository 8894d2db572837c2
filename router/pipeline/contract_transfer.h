// SPDX-License-Identifier: BSD-3-Clause
// The contracts of a worker for another process with the same configuration and clock: the content of their
// buckets is neither lost nor granted twice.
#pragma once

#include <optional>
#include <vector>

#include "router/pipeline/flows/contracts.h"
#include "router/pipeline/flows/flow_table.h"
#include "router/pipeline/snapshot.h"

namespace surety {

// The contracts of rules of the snapshot.
std::vector<ContractState> save_contracts(const Snapshot& snapshot, const ContractLedger& ledger,
                                          const FlowTable& flows);
// A saved contract as this process numbers it, with nothing held; nullopt: this snapshot has no such rule,
// service or interface, or the service has no state.
std::optional<ContractState> as_numbered_here(const ContractState& saved, const Snapshot& snapshot);

}  // namespace surety
