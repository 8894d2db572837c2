// SPDX-License-Identifier: BSD-3-Clause
// All flows of one address:
// finds the flow of a packet, makes receivers for new ones, and wakes flows on time.
//
// Sans-IO, single writer. 100,000 flows: one cache line of directory per packet, timers in a wheel (never
// early, late by at most one slot), engines in slots of a fixed pool. The driver's loop, and the lab's:
//
//   for each received packet: host.receive(packet, now)      the refusal is already counted
//   while ((n = host.poll(room, now)) > 0) transmit(room[0..n])
//   sleep until host.next_wakeup()
//
// A flow that its peer began and that is over (closed, and no more timer) is forgotten after kLinger, in
// poll(); a new one that begins with the same tuple takes its place at once. Senders stay.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "conditioners/huge_memory.h"
#include "conditioners/units.h"
#include "endpoints/engine/engine.h"
#include "endpoints/engine/flow_map.h"
#include "endpoints/engine/refusal.h"
#include "endpoints/engine/sink_params.h"
#include "endpoints/engine/timer_wheel.h"
#include "router/pipeline/wire/reply_limit.h"

namespace surety::endpoints {

// Answers to packets without a flow and a listener: TCP RST, DCCP-Reset. UDP gets no answer.
//
// RFC 9293 3.10.7.1 and 3.10.7.2, RFC 4340 8.1.3 and 8.3.1. Never in answer to a reset, nor to a packet with
// a wrong checksum. At most kAtOnce at once and kPerSecond a second; others go unanswered.
class Rejections {
 public:
  static constexpr std::uint32_t kAtOnce = 32, kPerSecond = 1000;

  explicit Rejections(Time now) : limit_(kPerSecond, kAtOnce, now) {}

  // A packet that was refused for `why`, and the tuple that its flow would have. Keeps the answer, if one is
  // due, until write().
  void consider(const IpPacket& packet, Transport transport, const Tuple& tuple, Refusal why, Time now);

  bool empty() const { return size_ == 0; }
  // The answers as IP packets; returns how many.
  std::size_t write(Room room);

 private:
  struct Answer {
    std::array<std::uint8_t, 80> bytes;
    std::uint32_t length;
  };
  bool answer_tcp(const IpPacket& packet, const Tuple& tuple, Refusal why, Slot& slot) const;
  bool answer_dccp(const IpPacket& packet, const Tuple& tuple, Refusal why, Slot& slot) const;

  ReplyLimit limit_;
  std::uint32_t size_ = 0;
  std::array<Answer, kAtOnce> answers_;
};

struct HostParams {
  std::uint32_t max_flows = 1024;
  Duration timer_slot = Duration(256);  // upper bound of a packet's delay
  std::uint64_t seed = 1;               // seed of the directory's hash
  // UDP port of DCCP in UDP (RFC 6773), from the first dccp_udp flow or listener on: then no UDP flow can
  // have this local port.
  std::uint16_t dccp_udp_port = 6511;
  std::size_t engine_bytes = kEngineBytes;  // per slot: the largest engine; rounded up to 64
  bool answer_unknown = true;  // reset packets without a listener (RFC 9293 3.10.7.1, RFC 4340 8.3.1)
};

// Called before the host forgets a flow, with its last reading. Must not call the host.
struct FlowObserver {
  virtual ~FlowObserver() = default;
  virtual void on_forget(FlowIndex f, Transport transport, const Tuple& tuple, const Engine& engine,
                         bool accepted) = 0;
};

class Host {
 public:
  static constexpr Duration kLinger = std::chrono::seconds(2);

  // Throws std::bad_alloc.
  Host(const HostParams& params, Time now);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // A sender: `E` is constructed in place with (args...) and woken when it wants. kNoFlowIndex: the pool is
  // full, the tuple is taken, or E is larger than HostParams::engine_bytes.
  template <std::derived_from<Engine> E, class... Args>
  FlowIndex add(Transport transport, const Tuple& tuple, Args&&... args) {
    static_assert(sizeof(E) <= kEngineBytes);
    static_assert(alignof(E) <= 64);
    if (sizeof(E) > engine_bytes_) return kNoFlowIndex;
    const FlowIndex f = take(transport, tuple);
    if (f == kNoFlowIndex) return f;
    begin(f, new (room(f)) E(std::forward<Args>(args)...));
    return f;
  }

  // Packets of new flows to this port go to `acceptor` (which outlives the host). For dccp_udp the port is
  // DCCP's, 0 for all. False: the port is taken, or the acceptor's engines are larger than a slot.
  bool listen(Transport transport, std::uint16_t port, Acceptor& acceptor);

  // Counted when refused. The packet is for this host: its address is not looked at, but for the tuple.
  Refusal receive(const IpPacket& packet, Time now);
  void receive(std::span<const IpPacket> burst, Time now);  // each of them, with prefetching

