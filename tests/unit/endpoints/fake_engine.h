// SPDX-License-Identifier: BSD-3-Clause
// A scripted engine, its acceptor, and packets for a Host.
#pragma once

#include <cstring>
#include <deque>
#include <vector>

#include "endpoints/engine/demux.h"
#include "endpoints/host/host.h"
#include "router/pipeline/wire/ip_writer.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety::endpoints {

// What a test tells an engine to do and sees of it; outlives it.
struct Script {
  std::vector<Time> departures;  // one packet each, in order
  Time wakeup = kNever;          // when none is left
  Refusal answer = Refusal::none;
  FlowState state = FlowState::open;
  std::vector<IpPacket> received;
  std::vector<Time> polled;
  std::uint8_t mark = 0;  // of its packets
  bool closed = false, destroyed = false;
};

class FakeEngine : public Engine {
 public:
  FakeEngine(Script& script, const Tuple& tuple) : script_(&script), ip_(tuple, kUdpProtocol) {}
  ~FakeEngine() override { script_->destroyed = true; }

  Refusal receive(const IpPacket& packet, Time) override {
    script_->received.push_back(packet);
    return script_->answer;
  }
  std::size_t poll(Room room, Time now) override {
    script_->polled.push_back(now);
    std::size_t n = 0;
    auto& d = script_->departures;
    for (; n < room.size() && !d.empty() && d.front() <= now; ++n) {
      ip_.write(room[n].data, 1, 0);
      room[n].data[ip_.header_length()] = script_->mark;
      room[n].length = static_cast<std::uint32_t>(ip_.header_length()) + 1;
      d.erase(d.begin());
    }
    return n;
  }
  Time next_wakeup() const override {
    return script_->departures.empty() ? script_->wakeup : script_->departures.front();
  }
  void close(Time) override { script_->closed = true; }
  FlowState state() const override { return script_->state; }
  void read(FlowReading& out) const override { out.received_packets = script_->received.size(); }

 private:
  Script* script_;
  IpWriter ip_;
};

struct FakeAcceptor : Acceptor {
  std::deque<Script> scripts;  // of those accepted
  Refusal refusal = Refusal::none;
  std::size_t bytes = sizeof(FakeEngine);

  Engine* accept(void* room, const Tuple& tuple, const IpPacket&, Time, Refusal& out) override {
    out = refusal;
    if (refusal != Refusal::none) return nullptr;
    return new (room) FakeEngine(scripts.emplace_back(), tuple);
  }
  std::size_t engine_bytes() const override { return bytes; }
};

struct Slots {
  explicit Slots(std::size_t n) : bytes(n, std::vector<std::uint8_t>(2048, 0xcc)) {
    for (auto& b : bytes) slots.push_back({b.data(), 2048, 0});
  }
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<Slot> slots;
};

// A received packet that owns its bytes.
struct Datagram {
  frames::Octets bytes;
  IpPacket packet;
  Datagram(const Tuple& at_receiver, std::uint8_t protocol, frames::Octets payload) : bytes(payload) {
    packet.source = at_receiver.remote;
    packet.destination = at_receiver.local;
    packet.protocol = protocol;
    packet.payload = bytes;
    packet.length = static_cast<std::uint16_t>(20 + bytes.size());
  }
  Datagram(const Datagram&) = delete;
  Datagram& operator=(const Datagram&) = delete;

  void fix_checksum(std::size_t at) {
    bytes[at] = bytes[at + 1] = 0;
    Sum s = pseudo_header(packet);
    s.add(bytes);
    store(&bytes[at], s.checksum_field());
  }
};

}  // namespace surety::endpoints
