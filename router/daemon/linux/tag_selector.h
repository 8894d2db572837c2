// SPDX-License-Identifier: BSD-3-Clause
// The tags of a template by which frames of the kernel leave.
//
// A frame for a neighbour leaves by the neighbour's tag. Two kinds of frames are for hosts without a known
// address:
//  - A DHCP answer leaves by the tag whose request has the same transaction ID and hardware address (RFC 2131
//    4.1). No other tag has received that transaction ID. Each tag keeps its last `hosts` requests.
//  - A router advertisement for all nodes leaves at once by the tags that have solicited one since the last
//    advertisement, and then by all tags with a known neighbour: kAtOnce tags each kPause, and not more often
//    than each kInterval (RFC 4861 6.2.6). Solicitations of one tag cannot load the others.
// All other frames for groups are dropped: thousands of copies are too many.
//
// Single thread; time is an argument. Memory is bounded by members and hosts.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "conditioners/units.h"
#include "router/daemon/linux/responder.h"

namespace surety {

class TagSelector {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(3), kPause = std::chrono::milliseconds(20);
  static constexpr std::size_t kAtOnce = 32;

  explicit TagSelector(std::uint32_t hosts) : hosts_(hosts) {}

  // Handles a valid frame, without its tags, that came by a tag and goes to the kernel. The responder
  // resolves a source that awaits an answer at its link-local address behind that tag.
  void received(std::span<const std::uint8_t> frame, InterfaceIndex tag, Responder& responder, Time now);

  // The tag by which a frame of the kernel leaves; none: unknown, or the frame is for a group.
  std::optional<InterfaceIndex> tag_of(std::span<const std::uint8_t> frame, const Responder& responder) const;

  // Takes a router advertisement for all nodes. False: the frame is another one.
  bool hold_advertisement(std::span<const std::uint8_t> frame);
  // The next tag by which advertisement() leaves; none: no more for now.
  std::optional<InterfaceIndex> next_tag(const Responder& responder, Time now);
  std::span<const std::uint8_t> advertisement() const { return advertisement_; }

 private:
  struct Request {
    std::uint64_t hardware = 0;  // address, as loaded
    std::uint32_t transaction = 0;
    friend bool operator==(const Request&, const Request&) = default;
  };
  struct Hash {
    std::size_t operator()(const Request& r) const {
      return (r.hardware ^ std::uint64_t{r.transaction} << 32) * 0x9e3779b97f4a7c15u;
    }
  };
  static std::optional<Request> request_of(std::span<const std::uint8_t> frame, const ParsedPacket& p,
                                           std::uint8_t operation);
  void remember(const Request& request, InterfaceIndex tag);

  std::uint32_t hosts_;
  std::unordered_map<Request, InterfaceIndex, Hash> requests_;
  std::unordered_map<InterfaceIndex, std::deque<Request>> requests_of_;  // indexed by tag, the oldest first

  std::vector<std::uint8_t> advertisement_;
  std::set<InterfaceIndex> solicitors_;
  std::vector<InterfaceIndex> solicited_, periodic_;  // tags that are still to get the advertisement
  bool due_ = false;                                  // all tags get it when the interval is over
  Time next_round_{}, next_batch_{};
  std::size_t batch_ = 0;  // tags left in the current batch
};

}  // namespace surety
