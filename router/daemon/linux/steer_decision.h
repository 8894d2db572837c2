// SPDX-License-Identifier: BSD-3-Clause
// Decisions of the XDP program or the guard for a frame: the keys of the map steer_stats. In C, as the
// programs.
#pragma once

// Classes of frames for the kernel, and the most frames per second that a port passes to it from known
// neighbours, and as many from all others: many times the normal load of a network. ARP, neighbour discovery:
// a thousand hosts that return after a power failure are served within the second. Routing: 120 Mbit/s of
// full segments, a full table within seconds. DHCP: two exchanges of 250 clients. ICMP, which the kernel
// answers: for operators and monitoring. The router's own addresses: 240 Mbit/s of full segments. Multicast
// has its protocol's class, if there is one.
// clang-format off
#define STEER_CLASS_TABLE(X)                                                   \
  X(ARP,     arp,      2000, "ARP")                                            \
  X(ND,      nd,       1000, "neighbor and router discovery")                  \
  X(ROUTING, routing, 10000, "OSPF, IS-IS, BGP, BFD, VRRP")                    \
  X(DHCP,    dhcp,     1000, "DHCP and DHCPv6")                                \
  X(ICMP,    icmp,     1000, "ICMP for the router")                            \
  X(LOCAL,   local,   20000, "other packets for the router's addresses")       \
  X(GROUP,   group,    1000, "other multicast and broadcast")                  \
  X(OTHER,   other,     500, "neither IP nor ARP")
// clang-format on

enum steer_class {
#define X(NAME, name, rate, help) STEER_##NAME,
  STEER_CLASS_TABLE(X)
#undef X
      STEER_CLASSES,
};

// Source check of packets for the router's addresses (RFC 3704), by the kernel's routes.
enum steer_sources { STEER_SOURCES_ANY, STEER_SOURCES_LOOSE, STEER_SOURCES_STRICT };
struct steer_source_check {
  unsigned int sources;  // enum steer_sources
  unsigned int asker;    // interface that the kernel forwards from: the lookup is made as if from there
};

enum steer_decision {
  STEER_TRANSIT,    // the data plane's
  STEER_NO_SOCKET,  // transit, dropped: no socket on that receive queue
  STEER_PASSED,     // plus the class: passed to the kernel
  STEER_LIMITED =
      STEER_PASSED + STEER_CLASSES,  // plus the class: dropped, above the limit of the class or its part
  STEER_DECISIONS = STEER_LIMITED + STEER_CLASSES,
};
