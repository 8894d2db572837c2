// SPDX-License-Identifier: BSD-3-Clause
// One engine = one end of one flow, sans-IO: packets in, packets out, time as an argument.
//
// Guarantees of every engine: no clock, no I/O, no allocation after construction, no blocking; any byte
// sequence may be given to receive(); the same calls give the same packets (randomness comes from a seed).
// Use, by a driver (endpoints/dpdk), the lab, or a test:
//   - receive() every packet of the flow; then, and whenever next_wakeup() <= now, poll() until it returns
//     less than the room it was given;
//   - nothing happens between: an engine that has something to send says so by next_wakeup() <= now.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conditioners/units.h"
#include "endpoints/engine/flow_reading.h"
#include "endpoints/engine/refusal.h"
#include "router/pipeline/wire/ip.h"
#include "router/pipeline/wire/outbox.h"

namespace surety::endpoints {

// Encapsulation of a flow's packets. `dccp_udp` is DCCP in UDP (RFC 6773).
enum class Transport : std::uint8_t { tcp, udp, dccp, dccp_udp };
inline constexpr std::size_t kTransports = 4;
constexpr const char* name(Transport t) {
  constexpr const char* kNames[] = {"tcp", "udp", "dccp", "dccp-udp"};
  return kNames[static_cast<std::size_t>(t)];
}

// Phase of a flow's life.
enum class FlowState : std::uint8_t { idle, connecting, open, closing, closed };
// Why it ended before its time; `none` while it runs and after an orderly end.
enum class Failure : std::uint8_t { none, no_answer, reset, refused, timeout };
constexpr const char* name(FlowState s) {
  constexpr const char* kNames[] = {"idle", "connecting", "open", "closing", "closed"};
  return kNames[static_cast<std::size_t>(s)];
}
constexpr const char* name(Failure f) {
  constexpr const char* kNames[] = {"none", "no_answer", "reset", "refused", "timeout"};
  return kNames[static_cast<std::size_t>(f)];
}

class Engine {
 public:
  virtual ~Engine() = default;

  // A packet whose addresses and ports are this flow's. A refused one changes nothing but counters (and,
  // where the protocol demands it, causes an answer such as a challenge ACK).
  virtual Refusal receive(const IpPacket& packet, Time now) = 0;

  // Writes what is due at `now`, at most room.size() packets; returns how many. Less than room.size():
  // nothing is due.
  virtual std::size_t poll(Room room, Time now) = 0;

  // The time when poll() has something to do next; in the past: now; kNever: not before something is
  // received.
  virtual Time next_wakeup() const = 0;

  // Ends the flow in an orderly way (FIN, DCCP Close; UDP just stops). Idempotent.
  virtual void close(Time now) = 0;

  virtual FlowState state() const = 0;
  virtual Failure failure() const { return Failure::none; }
  virtual void read(FlowReading& out) const = 0;
};

// A controller gives the time of the next packet, a rate controller as a paced time and a window controller
// as kNow or kNever, so that the sender's loop is written once.
//   Time next_send() const;            // in the past: now
//   void on_sent(Time now, ...);       // by the builder
inline constexpr Time kNow = Time::min();

// Builds packets while the controller lets it: build(slot) writes one and sets its length, and must move the
// controller on; it returns false when it has nothing (more) to send. Returns how many were built.
template <class Controller, class Build>
std::size_t send_permitted(const Controller& controller, Room room, Time now, Build&& build) {
  std::size_t n = 0;
  while (n < room.size() && controller.next_send() <= now && build(room[n])) ++n;
  return n;
}

inline constexpr std::size_t kEngineBytes = 1024;  // the most that one engine may take

// Creates engines for flows that peers begin. Bound to its SinkParams when the sink is made.
struct Acceptor {
  virtual ~Acceptor() = default;
  // Makes the receiving engine for the first packet of a new flow, in the room given (engine_bytes(), aligned
  // to 64), where it begins at the very start; null and a refusal when that packet cannot start a flow. The
  // caller then gives the engine that packet to receive().
  virtual Engine* accept(void* room, const Tuple& tuple, const IpPacket& first, Time now,
                         Refusal& refusal) = 0;
  // The most that one of its engines takes; a host with smaller slots refuses to listen.
  virtual std::size_t engine_bytes() const { return kEngineBytes; }
};

}  // namespace surety::endpoints
