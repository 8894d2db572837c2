// SPDX-License-Identifier: BSD-3-Clause
// How rows travel through rte_telemetry, which knows dictionaries, strings of 127 characters
// and 64-bit unsigned numbers, and answers with at most 16 KiB. No DPDK here:
// router/dpdk/telemetry turns the result into rte_tel_data.
//
// On the wire a real number is a decimal string that reads back exactly ("0.04"), a boolean is 0 or 1, and a
// character outside printable ASCII is a question mark. A table comes in pages:
//   {"total": 70, "offset": 0, "next": 40, "rows": {"0": {...}, "1": {...}, ...}}
// `next` is there while rows are left: it is the parameter of the next request, "/surety/drops,40".
#pragma once

#include <cstddef>

#include "router/observe/reading_json.h"

namespace surety {

// From and to rows of reading_json.h; from_wire(to_wire(row)) == row for every row with
// printable strings that fit.
Json to_wire(const Json& value);
Json from_wire(const Json& value);

// At most what one answer can hold, with room for DPDK's own wrapping;
// a row of reading_json.h needs up to 2 kB.
inline constexpr std::size_t kPageBytes = 14'000;
inline constexpr std::size_t kPageRows = 250;  // RTE_TEL_MAX_DICT_ENTRIES is 256

// The page, in wire form, that starts at row `offset`; at least one row if there is one,
// an empty page beyond the end.
Json page(const Json& rows, std::size_t offset, std::size_t bytes = kPageBytes);

}  // namespace surety
