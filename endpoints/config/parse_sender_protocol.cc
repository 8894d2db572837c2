// SPDX-License-Identifier: BSD-3-Clause
// Parameters of a sender that depend on its protocol.
#include <algorithm>
#include <array>

#include "config/reader.h"
#include "endpoints/config/endpoint_sections.h"
#include "endpoints/tcp/congestion_controls.h"

namespace surety::config {
namespace {

using endpoints::DccpParams;
using endpoints::kCongestionControls;
using endpoints::SenderParams;
using endpoints::TcpFlavour;
using endpoints::TcpParams;
using endpoints::TfrcParams;
using endpoints::TfrcSpecification;
using endpoints::UdpParams;

enum Protocol : unsigned { kNone = 0, kGtfrc = 1, kTfrc = 2, kTcp = 4, kUdp = 8, kDccp = kGtfrc | kTfrc };
struct Word {
  Protocol protocol = kNone;
  TcpFlavour flavour = TcpFlavour::newreno;  // flavour for kTcp
  bool promised() const {
    return protocol == kGtfrc || (protocol == kTcp && congestion_control(flavour).reserves);
  }
};

constexpr Bytes kMinUdpPacket{64}, kMinPacket{128};  // room for every header over IPv6, and for some payload
constexpr Bytes kMaxWindow{1'000'000'000};           // RFC 7323 2.2: below 2^30
constexpr std::uint32_t kMaxInitialWindow = 1000;
constexpr Duration kMaxRto = std::chrono::seconds(60), kMaxTick = std::chrono::seconds(10);

struct Option {
  std::string_view key;
  unsigned of;
  std::string_view whose;
};
constexpr std::array kOptions{
    Option{"rate", kUdp | kDccp, "udp, tfrc and gtfrc"},
    Option{"on", kUdp, "udp"},
    Option{"off", kUdp, "udp"},
    Option{"encapsulation", kDccp, "tfrc and gtfrc"},
    Option{"udp_port", kDccp, "tfrc and gtfrc"},
    Option{"tfrc", kDccp, "tfrc and gtfrc"},
    Option{"header", kDccp, "tfrc and gtfrc"},
    Option{"guarantee", kGtfrc, "gtfrc"},
    Option{"theta", kGtfrc, "gtfrc"},
    Option{"excess", kGtfrc, "gtfrc"},
    Option{"repair", kGtfrc, "gtfrc"},
    Option{"window", kTcp, "TCP"},
    Option{"initial_window", kTcp, "TCP"},
    Option{"initial_ssthresh", kTcp, "TCP"},
    Option{"min_rto", kTcp, "TCP"},
    Option{"timer_granularity", kTcp, "TCP"},
    Option{"timestamps", kTcp, "TCP"},
    Option{"sack", kTcp, "TCP"},
    Option{"ecn", kTcp | kDccp, "TCP, tfrc and gtfrc"},
};

// Keys that make sense, but not with this protocol.
void refuse_others(MapReader& map, Protocol protocol, const std::string& name, Problems& problems) {
  for (const auto& entry : map.node().entries) {
    const Node& key = *entry.first;
    const auto* o =
        std::find_if(kOptions.begin(), kOptions.end(), [&](const Option& x) { return x.key == key.text; });
    if (o == kOptions.end() || (o->of & protocol) != 0) continue;
    map.find(o->key);
    problems.error(key.mark, "`{}` is for {}; a {} sender has no `{}`", o->key, o->whose, name, o->key);
  }
}

void check_packet(const MapReader& map, Bytes packet, Bytes least, const std::string& name,
                  Problems& problems) {
  if (packet < least)
    problems.error(map.at("packet"), "a packet of a {} sender is at least {} B", name, least.count());
}

// Warns about a run whose offered rate is below its target: it can only end with a missed target.
void warn_unreachable(const MapReader& map, Rate offered, Rate target, Problems& problems) {
  if (offered > Rate{} && offered < target)
    problems.warning(map.at("target"), "the sender offers {} kbit/s on average: it cannot reach this target",
                     static_cast<double>(offered.bits_per_second()) / 1000);
}

UdpParams read_udp(MapReader& map, const Sender& sender, Problems& problems) {
  UdpParams p;
  if (!map.find("rate") && !map.find("target") && map.node().kind == Node::Kind::map)
    problems.error(map.node().mark, "a udp sender needs `rate`, or a `target` that it sends at");
  p.rate = sender.target;
  map.read("rate", p.rate);
  const bool on = map.read("on", p.on), off = map.read("off", p.off);
  if (on != off && (map.find("on") == nullptr) != (map.find("off") == nullptr))
    problems.error(map.at(on ? "on" : "off"), "`on` and `off` need each other: give both or neither");
  const double share = on && off ? seconds(p.on) / seconds(p.on + p.off) : 1;
  warn_unreachable(map, share * p.rate, sender.target, problems);
  return p;
}

// The bytes that the simulator of the gTFRC paper sends above `packet`, which is all that its rates count: a
// longer packet, and rates that are higher by the same factor. The algorithm depends on packets per second.
void add_header(MapReader& map, SenderParams& common, TfrcParams& p, Problems& problems) {
  Bytes header;
  if (!map.read("header", header)) return;
  const std::uint64_t counted = common.packet.count(), whole = counted + header.count();
  if (whole > endpoints::kMaxPacket)
    return problems.error(map.at("header"), "a packet with its `header` is at most {} B",
                          endpoints::kMaxPacket);
  const auto scaled = [&](Rate rate) {
    const auto bits = static_cast<unsigned __int128>(rate.bits_per_second()) * whole + counted / 2;
    return Rate::bits_per_second(static_cast<std::uint64_t>(bits / std::max<std::uint64_t>(counted, 1)));
  };
  common.packet = p.segment = Bytes(whole);
  p.guarantee = scaled(p.guarantee);
  p.repair = scaled(p.repair);
  p.application = scaled(p.application);
}

DccpParams read_dccp(MapReader& map, Protocol protocol, const Sender& sender, SenderParams& common,
                     Problems& problems) {
  using Reading = TfrcParams::Reading;
  DccpParams p;
  p.tfrc.segment = common.packet;
  map.read("rate", p.tfrc.application);
  warn_unreachable(map, p.tfrc.application, sender.target, problems);
  map.read("ecn", p.ecn);
  map.read_word("encapsulation", p.udp, {{"native", false}, {"udp", true}});
  if (read_integer(map.find("udp_port"), 1, 65535, p.udp_remote_port, problems) && !p.udp)
    problems.error(map.at("udp_port"), "`udp_port` needs `encapsulation: udp`");
  map.read_word("tfrc", p.tfrc.specification,
                {{"rfc5348", TfrcSpecification::rfc5348}, {"rfc3448", TfrcSpecification::rfc3448}});
  if (protocol == kGtfrc) {
    p.tfrc.guarantee = sender.target;
    if (map.read("repair", p.tfrc.repair) && p.tfrc.repair < sender.target)
      problems.error(map.at("repair"), "`repair` is at least the target");
  }
  add_header(map, common, p.tfrc, problems);
  if (protocol != kGtfrc) return p;
  map.read_word("guarantee", p.tfrc.reading,
                {{"literal", Reading::literal}, {"after-slow-start", Reading::after_slow_start}});
  map.read_word("excess", p.tfrc.fair, {{"paper", false}, {"fair", true}});
  const Node* n = map.find("theta");
  const auto theta = n ? value_of(*n, "a number like `2`", parse_number, problems) : std::nullopt;
  if (theta && *theta < 1)
    problems.error(n->mark, "`theta` is at least 1: the guarantee is given up below target / theta");
  else if (theta)
    p.tfrc.theta = *theta;
  return p;
}

void read_window(MapReader& map, const SenderParams& common, TcpParams& p, Problems& problems) {
  Depth window;
  if (!map.read("window", window)) return;
  if (window.count > kMaxWindow.count() || window.bytes(common.packet) > kMaxWindow) {
    problems.error(map.at("window"), "a window is at most 1 GB");
  } else if (window.bytes(common.packet) < common.packet) {
    problems.error(map.at("window"), "a window holds at least one packet of {} B", common.packet.count());
  } else if (window.unit == Depth::Unit::packets) {
    p.window_packets = static_cast<std::uint32_t>(window.count);
  } else {
    p.window = Bytes(window.count);
  }
}

TcpParams read_tcp(MapReader& map, const Word& word, const Sender& sender, const SenderParams& common,
                   Problems& problems) {
  TcpParams p;
  p.flavour = word.flavour;
  if (word.promised()) p.reserved = sender.target;
  read_window(map, common, p, problems);
  read_packets(map.find("initial_window"), 1, kMaxInitialWindow, p.initial_window, problems);
  Bytes ssthresh;
  if (map.read("initial_ssthresh", ssthresh)) p.initial_ssthresh = ssthresh.count();
  if (map.read("min_rto", p.min_rto) && p.min_rto > kMaxRto)
    problems.error(map.at("min_rto"), "`min_rto` is at most 60 s");
  if (map.read("timer_granularity", p.timer_granularity) && p.timer_granularity > kMaxTick)
    problems.error(map.at("timer_granularity"), "`timer_granularity` is at most 10 s");
  map.read("timestamps", p.timestamps);
  map.read("sack", p.sack);
  map.read("ecn", p.ecn);
  return p;
}

template <std::size_t... I>
bool read_word(MapReader& map, Word& word, std::index_sequence<I...>) {
  map.require("protocol");
  return map.read_word("protocol", word,
                       {{"gtfrc", {.protocol = kGtfrc}},
                        {"tfrc", {.protocol = kTfrc}},
                        {kCongestionControls[I].word, {kTcp, static_cast<TcpFlavour>(I)}}...,
                        {"udp", {.protocol = kUdp}}});
}

}  // namespace

void read_protocol_options(MapReader& map, Sender& sender, SenderParams common, Problems& problems) {
  Word word;
  if (!read_word(map, word, std::make_index_sequence<kCongestionControls.size()>{})) {
    map.ignore_the_rest();
    return;
  }
  const Protocol protocol = word.protocol;
  sender.protocol = map.find("protocol")->text;
  refuse_others(map, protocol, sender.protocol, problems);
  check_packet(map, common.packet, protocol == kUdp ? kMinUdpPacket : kMinPacket, sender.protocol, problems);
  if (word.promised() && !map.find("target"))
    problems.error(map.node().mark, "a {} sender needs `target`, the rate that it is guaranteed",
                   sender.protocol);
  if (protocol == kUdp) {
    sender.params = read_udp(map, sender, problems);
  } else if ((protocol & kDccp) != 0) {
    sender.params = read_dccp(map, protocol, sender, common, problems);
  } else {
    sender.params = read_tcp(map, word, sender, common, problems);
  }
  std::visit([&](auto& p) { p.common = common; }, sender.params);
}

}  // namespace surety::config
