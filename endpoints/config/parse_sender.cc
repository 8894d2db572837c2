// SPDX-License-Identifier: BSD-3-Clause
// Section `senders`: what every sender has, whatever its protocol.
#include <set>

#include "config/address.h"
#include "config/reader.h"
#include "endpoints/config/endpoint_sections.h"

namespace surety::config {
namespace {

using endpoints::SenderParams;

constexpr std::uint64_t kMaxFlows = 1'000'000;
constexpr std::string_view kPeer = "an address and a port like `198.51.100.1:5001` or `[2001:db8::1]:5001`";
constexpr Dscp kAf11 = 10;

// AFx3 of an AFxy (RFC 2597); else best effort.
Dscp out_of(Dscp in) {
  const int af_class = in >> 3, precedence = in >> 1 & 3;
  const bool af = af_class >= 1 && af_class <= 4 && precedence >= 1 && (in & 1) == 0;
  return af ? static_cast<Dscp>(af_class << 3 | 6) : Dscp{0};
}

// The host marker of the ARD paper.
void read_mark(const Node& node, bool has_dscp, SenderParams& common, Problems& problems) {
  MapReader map(node, "`mark`", problems);
  Rate rate;
  Depth bucket;
  map.required("rate", rate);
  if (map.required("bucket", bucket) && bucket.bytes(common.packet) > kMaxBucketDepth)
    problems.error(map.at("bucket"), "a bucket holds at most 1 GB");
  common.mark.emplace(rate, bucket, TokenUnit::bytes, common.packet);
  if (!has_dscp) common.dscp = kAf11;
  Dscp in = common.dscp;
  if (const Node* n = map.find("in"); n && read_dscp(*n, in, problems)) {
    if (has_dscp && in != common.dscp)
      problems.error(n->mark, "`dscp` is {}; leave one of the two out", dscp_name(common.dscp));
    common.dscp = in;
  }
  common.dscp_out = out_of(in);
  if (const Node* n = map.find("out")) read_dscp(*n, common.dscp_out, problems);
  if (common.dscp_out == common.dscp)
    problems.warning(node.mark, "IN and OUT packets are both {}: routers cannot distinguish them",
                     dscp_name(common.dscp));
}

SenderParams read_common(MapReader& map, Problems& problems) {
  SenderParams common;
  if (map.read("packet", common.packet) && common.packet > Bytes(endpoints::kMaxPacket))
    problems.error(map.at("packet"), "a packet is at most {} B", endpoints::kMaxPacket);
  const Node* dscp = map.find("dscp");
  if (dscp) read_dscp(*dscp, common.dscp, problems);
  if (const Node* n = map.find("mark")) read_mark(*n, dscp != nullptr, common, problems);
  Bytes total;
  if (map.read("bytes", total)) common.total_payload = total.count();
  return common;
}

void read_peer(const Node& node, Sender& sender, Problems& problems) {
  const auto* text = text_of(node, kPeer, problems);
  if (!text) return;
  const auto colon = std::min(text->rfind(':'), text->size());
  std::string_view host = std::string_view(*text).substr(0, colon);
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  if (brackets) host = host.substr(1, host.size() - 2);
  const auto address = parse_address(host);
  const auto port =
      parse_integer(std::string_view(*text).substr(std::min(colon + 1, text->size())), 1, 65535);
  if (!address || !port.value || address->is_v6() != brackets) {
    problems.error(node.mark, "{} is not {}", quote(*text), kPeer);
  } else if (!is_unicast(*address)) {
    problems.error(node.mark, "{} cannot be the address of a host", quote(host));
  } else {
    sender.to = *address;
    sender.to_port = static_cast<std::uint16_t>(*port.value);
  }
}

}  // namespace

bool read_time_range(const Node& node, TimeRange& out, Problems& problems) {
  const auto* text = text_of(node, "a time like `0 s`, or a range like `0 s - 100 ms`", problems);
  if (!text) return false;
  const auto dash = text->find(" - ");
  const auto from = parse_duration(std::string_view(*text).substr(0, dash));
  const auto to = dash == text->npos ? from : parse_duration(std::string_view(*text).substr(dash + 3));
  if (!from.value || !to.value) {
    problems.error(node.mark, !from.value ? from.error : to.error);
  } else if (*to.value < *from.value) {
    problems.error(node.mark, "{} ends before it starts", quote(*text));
  } else {
    out = {*from.value, *to.value};
    return true;
  }
  return false;
}

void read_sender(MapReader& map, Sender& sender, Problems& problems) {
  if (map.required("name", sender.name) && !is_name(sender.name))
    problems.error(map.at("name"), "{} cannot name a sender: up to 63 letters, digits, `-`, `_` and `.`",
                   quote(sender.name));
  map.read("target", sender.target);
  read_integer(map.find("flows"), 1, kMaxFlows, sender.flows, problems);
  if (const Node* n = map.find("start")) read_time_range(*n, sender.start, problems);
  if (map.read("stop", sender.stop) && *sender.stop <= sender.start.to)
    problems.error(map.at("stop"), "a sender cannot stop before it starts");
  read_protocol_options(map, sender, read_common(map, problems), problems);
}

void read_senders(const Node& node, EndpointsDraft& draft) {
  auto& problems = draft.problems;
  std::set<std::string> names;
  const std::string_view like = "senders, like `- {name: a, port: p0, protocol: udp, ...}`";
  for (const Node* n : sequence(node, like, problems)) {
    Sender& sender = draft.config.senders.emplace_back();
    MapReader map(*n, "a sender", problems);
    sender.port = EndpointsDraft::kUnknown;
    if (const Node* p = map.require("port"))
      sender.port = draft.base.ports.resolve(*p, "port", problems).value_or(EndpointsDraft::kUnknown);
    if (const Node* to = map.require("to")) read_peer(*to, sender, problems);
    read_sender(map, sender, problems);
    if (!sender.name.empty() && !names.insert(sender.name).second)
      problems.error(map.at("name"), "there is already a sender {}", quote(sender.name));
    draft.sender_places.push_back({map.at("name"), map.at("to"), map.at("packet"), map.at("flows")});
  }
}

}  // namespace surety::config
