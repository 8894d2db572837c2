// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/icmp_error.h"

#include <algorithm>

#include "router/wire/bytes.h"
#include "router/wire/ethernet.h"
#include "router/wire/ip_bytes.h"
#include "router/wire/ip_writer.h"

namespace surety {

using Result = IcmpErrorResult;

namespace {

constexpr std::uint8_t kIcmp = 1, kIcmp6 = 58, kCs6 = 48;
constexpr std::size_t kIcmpHeader = 8, kMost4 = 576, kMost6 = 1280;

// The packet in question.
struct Offender {
  bool v6;
  std::span<const std::uint8_t> ip;
  IpAddress source;

  explicit Offender(std::span<const std::uint8_t> from_l3) : v6(from_l3[0] >> 4 == 6) {
    const std::uint8_t* const p = from_l3.data();
    const std::size_t length = v6 ? load_be16(p + 4) + std::size_t{40} : load_be16(p + 2);
    ip = from_l3.first(std::min(length, from_l3.size()));
    source = source_of(p);
  }

  bool dont_fragment() const { return v6 || (ip[6] & 0x40) != 0; }
  bool later_fragment() const { return !v6 && (load_be16(ip.data() + 6) & 0x1fff) != 0; }
  // An ICMP message other than a query: errors are not answered with errors. Of IPv6 behind extension headers
  // it is not looked for: routers write errors without.
  bool is_icmp_error() const {
    const std::size_t header = v6 ? 40 : (ip[0] & 0xfu) * 4;
    if (ip[v6 ? 6 : 9] != (v6 ? kIcmp6 : kIcmp) || ip.size() <= header) return false;
    const std::uint8_t type = ip[header];
    if (v6) return type < 128 || type == 137;
    return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
  }
};

struct TypeAndCode {
  std::uint8_t type, code;
};
TypeAndCode type_and_code(IcmpProblem problem, bool v6) {
  switch (problem) {
    case IcmpProblem::time_exceeded:
      return v6 ? TypeAndCode{3, 0} : TypeAndCode{11, 0};
    case IcmpProblem::too_big:
      return v6 ? TypeAndCode{2, 0} : TypeAndCode{3, 4};
    default:
      return v6 ? TypeAndCode{1, 3} : TypeAndCode{3, 1};
  }
}

Result said(IcmpProblem problem) {
  if (problem == IcmpProblem::time_exceeded) return Result::time_exceeded;
  return problem == IcmpProblem::too_big ? Result::too_big : Result::unreachable;
}

// Returns the length of the IP packet.
std::size_t write(std::uint8_t* ip, IcmpProblem problem, std::uint16_t mtu, const IpAddress& own,
                  const Offender& about) {
  const IpWriter header({own, about.source}, about.v6 ? kIcmp6 : kIcmp);
  const std::size_t most = (about.v6 ? kMost6 : kMost4) - header.header_length() - kIcmpHeader;
  const auto quote = about.ip.first(std::min(about.ip.size(), most));
  const std::size_t length = kIcmpHeader + quote.size();
  header.write(ip, length, kCs6);
  std::uint8_t* const icmp = ip + header.header_length();
  const auto [type, code] = type_and_code(problem, about.v6);
  std::memset(icmp, 0, kIcmpHeader);
  icmp[0] = type;
  icmp[1] = code;
  if (problem == IcmpProblem::too_big) store(icmp + 6, swap16(mtu));  // RFC 1191 4, RFC 4443 3.2
  std::ranges::copy(quote, icmp + kIcmpHeader);
  Sum sum = about.v6 ? header.pseudo(length) : Sum{};
  sum.add({icmp, length});
  store(icmp + 2, sum.checksum_field());
  return header.header_length() + length;
}

}  // namespace

Result IcmpErrors::report(IcmpProblem problem, std::uint16_t mtu, std::span<const std::uint8_t> frame,
                          std::size_t l3_offset, Customer customer, const MacAddress& mac,
                          const PortAddresses& addresses, Slot& slot, Time now) {
  slot.length = 0;
  const Result r = judge(problem, mtu, frame, l3_offset, customer, mac, addresses, slot, now);
  ++results_[static_cast<std::size_t>(r)];
  return r;
}

Result IcmpErrors::judge(IcmpProblem problem, std::uint16_t mtu, std::span<const std::uint8_t> frame,
                         std::size_t l3_offset, Customer customer, const MacAddress& mac,
                         const PortAddresses& addresses, Slot& slot, Time now) {
  const Offender about(frame.subspan(l3_offset));
  const MacAddress to = read_mac(&frame[6]);
  const bool group = ((frame[0] | to[0]) & 1) != 0;
  if (group || about.later_fragment() || about.is_icmp_error()) return Result::not_answered;
  if (problem == IcmpProblem::too_big && !about.dont_fragment()) return Result::fragmentable;
  const auto own = addresses.source_towards(about.source);
  if (!own) return Result::no_address;
  if (!limit_.permit(customer, now)) return Result::limited;
  std::uint8_t* const ip = write_ethernet(slot.data, to, mac, about.v6 ? kIpv6Type : kIpv4Type);
  slot.length = static_cast<std::uint32_t>(kEthernetHeader + write(ip, problem, mtu, *own, about));
  return said(problem);
}

}  // namespace surety
