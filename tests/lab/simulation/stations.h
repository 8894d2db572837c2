// SPDX-License-Identifier: BSD-3-Clause
// All hosts of a run: the flows' engines, and the packets that they and the network exchange.
//
// One endpoints::Host carries the flows of all hosts: it tells flows apart by their whole tuple, so the hosts
// need no directory, no timers and no memory of their own.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "conditioners/rng.h"
#include "endpoints/host/host.h"
#include "tests/lab/simulation/lab_dpdk.h"
#include "tests/lab/simulation/packet_note.h"
#include "tests/lab/simulation/plan.h"

namespace surety::lab {

class Stations final : private endpoints::FlowObserver {
 public:
  // Draws start times and the engines' seeds from `rng`. Throws ScenarioError when packet buffers run out.
  Stations(const Plan& plan, PacketPool& pool, Rng& rng, Time zero);
  ~Stations();

  // A frame has arrived at its host; it is freed.
  void receive(rte_mbuf* m, Time now);
  // The next packets that hosts send now: frames with their notes, to be put on the
  // line of `from`; less than kRoom: no more.
  static constexpr std::size_t kRoom = 16;
  struct Sent {
    rte_mbuf* mbuf;
    LineNumber line;
    std::uint32_t length;  // of the IP packet
  };
  std::span<const Sent> poll(Time now);
  Time next_wakeup() const { return host_.next_wakeup(); }

  Time start(std::uint32_t flow) const { return starts_[flow]; }
  // The two ends as they stand; a receiver that does not exist (yet) reads as all zero.
  endpoints::FlowReading sender(std::uint32_t flow) const;
  std::vector<endpoints::FlowReading> receivers() const;  // by flow
  const std::array<std::uint64_t, endpoints::kRefusals>& refusals() const { return host_.refusals(); }

 private:
  // What an end of a flow puts before its packets, and where they go: all of the plan that finish() needs.
  struct End {
    std::array<std::uint8_t, 24> header{};  // ends with the packet's Ethernet type
    std::uint32_t bytes = 0;                // of it
    LineNumber line = kNoLine;
  };

  void listen(Rng& rng);
  void add_senders(Rng& rng, Time zero);
  static End end_of(const PlannedHost& host, bool v6);
  void plan_ends();
  void refill();
  Sent finish(rte_mbuf* m, std::uint32_t length, Time now);
  void on_forget(endpoints::FlowIndex f, endpoints::Transport transport, const Tuple& tuple,
                 const endpoints::Engine& engine, bool accepted) override;

  const Plan& plan_;
  PacketPool& pool_;
  std::vector<std::array<End, 2>> ends_;  // by flow: of the receiver, of the sender
  std::vector<std::unique_ptr<endpoints::Acceptor>> acceptors_;
  endpoints::Host host_;
  std::vector<endpoints::FlowIndex> senders_;
  std::vector<Time> starts_;
  std::vector<endpoints::FlowReading> forgotten_;  // receivers that are gone, by flow
  std::vector<std::uint32_t> sent_packets_;        // with data, by flow
  std::array<rte_mbuf*, kRoom> mbufs_{};
  std::array<Slot, kRoom> slots_{};
  std::array<Sent, kRoom> sent_{};
  std::size_t used_ = kRoom;  // slots at the front that need a new buffer
};

}  // namespace surety::lab
