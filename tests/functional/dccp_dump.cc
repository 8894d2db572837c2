// SPDX-License-Identifier: BSD-3-Clause
// dccp_dump FILE: writes conversations of our DCCP engines as a pcap file (raw IP), for test_dccp_golden.py:
// native and in UDP, IPv4 and IPv6, with loss, an old packet that is answered with Sync, CloseReq, and
// refusals.
#include <cstdint>
#include <cstdio>
#include <deque>
#include <fstream>
#include <memory>
#include <vector>

#include "endpoints/tfrc/dccp_receiver.h"
#include "endpoints/tfrc/dccp_sender.h"
#include "router/pipeline/wire/header_fields.h"

namespace {

using namespace surety;
using namespace surety::endpoints;
using namespace surety::literals;

using Octets = std::vector<std::uint8_t>;

class Pcap {
 public:
  explicit Pcap(const char* path) : out_(path, std::ios::binary) {
    for (const std::uint32_t word : {0xa1b2'3c4du, 0x0004'0002u, 0u, 0u, 65535u, 101u}) put(word);
  }
  void write(const Octets& ip, Time now) {
    const auto ns = static_cast<std::uint64_t>(now.time_since_epoch().count());
    put(static_cast<std::uint32_t>(ns / 1'000'000'000));
    put(static_cast<std::uint32_t>(ns % 1'000'000'000));
    put(static_cast<std::uint32_t>(ip.size()));
    put(static_cast<std::uint32_t>(ip.size()));
    out_.write(reinterpret_cast<const char*>(ip.data()), static_cast<std::streamsize>(ip.size()));
  }
  bool good() const { return out_.good(); }

 private:
  void put(std::uint32_t word) { out_.write(reinterpret_cast<const char*>(&word), sizeof word); }
  std::ofstream out_;
};

IpPacket view(const Octets& ip) {
  IpPacket p;
  const bool v6 = ip[0] >> 4 == 6;
  const std::size_t header = v6 ? 40 : 20;
  p.source = source_of(ip.data());
  p.destination = destination_of(ip.data());
  p.payload = std::span(ip).subspan(header);
  p.length = static_cast<std::uint16_t>(ip.size());
  if (ip[v6 ? 6 : 9] == 17) {
    p.udp_source = load_be16(p.payload.data());
    p.udp_destination = load_be16(p.payload.data() + 2);
    p.payload = p.payload.subspan(8);
  }
  p.protocol = dccp::kProtocol;
  return p;
}

Tuple tuple(bool v6, std::uint16_t port) {
  constexpr std::array<std::uint8_t, 16> kA{0x20, 1, 0xd, 0xb8, 1}, kB{0x20, 1, 0xd, 0xb8, 2};
  if (v6) return {IpAddress::v6(kA.data()), IpAddress::v6(kB.data()), port, 5001};
  return {IpAddress::v4(10, 1, 0, 65), IpAddress::v4(198, 51, 100, 1), port, 5001};
}

// Both ends 10 ms apart; everything that is sent goes to the file, every 20th packet there is lost.
class Conversation {
  using Air = std::deque<std::pair<Time, Octets>>;

 public:
  Conversation(Pcap& pcap, const DccpParams& params, const Tuple& t, Time stop)
      : pcap_(pcap), tuple_(t), sender_(params, t, {Time{}, stop}, t.local_port), acceptor_(sink_, 9) {}

  void run(Time end) {
    for (; now_ < end; now_ += 1ms) {
      arrive(there_, true);
      arrive(back_, false);
      flush(sender_, there_, true);
      if (receiver_) flush(*receiver_, back_, false);
    }
  }
  // An Ack from far outside the window, as if the sender had sent it.
  void inject_stray(dccp::PacketWriter::UdpPorts udp) {
    dccp::Packet p;
    p.type = dccp::Type::ack;
    p.sequence = 12345;
    write(tuple_, udp, p, there_);
  }
  // A Sync with the sink's latest numbers, as if the sink had sent it: the sender answers with SyncAck.
  void inject_sync(dccp::PacketWriter::UdpPorts udp) {
    dccp::Packet p;
    if (dccp::read(view(latest_back_), p) != Refusal::none) return;
    p.type = dccp::Type::sync;
    p.options = {};
    write({tuple_.remote, tuple_.local, tuple_.remote_port, tuple_.local_port}, udp, p, back_);
  }
  void close_sink() { receiver_->close(now_); }

 private:
  void write(const Tuple& from, dccp::PacketWriter::UdpPorts udp, const dccp::Packet& p, Air& air) {
    Octets bytes(256);
    Slot s{bytes.data(), 256, 0};
    dccp::PacketWriter(from, udp).write(s, p, {}, 0);
    bytes.resize(s.length);
    pcap_.write(bytes, now_);
    air.emplace_back(now_ + 10ms, bytes);
  }
  void flush(Engine& e, Air& air, bool counts) {
    while (e.next_wakeup() <= now_) {
      Octets bytes(2048);
      Slot s{bytes.data(), 2048, 0};
      if (e.poll({&s, 1}, now_) == 0) return;
      bytes.resize(s.length);
      pcap_.write(bytes, now_);
      if (!counts) latest_back_ = bytes;
      if (!counts || ++sent_ % 20 != 0) air.emplace_back(now_ + 10ms, bytes);
    }
  }
  void arrive(Air& air, bool there) {
    for (; !air.empty() && air.front().first <= now_; air.pop_front()) {
      const IpPacket p = view(air.front().second);
      Refusal r = Refusal::none;
      if (there && !receiver_)
        receiver_.reset(
            acceptor_.accept(room_, {p.destination, p.source, 5001, tuple_.local_port}, p, now_, r));
      if (!there)
        sender_.receive(p, now_);
      else if (receiver_)
        receiver_->receive(p, now_);
    }
  }

  struct Destroy {
    void operator()(Engine* e) const { e->~Engine(); }
  };
  Pcap& pcap_;
  Tuple tuple_;
  SinkParams sink_;
  DccpSender sender_;
  DccpAcceptor acceptor_;
  alignas(64) std::byte room_[kEngineBytes];
  std::unique_ptr<Engine, Destroy> receiver_;
  Air there_, back_;
  Octets latest_back_;
  Time now_{};
  std::uint64_t sent_ = 0;
};

void converse(Pcap& pcap, bool v6, bool udp, std::uint16_t port) {
  DccpParams params;
  params.udp = udp;
  params.common.packet = Bytes(700);
  params.tfrc.segment = params.common.packet;
  params.tfrc.application = 500_kbps;
  const bool sink_ends = v6;
  Conversation c(pcap, params, tuple(v6, port), Time{} + (sink_ends ? 100s : 3s));
  c.run(Time{} + 1s);
  const auto ports = udp ? dccp::PacketWriter::UdpPorts{6511, 6511} : dccp::PacketWriter::UdpPorts{};
  c.inject_stray(ports);
  c.run(Time{} + 1500ms);
  c.inject_sync(ports);
  c.run(Time{} + 2s);
  if (sink_ends) c.close_sink();
  c.run(Time{} + 5s);
}

void refuse(Pcap& pcap) {
  DccpParams params;
  params.service_code = 7;
  Conversation c(pcap, params, tuple(false, 40100), kNever);
  c.run(Time{} + 1s);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: dccp_dump FILE\n", stderr);
    return 2;
  }
  Pcap pcap(argv[1]);
  std::uint16_t port = 40000;
  for (const bool v6 : {false, true})
    for (const bool udp : {false, true}) converse(pcap, v6, udp, port++);
  refuse(pcap);
  return pcap.good() ? 0 : 1;
}