  // Packets of all flows that are due, round robin where the room does not suffice.
  std::size_t poll(Room room, Time now);
  // In the past when something is due; a lower bound otherwise (a timer that has moved away still wakes).
  Time next_wakeup() const;

  void close_all(Time now);  // orderly
  void remove(FlowIndex f);  // forgets it at once
  void observe(FlowObserver* observer) { observer_ = observer; }

  std::uint32_t flows() const { return map_.size(); }
  // Calls f(FlowIndex, Transport, const Tuple&, const Engine&, bool accepted) for every flow.
  template <class F>
  void for_each(F&& f) const {
    for (FlowIndex i = 1; i <= map_.capacity(); ++i)
      if (const FlowRecord& r = map_[i]; r.live) f(i, r.transport, r.tuple, engine(i), r.accepted);
  }
  // for_each() in portions: the flows in `slots` places of the directory from `from` on. Returns the next
  // `from`, kNoFlowIndex at the end.
  template <class F>
  FlowIndex for_each_from(FlowIndex from, std::uint32_t slots, F&& f) const {
    const FlowIndex end = std::min(map_.capacity() + 1, from + slots);
    for (FlowIndex i = from; i < end; ++i)
      if (const FlowRecord& r = map_[i]; r.live) f(i, r.transport, r.tuple, engine(i), r.accepted);
    return end > map_.capacity() ? kNoFlowIndex : end;
  }
  bool live(FlowIndex f) const { return map_[f].live; }
  const Engine& engine(FlowIndex f) const { return *const_cast<Host*>(this)->at(f); }

  const std::array<std::uint64_t, kRefusals>& refusals() const { return refusals_; }
  std::size_t memory_bytes() const;  // the host, its flows and their directory

 private:
  static constexpr std::size_t kBurst = 64;    // packets that are looked up together
  static constexpr std::size_t kHotLines = 8;  // per engine: the lines that most packets touch

  struct Line {
    alignas(64) std::byte bytes[64];
  };
  struct Listener {
    std::uint16_t port;
    Acceptor* acceptor;
  };
  // Results for a packet before it is delivered; its addresses stay in the packet.
  struct Arrival {
    std::uint64_t hash = 0;
    FlowIndex candidate = kNoFlowIndex;  // looked up in the directory, a burst ahead
    std::uint16_t local_port = 0, remote_port = 0;
    Transport transport = Transport::tcp;
    Refusal refusal = Refusal::none;
    Tuple tuple(const IpPacket& p) const { return {p.destination, p.source, local_port, remote_port}; }
  };

  void* room(FlowIndex f) { return &engines_[f * lines_]; }
  Engine* at(FlowIndex f) { return std::launder(static_cast<Engine*>(room(f))); }
  void prefetch_engine(FlowIndex f) {
    const auto* const p = static_cast<const std::byte*>(room(f));
    for (std::size_t i = 0; i < hot_lines_; ++i) __builtin_prefetch(p + 64 * i, 1);
  }
  FlowIndex take(Transport transport, const Tuple& tuple);
  void begin(FlowIndex f, Engine* engine);

  Acceptor* listener(Transport transport, std::uint16_t port) const;
  void look_up(const IpPacket& packet, Arrival& a) const;
  Refusal deliver(const IpPacket& packet, const Arrival& a, Time now);
  bool is_of(FlowIndex f, const IpPacket& packet, const Arrival& a) const;
  Refusal hand_over(const IpPacket& packet, const Arrival& a, Time now);
  Refusal give(FlowIndex f, const IpPacket& packet, Time now);
  Refusal find_and_give(const IpPacket& packet, const Arrival& a, Time now);
  Refusal begin_and_give(const IpPacket& packet, const Arrival& a, Time now);
  FlowIndex accept(const IpPacket& packet, const Arrival& a, Time now, Refusal& refusal);

  std::size_t wake(FlowIndex f, Room room, Time now);
  void reschedule(FlowIndex f, Time now);
  void reschedule_to(FlowIndex f, Time when, Time now);
  void rest(FlowIndex f, Time now);

  FlowMap map_;
  TimerWheel wheel_;
  std::size_t lines_, hot_lines_, engine_bytes_;
  HugeArray<Line> engines_;
  std::array<std::uint64_t, kRefusals> refusals_{};
  std::array<std::vector<Listener>, kTransports> listeners_;  // sorted by port
  Rejections rejections_;
  FlowObserver* observer_ = nullptr;
  std::array<Arrival, kBurst> arrivals_;
  std::uint16_t dccp_udp_port_;
  std::uint32_t dccp_udp_in_use_;  // dccp_udp_port_ once something uses it; before, kNoPort
  bool answer_unknown_;
};

}  // namespace surety::endpoints
