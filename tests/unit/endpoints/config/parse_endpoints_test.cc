// SPDX-License-Identifier: BSD-3-Clause
// What endpoints.yaml and endpoints-acceptance.yaml mean, value by value; and the defaults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/address.h"
#include "endpoints/config/endpoints.h"

namespace surety::config {
namespace {

using namespace surety::literals;
using endpoints::AckPolicy;
using endpoints::DccpParams;
using endpoints::TcpFlavour;
using endpoints::TcpParams;
using endpoints::TfrcParams;
using endpoints::TfrcSpecification;
using endpoints::UdpParams;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Dscp kBe = 0, kAf11 = 10, kAf12 = 12, kAf13 = 14, kAf21 = 18, kAf23 = 22, kEf = 46;

const Endpoints& example(const char* name) {
  static std::map<std::string, Endpoints> all;
  const auto path = std::string(SURETY_SOURCE_DIR "/config/examples/") + name;
  if (!all.contains(path)) all[path] = parse_endpoints_file(path).config.value();
  return all[path];
}
const Endpoints& shared() {
  return example("endpoints.yaml");
}
const Sender& sender(const char* name) {
  for (const auto& s : example("endpoints-acceptance.yaml").senders) {
    if (s.name == name) return s;
  }
  throw std::runtime_error(name);
}

// A file with one port and `rest`; every diagnostic is a failure.
Endpoints parsed(const std::string& rest) {
  const auto result = parse_endpoints(
      "version: 1\nports: {p0: {device: null, addresses: [10.1.0.65/24]}}\n" + rest, "dir/f.yaml");
  for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
  return result.config.value_or(Endpoints{});
}
Sender sender_of(const std::string& options) {
  const auto c = parsed("senders: [{name: a, port: p0, to: '10.1.0.66:5001', " + options + "}]\n");
  return c.senders.empty() ? Sender{} : c.senders[0];
}
Sink sink_of(const std::string& options) {
  const auto c = parsed("sinks: [{port: p0, " + options + "}]\n");
  return c.sinks.empty() ? Sink{} : c.sinks[0];
}
IpAddress address(const char* text) {
  return parse_address(text).value();
}

TEST(ParseEndpoints, ThePortOfTheExample) {
  ASSERT_EQ(shared().ports.size(), 1u);
  const auto& p = shared().ports[0];
  EXPECT_EQ(p.name, "p0");
  EXPECT_EQ(p.device.kind, Device::Kind::af_xdp);
  EXPECT_EQ(p.device.name, "ep0");
  EXPECT_THAT(p.addresses, ElementsAre(parse_prefix("10.1.0.65/24").value()));
  EXPECT_EQ(p.gateway, address("10.1.0.254"));
  EXPECT_FALSE(p.gateway_v6);
  EXPECT_EQ(p.mtu, 1500);
  EXPECT_FALSE(p.mac);
}

TEST(ParseEndpoints, TheSinksOfTheExample) {
  ASSERT_EQ(shared().sinks.size(), 1u);
  const auto& s = shared().sinks[0];
  EXPECT_EQ(s.port, 0u);
  ASSERT_EQ(s.listen.size(), 4u);
  EXPECT_EQ(s.listen[0].transport, endpoints::Transport::tcp);
  EXPECT_EQ(s.listen[1].transport, endpoints::Transport::dccp);
  EXPECT_EQ(s.listen[2].transport, endpoints::Transport::dccp_udp);
  EXPECT_EQ(s.listen[3].transport, endpoints::Transport::udp);
  EXPECT_EQ(s.listen[0].port, 5001);
  EXPECT_EQ(s.listen[2].port, 6511);
  EXPECT_EQ(s.params.ack, AckPolicy::delayed);
  EXPECT_EQ(s.params.window, 4_MB);
  EXPECT_EQ(s.params.in_dscps, endpoints::kInByDefault);
}

TEST(ParseEndpoints, TheSendersOfTheExample) {
  ASSERT_EQ(shared().senders.size(), 4u);
  const auto& camera = shared().senders[0];
  EXPECT_EQ(camera.name, "camera");
  EXPECT_EQ(camera.protocol, "gtfrc");
  EXPECT_EQ(camera.to, address("198.51.100.1"));
  EXPECT_EQ(camera.to_port, 5001);
  EXPECT_EQ(camera.flows, 1u);
  EXPECT_EQ(camera.start.from, 0s);
  EXPECT_EQ(camera.start.to, 0s);
  EXPECT_EQ(camera.stop, 60s);
  EXPECT_EQ(camera.target, 800_kbps);
  EXPECT_EQ(camera.common().dscp, kAf11);
  const auto& dccp = std::get<DccpParams>(camera.params);
  EXPECT_EQ(dccp.tfrc.guarantee, 800_kbps);
  EXPECT_EQ(dccp.tfrc.segment, 1500_B);
  EXPECT_EQ(dccp.tfrc.application, Rate{});
  EXPECT_FALSE(dccp.udp);
  const auto& backup = std::get<TcpParams>(shared().senders[1].params);
  EXPECT_EQ(backup.flavour, TcpFlavour::gtcp);
  EXPECT_EQ(backup.reserved, 4_Mbps);
  EXPECT_EQ(backup.window, 1_MB);
  const auto& web = shared().senders[2];
  EXPECT_EQ(std::get<TcpParams>(web.params).flavour, TcpFlavour::newreno);
  EXPECT_EQ(std::get<TcpParams>(web.params).reserved, Rate{});
  EXPECT_EQ(web.flows, 10u);
  EXPECT_EQ(web.target, Rate{});
  EXPECT_FALSE(web.stop);
  const auto& noise = shared().senders[3];
  EXPECT_EQ(std::get<UdpParams>(noise.params).rate, 500_kbps);
  EXPECT_EQ(noise.target, Rate{}) << "a rate alone is no promise";
  EXPECT_EQ(noise.common().packet, 1000_B);
}

TEST(ParseEndpoints, TheRestOfTheExamples) {
  EXPECT_EQ(shared().metrics.listen, "127.0.0.1:9466");
  EXPECT_FALSE(shared().duration);
  EXPECT_EQ(shared().seed, 1u);
  const auto& full = example("endpoints-acceptance.yaml");
  EXPECT_EQ(full.duration, 60s);
  EXPECT_FALSE(shared().measure);
  ASSERT_TRUE(full.measure);
  EXPECT_EQ(full.measure->from, 5s);
  EXPECT_EQ(full.measure->to, 60s);
  EXPECT_EQ(full.seed, 7u);
  EXPECT_EQ(full.metrics.top_flows, 20u);
  EXPECT_EQ(full.dpdk.hugepages, Dpdk::Hugepages::on);
  EXPECT_EQ(full.dpdk.memory_mb, 1000u);
  EXPECT_EQ(full.dpdk.mbufs, 65536u);
}

TEST(ParseEndpoints, WhatIsMeasuredLiesWithinTheRun) {
  const auto late = parse_endpoints(
      "version: 1\nports: {p0: {device: null, addresses: [10.1.0.65/24]}}\n"
      "sinks: [{port: p0, listen: [tcp 5001]}]\nduration: 5 s\nmeasure: 5 s - 6 s\n",
      "f.yaml");
  ASSERT_EQ(late.diagnostics.size(), 1u);
  EXPECT_EQ(late.diagnostics[0].message, "the run ends before the measurement begins");
}

TEST(ParseEndpoints, PortsWithBothFamilies) {
  const auto& full = example("endpoints-acceptance.yaml");
  ASSERT_EQ(full.ports.size(), 2u);
  EXPECT_EQ(full.ports[0].gateway, address("10.1.0.254"));
  EXPECT_EQ(full.ports[0].gateway_v6, address("2001:db8:1::fe"));
  EXPECT_EQ(to_string(full.ports[1].mac.value()), "02:00:00:00:00:0b");
  EXPECT_EQ(full.sinks[0].port, 1u);
}

TEST(ParseEndpoints, DefaultsOfAFileThatSaysNothing) {
  const auto c = parsed("sinks: [{port: p0, listen: udp 9}]\n");
  EXPECT_EQ(c.metrics.listen, "") << "no metrics unless asked for";
  EXPECT_THAT(c.senders, IsEmpty());
  EXPECT_EQ(c.dpdk.hugepages, Dpdk::Hugepages::automatic);
}

TEST(ParseEndpoints, FilesStartAtTheConfiguration) {
  const auto result = parse_endpoints(
      "version: 1\nports: {p: {device: pcap tx=o.pcap, addresses: 10.0.0.1/24}}\nsinks: [{port: p, listen: "
      "udp 1}]\n",
      "dir/f.yaml");
  EXPECT_EQ(result.config.value().ports[0].device.tx_file, "dir/o.pcap");
}

TEST(ParseEndpoints, AFileThatIsNotThere) {
  const auto result = parse_endpoints_file("/nonexistent.yaml");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.diagnostics[0].message, "cannot be read: No such file or directory");
}

TEST(ParseSink, EveryOption) {
  const auto s = sink_of("listen: [iperf3 5201, 'tcp   7'], ack: every, window: 16 MB, in: [AF12, 3]");
  ASSERT_EQ(s.listen.size(), 2u);
  EXPECT_EQ(s.listen[0].transport, endpoints::Transport::tcp);
  EXPECT_TRUE(s.listen[0].iperf3);
  EXPECT_EQ(s.listen[1].port, 7);
  EXPECT_FALSE(s.listen[1].iperf3);
  EXPECT_EQ(s.params.ack, AckPolicy::every);
  EXPECT_EQ(s.params.window, 16_MB);
  EXPECT_EQ(s.params.in_dscps, 1u << 12 | 1u << 3);
  EXPECT_TRUE(s.params.counts_as_in(kAf12));
  EXPECT_FALSE(s.params.counts_as_in(kAf11));
}

TEST(ParseSender, ARangeOfStarts) {
  EXPECT_EQ(sender("web").start.from, 0s);
  EXPECT_EQ(sender("web").start.to, 10s);
  const auto s = sender_of("protocol: reno, start: 100 ms, stop: 1 s, bytes: 3 kB");
  EXPECT_EQ(s.start.from, 100ms);
  EXPECT_EQ(s.start.to, 100ms);
  EXPECT_EQ(s.stop, 1s);
  EXPECT_EQ(s.common().total_payload, 3000u);
}

TEST(ParseSender, Gtfrc) {
  const auto& nat = sender("camera-nat");
  EXPECT_EQ(nat.to, address("2001:db8:ff::1"));
  const auto& p = std::get<DccpParams>(nat.params);
  EXPECT_TRUE(p.udp);
  EXPECT_EQ(p.udp_local_port, 6511);
  EXPECT_EQ(p.udp_remote_port, 6511);
  EXPECT_EQ(p.tfrc.guarantee, 800_kbps);
  EXPECT_EQ(p.tfrc.application, 1_Mbps);
  EXPECT_EQ(p.tfrc.reading, TfrcParams::Reading::after_slow_start);
  EXPECT_EQ(p.tfrc.theta, 4);
  EXPECT_EQ(std::get<DccpParams>(sender("camera").params).tfrc.reading, TfrcParams::Reading::literal);
  EXPECT_EQ(std::get<DccpParams>(sender("camera").params).tfrc.theta, 0);
}

TEST(ParseSender, WhatGtfrcDoesBeyondThePaper) {
  const auto gtfrc = [](const std::string& options) {
    return std::get<DccpParams>(sender_of("protocol: gtfrc, target: 2 Mbit/s" + options).params).tfrc;
  };
  EXPECT_FALSE(gtfrc("").fair);
  EXPECT_EQ(gtfrc("").repair, Rate{});
  EXPECT_FALSE(gtfrc(", excess: paper").fair);
  EXPECT_TRUE(gtfrc(", excess: fair").fair);
  EXPECT_EQ(gtfrc(", repair: 2.2 Mbit/s").repair, 2200_kbps);
}

TEST(ParseSender, WhichTfrcItIs) {
  const auto of_rfc3448 = [](const char* options) {
    return std::get<DccpParams>(sender_of(options).params).tfrc.specification == TfrcSpecification::rfc3448;
  };
  EXPECT_FALSE(of_rfc3448("protocol: tfrc"));
  EXPECT_TRUE(of_rfc3448("protocol: tfrc, tfrc: rfc3448"));
  EXPECT_TRUE(of_rfc3448("protocol: gtfrc, target: 1 Mbit/s, tfrc: rfc3448"));
  EXPECT_FALSE(of_rfc3448("protocol: gtfrc, target: 1 Mbit/s, tfrc: rfc5348"));
}

// 32 bytes above 1468: packets of 1500, and as many of them per second as the rates of 1468 say.
TEST(ParseSender, AHeaderIsSentAndNotCounted) {
  const auto g =
      sender_of("protocol: gtfrc, target: 800 kbit/s, rate: 1468 kbit/s, packet: 1468 B, header: 32 B");
  const auto& p = std::get<DccpParams>(g.params);
  EXPECT_EQ(p.common.packet, 1500_B);
  EXPECT_EQ(p.tfrc.segment, 1500_B);
  EXPECT_EQ(p.tfrc.guarantee, Rate::bits_per_second(817'439));
  EXPECT_EQ(p.tfrc.application, 1500_kbps);
  EXPECT_EQ(g.target, 800_kbps);
  const auto tfrc = sender_of("protocol: tfrc, packet: 1000 B, header: 40 B");
  EXPECT_EQ(std::get<DccpParams>(tfrc.params).tfrc.segment, 1040_B);
  EXPECT_EQ(std::get<DccpParams>(tfrc.params).tfrc.application, Rate{});
}

TEST(ParseSender, TheHeaderIsSentBeyondTheBoundOfARepairToo) {
  const auto s =
      sender_of("protocol: gtfrc, target: 800 kbit/s, packet: 1468 B, header: 32 B, repair: 810 kbit/s");
  EXPECT_EQ(std::get<DccpParams>(s.params).tfrc.repair, Rate::bits_per_second(827'657));
  const auto none = sender_of("protocol: gtfrc, target: 800 kbit/s, packet: 1468 B, header: 32 B");
  EXPECT_EQ(std::get<DccpParams>(none.params).tfrc.repair, Rate{});
}

TEST(ParseSender, TfrcIsNotGuaranteedWhatItIsMeasuredBy) {
  EXPECT_EQ(sender("movie").target, 4_Mbps);
  EXPECT_EQ(std::get<DccpParams>(sender("movie").params).tfrc.guarantee, Rate{});
}

TEST(ParseSender, DccpInUdpUsesThePortOfTheSinksBesideIt) {
  const auto c = parsed(
      "sinks: [{port: p0, listen: dccp-udp 7000}]\n"
      "senders: [{name: a, port: p0, protocol: tfrc, to: '10.1.0.66:1', encapsulation: udp, udp_port: "
      "8000, ecn: off}]\n");
  const auto& p = std::get<DccpParams>(c.senders.at(0).params);
  EXPECT_EQ(p.udp_local_port, 7000);
  EXPECT_EQ(p.udp_remote_port, 8000);
  EXPECT_FALSE(p.ecn);
}

TEST(ParseSender, TcpOfThePapers) {
  const auto& s = sender("as-in-1995");
  const auto& p = std::get<TcpParams>(s.params);
  EXPECT_EQ(s.common().packet, 576_B);
  EXPECT_EQ(p.flavour, TcpFlavour::reno);
  EXPECT_EQ(p.window_packets, 20u);
  EXPECT_EQ(p.initial_window, 1u);
  EXPECT_EQ(p.initial_ssthresh, 64'000u);
  EXPECT_EQ(p.min_rto, 1s);
  EXPECT_EQ(p.timer_granularity, 500ms);
  EXPECT_FALSE(p.timestamps || p.sack || p.ecn);
}

TEST(ParseSender, TcpOfToday) {
  const auto& p = std::get<TcpParams>(sender("mail").params);
  EXPECT_EQ(p.flavour, TcpFlavour::newreno);
  EXPECT_EQ(p.window, 1_MB);
  EXPECT_EQ(p.window_packets, 0u);
  EXPECT_EQ(p.initial_window, 0u);
  EXPECT_TRUE(p.timestamps && p.sack && p.ecn);
  EXPECT_EQ(p.common.total_payload, 100'000'000u);
}

TEST(ParseSender, Udp) {
  EXPECT_EQ(sender("voice").target, 64_kbps);
  EXPECT_EQ(std::get<UdpParams>(sender("voice").params).rate, 64_kbps) << "a target alone is the rate";
  EXPECT_EQ(sender("voice").common().dscp, kEf);
  const auto& bursts = std::get<UdpParams>(sender("bursts").params);
  EXPECT_EQ(bursts.rate, 10_Mbps);
  EXPECT_EQ(bursts.on, 200ms);
  EXPECT_EQ(bursts.off, 800ms);
  const auto s = sender_of("protocol: udp, target: 1 Mbit/s, rate: 2 Mbit/s, on: 1 s, off: 1 s");
  EXPECT_EQ(s.target, 1_Mbps);
  EXPECT_EQ(std::get<UdpParams>(s.params).rate, 2_Mbps);
}

TEST(ParseSender, WithoutAMarkAllPacketsAreAlike) {
  const auto s = sender_of("protocol: udp, rate: 1 Mbit/s");
  EXPECT_FALSE(s.common().mark);
  EXPECT_EQ(s.common().dscp, kBe);
}

TEST(ParseSender, AMarkAsWritten) {
  const auto& c = sender("marked").common();
  EXPECT_EQ(c.mark.value().rate(), 1_Mbps);
  EXPECT_EQ(c.mark.value().depth(), Credit{10'000} * kCreditPerByte);
  EXPECT_EQ(c.dscp, kAf21);
  EXPECT_EQ(c.dscp_out, kAf23);
}

TEST(ParseSender, AMarkByDefault) {
  const auto mark = [](const std::string& options, const std::string& inside) {
    return sender_of("protocol: reno, " + options + " mark: {rate: 250 kbit/s, bucket: 2 packets" + inside +
                     "}")
        .common();
  };
  auto c = mark("packet: 1000 B,", "");
  EXPECT_EQ(c.mark.value().depth(), Credit{2000} * kCreditPerByte);
  EXPECT_EQ(c.dscp, kAf11);
  EXPECT_EQ(c.dscp_out, kAf13);
  c = mark("dscp: AF21,", "");
  EXPECT_EQ(c.dscp, kAf21);
  EXPECT_EQ(c.dscp_out, kAf23);
  c = mark("dscp: AF21,", ", in: AF21, out: AF12");
  EXPECT_EQ(c.dscp, kAf21);
  EXPECT_EQ(c.dscp_out, kAf12);
  c = mark("", ", in: EF");
  EXPECT_EQ(c.dscp, kEf);
  EXPECT_EQ(c.dscp_out, kBe);
}

TEST(ParseSender, OnlyAssuredForwardingHasAPrecedenceOfItsOwn) {
  const std::pair<const char*, Dscp> cases[] = {
      {"AF12", kAf13}, {"AF41", 38}, {"CS1", kBe}, {"9", kBe}, {"EF", kBe}};
  for (const auto& [in, out] : cases) {
    const auto s =
        sender_of(std::string("protocol: reno, mark: {rate: 1 Mbit/s, bucket: 3 kB, in: ") + in + "}");
    EXPECT_EQ(s.common().dscp_out, out) << in;
  }
}

}  // namespace
}  // namespace surety::config
