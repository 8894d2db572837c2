// SPDX-License-Identifier: BSD-3-Clause
// The lab's own mempool operations: a stack of buffers for one thread, which tells who is freed on the way.
//
// A router drops a packet by freeing its buffer; only there can the lab see it, whatever the reason. The last
// buffer freed is the first taken: what is in use stays in the cache.
#pragma once

#include "tests/lab/simulation/packet_note.h"

namespace surety::lab {

inline constexpr const char* kPacketStackOps = "lab_stack";

// Makes the operations known to DPDK; later calls do nothing.
void register_packet_stack();

// Null: nobody. The pool was made with these operations.
void observe_drops(rte_mempool* pool, DropObserver* observer);

}  // namespace surety::lab
