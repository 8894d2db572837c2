// SPDX-License-Identifier: BSD-3-Clause
// The 16-byte packet descriptor that conditioners and queues see (CONTRIBUTING.md rule 5), and the customer
// that a packet belongs to.
//
// Guarantees: trivially copyable, 16 bytes; the handle is opaque (an rte_mbuf in the product, anything in a
// test) and is never dereferenced or freed below router/: an algorithm returns a verdict, its caller acts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "conditioners/drop_reason.h"

namespace surety {

// The drop precedence of a packet: in-profile, out-of-profile, or red, the third one of RFC 2597.
// Conditioners, contracts and aggregates have two: red packets are OUT there.
enum class Precedence : std::uint8_t { in, out, red };
inline constexpr std::size_t kPrecedences = 2;      // the precedences of contracts
inline constexpr std::size_t kDropPrecedences = 3;  // the precedences of queues
constexpr std::size_t index(Precedence p) {
  return static_cast<std::size_t>(p);
}
constexpr const char* name(Precedence p) {
  return p == Precedence::in ? "in" : p == Precedence::out ? "out" : "red";
}

using FlowId = std::uint32_t;
inline constexpr FlowId kNoFlow = ~FlowId{0};

struct Packet {
  void* handle = nullptr;
  FlowId flow = kNoFlow;
  std::uint16_t length = 0;  // bytes of the IP packet
  Precedence precedence = Precedence::out;
  DropReason verdict = DropReason::none;  // none: forward
};
static_assert(sizeof(Packet) == 16 && std::is_trivially_copyable_v<Packet>);

// A customer, as far as it matters to what customers share in parts (customer_limits.h): the port, and one of
// kParts parts behind it.
using Customer = std::uint16_t;  // port << 8 | part
inline constexpr std::size_t kParts = 256;
constexpr std::uint8_t port_of(Customer c) {
  return static_cast<std::uint8_t>(c >> 8);
}

}  // namespace surety
