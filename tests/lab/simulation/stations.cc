// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/stations.h"

#include <cstring>

#include "endpoints/tcp/tcp_receiver.h"
#include "endpoints/tcp/tcp_sender.h"
#include "endpoints/tfrc/dccp_receiver.h"
#include "endpoints/tfrc/dccp_sender.h"
#include "endpoints/udp/udp_sender.h"
#include "endpoints/udp/udp_sink.h"
#include "router/pipeline/wire/header_fields.h"
#include "tests/lab/simulation/flow_of.h"
#include "tests/lab/simulation/lab_frame.h"
#include "tests/lab/simulation/scenario_error.h"

namespace surety::lab {

using namespace endpoints;

namespace {

std::uint64_t draw64(Rng& rng) {
  const std::uint64_t high = rng.next();
  return high << 32 | rng.next();
}

Duration draw(const config::TimeRange& range, Rng& rng) {
  const auto width = static_cast<double>((range.to - range.from).count());
  return range.from + Duration(static_cast<std::int64_t>(width * rng.uniform()));
}

HostParams host_params(const Plan& plan, Rng& rng) {
  HostParams p;
  p.max_flows = static_cast<std::uint32_t>(2 * plan.flows().size() + 16);
  p.seed = draw64(rng);
  p.dccp_udp_port = kDccpUdpPort;
  return p;
}

std::unique_ptr<Acceptor> make_acceptor(const PlannedSink& sink, std::uint64_t seed) {
  switch (sink.transport) {
    case endpoints::Transport::tcp:
      return std::make_unique<TcpAcceptor>(sink.params, seed);
    case endpoints::Transport::udp:
      return std::make_unique<UdpAcceptor>(sink.params);
    case endpoints::Transport::dccp:
    case endpoints::Transport::dccp_udp:
      return std::make_unique<DccpAcceptor>(sink.params, seed);
  }
  return nullptr;
}

struct Add {
  Host& host;
  const PlannedFlow& flow;
  Schedule schedule;
  std::uint64_t seed;
  FlowIndex operator()(const UdpParams& p) const {
    return host.add<UdpSender>(flow.transport, flow.tuple, p, flow.tuple, schedule);
  }
  FlowIndex operator()(const DccpParams& p) const {
    return host.add<DccpSender>(flow.transport, flow.tuple, p, flow.tuple, schedule, seed);
  }
  FlowIndex operator()(const TcpParams& p) const {
    return host.add<TcpSender>(flow.transport, flow.tuple, p, flow.tuple, schedule, seed);
  }
};

// A view of a frame that has come through the network whole: only its own engines
// and routers have written it.
IpPacket packet_of(std::span<const std::uint8_t> ip) {
  IpPacket p;
  const bool v6 = ip[0] >> 4 == 6;
  p.source = source_of(ip.data());
  p.destination = destination_of(ip.data());
  if (v6) {
    p.protocol = ip[6];
    p.traffic_class = static_cast<std::uint8_t>(ip[0] << 4 | ip[1] >> 4);
    p.payload = ip.subspan(40);
  } else {
    p.protocol = ip[9];
    p.traffic_class = ip[1];
    p.payload = ip.subspan(20);
  }
  p.length = static_cast<std::uint16_t>(ip.size());
#ifdef NDEBUG
  p.l4_verified = true;  // as hardware would; other builds check every sum
#endif
  return p;
}

}  // namespace

Stations::End Stations::end_of(const PlannedHost& host, bool v6) {
  End end;
  end.bytes = static_cast<std::uint32_t>(kEthernet + host.tags.bytes());
  end.line = host.out;
  std::uint8_t* const to = end.header.data() + end.header.size() - end.bytes;
  std::memcpy(to, host.peer_mac.data(), 6);
  std::memcpy(to + 6, host.mac.data(), 6);
  const std::uint64_t tags = host.tags.in_frame(0);
  std::memcpy(to + 12, &tags, host.tags.bytes());
  end.header[22] = v6 ? 0x86 : 0x08;
  end.header[23] = v6 ? 0xdd : 0x00;
  return end;
}

Stations::Stations(const Plan& plan, PacketPool& pool, Rng& rng, Time zero)
    : plan_(plan),
      pool_(pool),
      host_(host_params(plan, rng), zero),
      forgotten_(plan.flows().size()),
      sent_packets_(plan.flows().size()) {
  host_.observe(this);
  plan_ends();
  listen(rng);
  add_senders(rng, zero);
}

Stations::~Stations() {
  host_.observe(nullptr);
  for (std::size_t i = used_; i < kRoom; ++i) rte_pktmbuf_free(mbufs_[i]);
}

void Stations::listen(Rng& rng) {
  bool dccp_in_udp = false;
  for (const PlannedSink& sink : plan_.sinks()) {
    acceptors_.push_back(make_acceptor(sink, draw64(rng)));
    // DCCP in UDP has one UDP port, and takes any DCCP port inside.
    if (sink.transport == endpoints::Transport::dccp_udp && dccp_in_udp) continue;
    dccp_in_udp |= sink.transport == endpoints::Transport::dccp_udp;
    const std::uint16_t port =
        sink.transport == endpoints::Transport::dccp_udp ? std::uint16_t{0} : sink.port;
    if (!host_.listen(sink.transport, port, *acceptors_.back())) throw ScenarioError("two sinks on one port");
  }
}

void Stations::add_senders(Rng& rng, Time zero) {
  for (const PlannedFlow& f : plan_.flows()) {
    const config::Sender& s = plan_.scenario().senders[f.sender].sender;
    Schedule schedule{zero + draw(s.start, rng), s.stop ? zero + *s.stop : kNever};
    starts_.push_back(schedule.start);
    senders_.push_back(std::visit(Add{host_, f, schedule, draw64(rng)}, s.params));
    if (senders_.back() == kNoFlowIndex) throw ScenarioError("no room for the flow " + f.name);
  }
}

void Stations::receive(rte_mbuf* m, Time now) {
  const std::span<const std::uint8_t> frame(rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len);
  host_.receive(packet_of(frame.subspan(ip_offset(frame.data()))), now);
  note_of(m).on_the_way = false;
  rte_pktmbuf_free(m);
}

void Stations::refill() {
  if (used_ == 0) return;
  if (!pool_.take({mbufs_.data(), used_})) throw ScenarioError(kNoBuffers);
  for (std::size_t i = 0; i < used_; ++i) {
    note_of(mbufs_[i]) = {};
    slots_[i] = {rte_pktmbuf_mtod_offset(mbufs_[i], std::uint8_t*, kEthernet), pool_.longest_packet(), 0};
  }
  used_ = 0;
}

std::span<const Stations::Sent> Stations::poll(Time now) {
  refill();
  used_ = host_.poll(slots_, now);
  for (std::size_t i = 0; i < used_; ++i) sent_[i] = finish(mbufs_[i], slots_[i].length, now);
  return {sent_.data(), used_};
}

void Stations::plan_ends() {
  for (const PlannedFlow& f : plan_.flows()) {
    const LabSender& sender = plan_.scenario().senders[f.sender];
    auto& ends = ends_.emplace_back();
    for (const bool from_sender : {false, true})
      ends[from_sender] = end_of(plan_.hosts()[from_sender ? sender.host : sender.to], f.tuple.local.is_v6());
  }
}

// Ethernet header and note.
Stations::Sent Stations::finish(rte_mbuf* m, std::uint32_t length, Time now) {
  auto* const ip = rte_pktmbuf_mtod_offset(m, std::uint8_t*, kEthernet);
  const FlowOf who = flow_of({ip, length}, kDccpUdpPort);
  const End& end = ends_[who.flow][who.from_sender];
  const auto bytes = static_cast<std::uint16_t>(end.bytes + length);
  m->data_off = static_cast<std::uint16_t>(m->data_off + kEthernet - end.bytes);
  m->data_len = bytes;
  m->pkt_len = bytes;
  std::memcpy(ip - end.header.size(), end.header.data(), end.header.size());  // there is room before it
  // Field by field: a whole one would be put together elsewhere and read back before it is there.
  PacketNote& note = note_of(m);
  note.flow = who.flow;
  note.data = who.data;
  note.on_the_way = true;
  note.sent = now;
  if (who.data) note.number = ++sent_packets_[who.flow];
  return {m, end.line, length};
}

FlowReading Stations::sender(std::uint32_t flow) const {
  FlowReading r;
  if (host_.live(senders_[flow])) host_.engine(senders_[flow]).read(r);
  return r;
}

std::vector<FlowReading> Stations::receivers() const {
  std::vector<FlowReading> out = forgotten_;
  host_.for_each(
      [&](FlowIndex, endpoints::Transport, const Tuple& tuple, const Engine& engine, bool accepted) {
        if (accepted) engine.read(out[tuple.remote_port - std::size_t{Plan::kFirstFlowPort}]);
      });
  return out;
}

void Stations::on_forget(FlowIndex, endpoints::Transport, const Tuple& tuple, const Engine& engine,
                         bool accepted) {
  if (accepted) engine.read(forgotten_[tuple.remote_port - std::size_t{Plan::kFirstFlowPort}]);
}

}  // namespace surety::lab
