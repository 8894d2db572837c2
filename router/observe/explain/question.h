// SPDX-License-Identifier: BSD-3-Clause
// What `surety explain` asks: a packet by its fields, and where it comes in.
//
//   lan0 source=10.1.0.1 destination=10.2.0.1 protocol=udp source_port=1 destination_port=5004 dscp=EF vlan=7
//
// The first word is a port or an interface; without one the fields are those of a flow that is there. The
// fields are a `match`'s, each of them one value; and `length`, bytes of the IP packet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "router/interfaces/interfaces.h"

namespace surety {

struct Question {
  static constexpr std::uint16_t kUsualLength = 100;
  std::string place{};  // as it was written; empty: a flow that is there
  IpAddress source, destination;
  std::uint8_t protocol = 0, dscp = 0;
  std::uint16_t source_port = 0, destination_port = 0;
  std::optional<std::uint16_t> vlan{}, inner_vlan{};
  std::uint16_t length = kUsualLength;
};

// Throws std::runtime_error, one sentence, where there can be no such packet.
Question parse_question(std::string_view text);

// How it comes in: by a port, with these tags.
struct Arrival {
  std::uint8_t port = 0;
  VlanTags tags;
};
// Where `place` is, with the tags that the question adds. Throws std::runtime_error where there is none.
Arrival arrival_of(const Question& question, const config::Config& config, const Interfaces& interfaces);

// Its frame, to nobody yet; what stands behind the headers is zero.
std::vector<std::uint8_t> frame_of(const Question& question, const Arrival& arrival);

}  // namespace surety
