// SPDX-License-Identifier: BSD-3-Clause
// Blocks of a pcapng file (draft-ietf-opsawg-pcapng): little-endian, time in nanoseconds, Ethernet.
//
// DPDK 22.11's rte_pcapng writes no comments to packets, identifies interfaces by ethdev port, and needs EAL
// in the writing process; the router has ports without ethdev (memif), and `surety capture` has no EAL.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace surety::pcapng {

enum class Direction : std::uint8_t { unknown, inbound, outbound };

// The start of a file.
std::string section_header(std::string_view application);
// Interfaces are numbered from 0 in order of writing. `snap`: the most bytes of a packet; 0: packets are
// whole.
std::string interface(std::string_view name, std::uint32_t snap = 0);

struct PacketBlock {
  std::uint32_t interface = 0;
  Direction direction = Direction::unknown;
  std::int64_t nanoseconds = 0;              // since 1970
  std::uint32_t length = 0;                  // bytes of the frame
  std::span<const std::uint8_t> captured{};  // first bytes of the frame
  std::string_view comment{};                // empty: none
};
std::string packet(const PacketBlock& packet);

}  // namespace surety::pcapng
