// SPDX-License-Identifier: BSD-3-Clause
// ICMP and ICMPv6 errors about packets that cannot be forwarded (RFC 792, RFC 1812 4.3.2 and 5.2.7, RFC 4443
// 2.4, 3).
//
// Sans-I/O. The error leaves by the packet's ingress port, to the neighbour that sent it, from an address of
// that port. All errors of the router share a limit, in which each customer has a part: kAtOnce, then
// kPerSecond (RFC 1812 4.3.2.8, RFC 4443 2.4 f; customer_limits.h).
//
// All have one DSCP, of precedence 6 or 7 unless the configuration says otherwise (RFC 1812 4.3.2.5). The
// first kLongAtOnce, then kLongPerSecond, quote as much of the packet as fits into 576 bytes (RFC
// 1812 4.3.2.3), with IPv6 into 1280. Further errors, too many for an operator or for path MTU discovery,
// quote 68 bytes, with IPv6 48: a thousand large ones per second, in a class of high priority, would take 10
// Mbit/s of the customer's link, which may be shared.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "conditioners/counter_table.h"
#include "conditioners/customer_limits.h"
#include "router/pipeline/routes/port_addresses.h"
#include "router/pipeline/wire/outbox.h"

namespace surety {

enum class IcmpProblem : std::uint8_t {
  time_exceeded,
  too_big,
  host_unreachable,
  net_unreachable,
  prohibited,  // administratively prohibited (RFC 1812 5.2.7.1)
  source_refused,
  port_unreachable,  // on the router's own addresses, if there is no kernel to report it
};

// clang-format off
#define SURETY_ICMP_ERROR_RESULTS(X)                                                               \
  X(time_exceeded, "TTL or hop limit used up: reported to the sender")                              \
  X(too_big,       "larger than the egress MTU: reported to the sender, with the MTU")              \
  X(host_unreachable, "next hop without an answer, or an unreachable route: reported to the sender") \
  X(net_unreachable,  "no route to the destination: reported to the sender")                        \
  X(prohibited,       "prohibited by a route or a filter: reported to the sender")                  \
  X(source_refused,   "source address not permitted at its ingress: reported to the sender")        \
  X(port_unreachable, "no listener at the router's own port: reported to the sender")               \
  X(fragmentable,  "IPv4, larger than the egress MTU, without DF: not reported")                    \
  X(not_answered,  "not reported: an ICMP error, a later fragment, or a multicast frame")           \
  X(no_address,    "not reported: the router has no source address of this family")                 \
  X(limited,       "not reported: beyond the number of errors per second")
// clang-format on
SURETY_RESULTS(IcmpErrorResult, SURETY_ICMP_ERROR_RESULTS)

// The ingress port of a packet, for its sender (RFC 5837).
struct InterfaceInformation {
  std::string_view name;  // 63 bytes at most
  std::uint32_t mtu = 0;
};

class IcmpErrors {
 public:
  static constexpr std::uint32_t kPerSecond = 1000, kAtOnce = 50;
  static constexpr std::uint32_t kLongPerSecond = 16, kLongAtOnce = 8;
  static constexpr std::size_t kLargest = 14 + 1280;  // frame
  static constexpr std::uint8_t kCs6 = 48;

  // `id`: the router's; source address where the port has none (RFC 1812 4.3.2.4).
  IcmpErrors(std::size_t ports, Time now, std::optional<IpAddress> id = {}, std::uint8_t dscp = kCs6)
      : limit_(kPerSecond, kAtOnce, ports, now),
        long_(kLongPerSecond, kLongAtOnce, ports, now),
        id_(id),
        dscp_(dscp) {}

  // Divides the limits among this many ports.
  void share_among(std::size_t ports) {
    limit_.share_among(std::max<std::size_t>(1, ports));
    long_.share_among(std::max<std::size_t>(1, ports));
  }

  // `frame` has passed parse(); its IP header is at `l3_offset`; `customer` sent it. `mtu`: the egress's, for
  // too_big. `told`: content of an extension (RFC 4884); nullptr: none. `slot` has room for kLargest; its
  // length is 0 unless a frame is to be sent.
  IcmpErrorResult report(IcmpProblem problem, std::uint16_t mtu, std::span<const std::uint8_t> frame,
                         std::size_t l3_offset, Customer customer, const MacAddress& mac,
                         const PortAddresses& addresses, Slot& slot, Time now,
                         const InterfaceInformation* told = nullptr);

  const std::array<std::uint64_t, kIcmpErrorResults>& results() const { return results_; }

 private:
  IcmpErrorResult judge(IcmpProblem problem, std::uint16_t mtu, std::span<const std::uint8_t> frame,
                        std::size_t l3_offset, Customer customer, const MacAddress& mac,
                        const PortAddresses& addresses, Slot& slot, Time now,
                        const InterfaceInformation* told);

  CustomerLimiter limit_, long_;
  std::optional<IpAddress> id_;
  std::uint8_t dscp_;
  std::array<std::uint64_t, kIcmpErrorResults> results_{};
};

}  // namespace surety
