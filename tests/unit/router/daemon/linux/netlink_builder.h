// SPDX-License-Identifier: BSD-3-Clause
// Messages of rtnetlink as the kernel sends them, for tests of the parser.
#pragma once

#include <gtest/gtest.h>
#include <linux/fib_rules.h>
#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "router/daemon/linux/netlink_message.h"
#include "tests/unit/router/daemon/linux/netlink_text.h"

namespace surety::netlink_builder {

using Octets = std::vector<std::uint8_t>;

template <class T>
Octets bytes_of(const T& value) {
  Octets out(sizeof(T));
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}
inline Octets bytes_of(const IpAddress& a) {
  return {a.data(), a.data() + a.size()};
}
inline Octets bytes_of(const char* text) {
  return {text, text + std::strlen(text) + 1};
}

inline void append(Octets& to, const Octets& what) {
  to.insert(to.end(), what.begin(), what.end());
  to.resize((to.size() + 3) & ~std::size_t{3});
}

inline Octets attribute(unsigned type, const Octets& payload) {
  Octets out =
      bytes_of(nlattr{static_cast<std::uint16_t>(4 + payload.size()), static_cast<std::uint16_t>(type)});
  append(out, payload);
  return out;
}
template <class T>
Octets attribute(unsigned type, const T& value) {
  return attribute(type, bytes_of(value));
}

template <class T>
Octets message(unsigned type, const T& fixed, std::initializer_list<Octets> attributes) {
  Octets out = bytes_of(nlmsghdr{});
  append(out, bytes_of(fixed));
  for (const auto& a : attributes) append(out, a);
  const nlmsghdr header{static_cast<std::uint32_t>(out.size()), static_cast<std::uint16_t>(type), 0, 0, 0};
  std::memcpy(out.data(), &header, sizeof(header));
  return out;
}

inline Octets hop(int ifindex, unsigned flags, const Octets& attributes) {
  Octets out = bytes_of(rtnexthop{static_cast<std::uint16_t>(sizeof(rtnexthop) + attributes.size()),
                                  static_cast<std::uint8_t>(flags), 0, ifindex});
  append(out, attributes);
  return out;
}
inline Octets operator+(Octets a, const Octets& b) {
  append(a, b);
  return a;
}

inline rtmsg ipv4_route(unsigned char length, unsigned char type = RTN_UNICAST) {
  rtmsg m{};
  m.rtm_family = AF_INET;
  m.rtm_dst_len = length;
  m.rtm_table = RT_TABLE_MAIN;
  m.rtm_type = type;
  return m;
}
inline rtmsg ipv6_route(unsigned char length, unsigned char type = RTN_UNICAST) {
  rtmsg m = ipv4_route(length, type);
  m.rtm_family = AF_INET6;
  return m;
}

inline std::string parsed(const Octets& bytes) {
  return text_of(parse_message(bytes));
}

inline const Octets kTen = attribute(RTA_DST, address("10.0.0.0"));
inline const Octets kVia = attribute(RTA_GATEWAY, address("192.0.2.1"));
inline const Octets kDev3 = attribute(RTA_OIF, 3);

}  // namespace surety::netlink_builder
