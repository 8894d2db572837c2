// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/interface_finder.h"

#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/rewrite.h"

namespace surety {

namespace {
constexpr std::size_t kProtocol = 12, kControl = 14, kInnerProtocol = 16, kTwoTags = 22;
}  // namespace

void InterfaceFinder::adopt(const Snapshot& snapshot) {
  snapshot_ = &snapshot;
  interfaces_ = snapshot.interfaces.get();
  pcp_ = snapshot.config.pcp ? &*snapshot.config.pcp : nullptr;
  ports_ = snapshot.config.ports.size();
  any_protocol_.clear();
  for (const config::Port& p : snapshot.config.ports)
    any_protocol_.push_back(p.device.kind == config::Device::Kind::af_packet);
}

InterfaceIndex InterfaceFinder::find(const std::uint8_t* frame, const ParsedPacket& h, PortIndex port) const {
  if (h.vlan == 0) return h.inner_vlan == 0 ? port : kNoInterface;
  if (h.inner_vlan == 0 || h.l3_offset != kTwoTags || load_be16(frame + kInnerProtocol) == kCustomerTag) {
    const std::uint16_t protocol = load_be16(frame + kProtocol);
    InterfaceIndex found = find(port, protocol, h.vlan, h.inner_vlan);
    if (found == kNoInterface && any_protocol_[port] != 0 && protocol == kCustomerTag)
      found = find(port, kServiceTag, h.vlan, h.inner_vlan);
    if (found != kNoInterface) return found;
  }
  // VLAN IDs of an interface under one TPID are not the port's under another TPID.
  if (interfaces_->has(port, h.vlan, h.inner_vlan)) return kNoInterface;
  return snapshot_->tags.admits(port, h.vlan, h.inner_vlan) ? port : kNoInterface;
}

void InterfaceFinder::take_priority_by_map(std::uint8_t* frame, ParsedPacket& h) const {
  if ((*interfaces_)[h.interface].customer()) return;
  const auto dscp = static_cast<std::uint8_t>(h.traffic_class >> 2);
  const unsigned priority = frame[kControl] >> 5;
  if (pcp_->of_dscp[dscp] == priority || !pcp_->to_dscp[priority]) return;
  const std::uint8_t said = *pcp_->to_dscp[priority];
  set_dscp(frame + h.l3_offset, h.v6, said);
  if (snapshot_->classifier.uses_dscp()) h.key.dscp = said;
  h.traffic_class = static_cast<std::uint8_t>(said << 2 | (h.traffic_class & 3));
}

}  // namespace surety
