// SPDX-License-Identifier: BSD-3-Clause
// For the tests of the DCCP engines: hand-made packets of the other end, and what an engine sends, readable.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <memory>
#include <vector>

#include "endpoints/tfrc/dccp_receiver.h"
#include "endpoints/tfrc/dccp_sender.h"
#include "tests/unit/endpoints/endpoint_wire.h"

namespace surety::endpoints {

inline Tuple dccp_tuple(bool v6 = false) {
  if (!v6) return {IpAddress::v4(10, 1, 0, 65), IpAddress::v4(198, 51, 100, 1), 40000, 5001};
  const std::array<std::uint8_t, 16> a{0x20, 1, 0xd, 0xb8, 1}, b{0x20, 1, 0xd, 0xb8, 2};
  return {IpAddress::v6(a.data()), IpAddress::v6(b.data()), 40000, 5001};
}
inline Tuple reversed(const Tuple& t) {
  return {t.remote, t.local, t.remote_port, t.local_port};
}

// A frame that owns its bytes, and its view.
class Frame {
 public:
  Frame() : bytes_{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0} { bytes_.resize(14 + 9216, 0xcc); }
  Slot slot() { return {bytes_.data() + 14, 9216, 0}; }
  void take(const Slot& s) {
    bytes_.resize(14 + s.length);
    if (bytes_[14] >> 4 == 6) bytes_[12] = 0x86, bytes_[13] = 0xdd;
  }
  // The packet as the engine sees it; DCCP in UDP as the host hands it over.
  IpPacket packet() const {
    IpPacket p = parsed(bytes_);
    if (p.protocol == 17) {
      p.udp_source = load_be16(p.payload.data());
      p.udp_destination = load_be16(p.payload.data() + 2);
      p.payload = p.payload.subspan(8);
      p.protocol = dccp::kProtocol;
    }
    return p;
  }
  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

inline dccp::Packet decoded(const Frame& f) {
  dccp::Packet p;
  EXPECT_EQ(name(dccp::read(f.packet(), p)), "none");
  return p;
}

inline Frame dccp_frame(const Tuple& from, const dccp::Packet& p, std::vector<std::uint8_t> options = {},
                        dccp::PacketWriter::UdpPorts udp = {}) {
  while (options.size() % 4 != 0) options.push_back(0);
  Frame f;
  Slot s = f.slot();
  dccp::PacketWriter(from, udp).write(s, p, options, 0);
  f.take(s);
  return f;
}

// Everything an engine has to send at `now`.
inline std::vector<Frame> sent_by(Engine& e, Time now) {
  std::vector<Frame> all;
  for (;;) {
    Frame f;
    Slot s = f.slot();
    if (e.next_wakeup() > now || e.poll({&s, 1}, now) == 0) return all;
    f.take(s);
    all.push_back(std::move(f));
    if (all.size() > 1000) {
      ADD_FAILURE() << "an engine sends without end at one moment";
      return all;
    }
  }
}
inline std::vector<dccp::Type> types_of(const std::vector<Frame>& frames) {
  std::vector<dccp::Type> types;
  for (const Frame& f : frames) types.push_back(decoded(f).type);
  return types;
}

// A sender, a receiver that is made by its acceptor, and the wire between them.
struct Conversation {
  explicit Conversation(DccpParams p, Schedule s = {}, bool v6 = false)
      : params(std::move(p)),
        sender(params, dccp_tuple(v6), s, 1),
        acceptor(sink, 2),
        wire(sender, [this, v6](const IpPacket& first, Time now) -> Engine* {
          Refusal r = Refusal::none;
          receiver =
              static_cast<DccpReceiver*>(acceptor.accept(room, reversed(dccp_tuple(v6)), first, now, r));
          return receiver;
        }) {}
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  ~Conversation() {
    if (receiver != nullptr) receiver->~DccpReceiver();
  }

  FlowReading at_sender() const { return reading(sender); }
  FlowReading at_receiver() const { return reading(*receiver); }
  static FlowReading reading(const Engine& e) {
    FlowReading r;
    e.read(r);
    return r;
  }

  SinkParams sink;
  DccpParams params;
  DccpSender sender;
  DccpAcceptor acceptor;
  alignas(64) std::byte room[kEngineBytes];
  DccpReceiver* receiver = nullptr;
  Wire wire;
};

}  // namespace surety::endpoints
