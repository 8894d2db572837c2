// SPDX-License-Identifier: BSD-3-Clause
// Any bytes at all: parse() stays within them, what it forwards is consistent, and rewriting keeps it valid.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "router/pipeline/wire/headers.h"
#include "router/pipeline/wire/parse_ipv4.h"
#include "router/pipeline/wire/parse_ipv6.h"
#include "router/pipeline/wire/parse_ordinary.h"

namespace {

using namespace surety;

void require(bool holds) {
  if (!holds) std::abort();
}

bool checksum_valid(const std::uint8_t* ip) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < (ip[0] & 0xfu) * 4; i += 2) sum += load_be16(ip + i);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return sum == 0xffff;
}

// The fuzzer cannot guess a checksum: without this it would hardly ever see the inside of an IPv4 packet.
void help_past_checksum(std::uint8_t* frame, std::size_t size) {
  if (size < 34 || load_be16(frame + 12) != 0x0800) return;
  std::uint8_t* const ip = frame + 14;
  const std::size_t header = (ip[0] & 0xfu) * 4;
  if (header < 20 || 14 + header > size) return;
  ip[10] = ip[11] = 0;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < header; i += 2) sum += load_be16(ip + i);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  store(ip + 10, swap16(static_cast<std::uint16_t>(~sum)));
}

void check_parsed(const ParsedPacket& p, std::size_t size) {
  require(p.l3_offset == 14 || p.l3_offset == 18 || p.l3_offset == 22);
  require(p.l3_offset + std::size_t{p.length} <= size);
  require(p.l4_offset >= p.l3_offset + (p.v6 ? 40 : 20));
  require(p.l4_offset <= p.l3_offset + p.length);
  require(p.vlan < 4096 && p.inner_vlan < 4096 && p.v6 == p.key.v6);
}

void check_rewriting(std::uint8_t* ip, const ParsedPacket& p) {
  const auto traffic_class = [&] {
    return static_cast<std::uint8_t>(p.v6 ? load_be16(ip) >> 4 & 0xff : ip[1]);
  };
  require(traffic_class() == p.traffic_class);
  const auto dscp = static_cast<std::uint8_t>(p.ttl & 63);
  set_dscp(ip, p.v6, dscp);
  require(traffic_class() == (dscp << 2 | (p.traffic_class & 3)));
  if (p.ttl > 1) {
    decrement_ttl(ip, p.v6);
    require(ip[p.v6 ? 7 : 8] == p.ttl - 1);
  }
  set_ce(ip, p.v6);
  require(traffic_class() == (dscp << 2 | 3));
  require(p.v6 || checksum_valid(ip));
}

// The straight line and the complete parser must say the same of untagged unicast frames.
void check_general(const std::uint8_t* frame, std::size_t size, const ParseContext& context,
                   ParseOutcome fast, const ParsedPacket& p) {
  if (size < 34 || !std::equal(context.mac.begin(), context.mac.end(), frame)) return;
  const unsigned type = load_be16(frame + 12);
  if (type != 0x0800 && type != 0x86dd) return;
  const detail::Frame f{frame, size, 14};
  ParsedPacket q;
  const ParseOutcome general =
      type == 0x0800 ? detail::parse_ipv4_general(f, context, q) : detail::parse_ipv6_general(f, context, q);
  require(general.drop == fast.drop && general.punt == fast.punt);
  require(general.drop != DropReason::none ||
          (q.key == p.key && q.length == p.length && q.l4_offset == p.l4_offset));
}

// So must the one for frames with tags, of what it takes.
void check_tagged(const std::uint8_t* frame, std::size_t size, const ParseContext& context,
                  ParseOutcome complete, const ParsedPacket& p) {
  ParsedPacket q;
  const auto ours = [&](auto...) { return context.port; };
  if (!OrdinaryParser(context).tagged(frame, size, q, ours)) return;
  require(complete.forwards() && q.key == p.key && q.length == p.length && q.l4_offset == p.l4_offset);
  require(q.vlan == p.vlan && q.inner_vlan == p.inner_vlan && q.l3_offset == p.l3_offset);
  require(q.protocol == p.protocol && q.traffic_class == p.traffic_class && q.ttl == p.ttl && q.v6 == p.v6);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto frame = std::make_unique<std::uint8_t[]>(
      size);  // ends where the frame ends: AddressSanitizer sees one byte more
  std::copy_n(data, size, frame.get());
  help_past_checksum(frame.get(), size);
  ParseContext context;
  context.mac = {2, 0, 0, 0, 0, 1};
  context.match_dscp = true;
  ParsedPacket p;
  const ParseOutcome outcome = parse({frame.get(), size}, context, p);
  require(outcome.drop == DropReason::none || outcome.punt == PuntReason::none);
  require(outcome.drop == DropReason::none || info(outcome.drop).stage == "parse");
  check_general(frame.get(), size, context, outcome, p);
  check_tagged(frame.get(), size, context, outcome, p);
  const bool ip = outcome.drop == DropReason::none && outcome.punt != PuntReason::arp &&
                  outcome.punt != PuntReason::control;
  if (!ip) return 0;
  check_parsed(p, size);
  check_rewriting(frame.get() + p.l3_offset, p);
  return 0;
}
