// SPDX-License-Identifier: BSD-3-Clause
// `surety explain`: the path of a packet through a running router, for people or (--json) for programs; and
// its question.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "router/operate/observe/telemetry_client.h"
#include "router/pipeline/interfaces/interfaces.h"

namespace surety {

// A question: a packet by its fields, and its ingress.
//
//   lan0 source=10.1.0.1 destination=10.2.0.1 protocol=udp source_port=1 destination_port=5004 dscp=EF vlan=7
//
// The first word is a port or an interface; without it the fields select an existing flow. The fields are
// those of a `match`, each with one value, and `length`, bytes of the IP packet.
struct Question {
  static constexpr std::uint16_t kUsualLength = 100;
  std::string place{};  // text of the question; empty: an existing flow
  IpAddress source, destination;
  std::uint8_t protocol = 0, dscp = 0;
  std::uint16_t source_port = 0, destination_port = 0;
  std::optional<std::uint16_t> vlan{}, inner_vlan{};
  std::uint16_t length = kUsualLength;
};

// Throws std::runtime_error, one sentence, if such a packet is impossible.
Question parse_question(std::string_view text);

// The ingress of a packet: port and tags.
struct Arrival {
  std::uint8_t port = 0;
  VlanTags tags;
};
// Resolves `place`, with the tags that the question adds. Throws std::runtime_error if it does not exist.
Arrival arrival_of(const Question& question, const config::Config& config, const Interfaces& interfaces);

// The packet's frame, with destination MAC address 0 and a payload of zeros.
std::vector<std::uint8_t> frame_of(const Question& question, const Arrival& arrival);

struct ExplainRequest {
  std::vector<std::string> words{};     // the question
  std::optional<std::string> router{};  // nullopt: the only one that runs
  bool json = false;                    // explanation.h, indented
};

// Exit status: 0, 1 when no router answers, 2 when such a packet is impossible. Errors go to `err`, as one
// line.
int explain(const ExplainRequest& request, const TelemetryClient& client, std::ostream& out,
            std::ostream& err);

}  // namespace surety
