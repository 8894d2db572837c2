// SPDX-License-Identifier: BSD-3-Clause
// gtcp.bpf.c compiled, as part of the program: an ELF object in memory.
#pragma once

#include <cstddef>
#include <span>

namespace surety::endpoints {

std::span<const std::byte> gtcp_object();

}  // namespace surety::endpoints
