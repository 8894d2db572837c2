// SPDX-License-Identifier: BSD-3-Clause
// What the XDP program or the guard decided for a frame: the keys of its map steer_stats. C, because the
// programs are.
#pragma once

// What is for the kernel, and how many of it a second are the most that a port may bring it from neighbours
// that are known, and as many from all others: many times what a network at peace needs. ARP, neighbour
// discovery: a thousand hosts that come back after a power failure are served within the second. Routing:
// 120 Mbit/s of full segments, a full table within seconds. DHCP: two exchanges of 250 clients. ICMP, which
// the kernel answers: for people and their monitors. The router's own addresses: 240 Mbit/s of full segments.
// The class of what comes by multicast is its protocol's, where it has one here.
// clang-format off
#define STEER_CLASS_TABLE(X)                                                   \
  X(ARP,     arp,      2000, "ARP")                                            \
  X(ND,      nd,       1000, "neighbour and router discovery")                 \
  X(ROUTING, routing, 10000, "OSPF, IS-IS, BGP, BFD")                          \
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

// How the sources of packets for the router's addresses are checked (RFC 3704), by the kernel's routes.
enum steer_sources { STEER_SOURCES_ANY, STEER_SOURCES_LOOSE, STEER_SOURCES_STRICT };
struct steer_source_check {
  unsigned int sources;  // enum steer_sources
  unsigned int asker;    // interface that the kernel forwards from: the lookup is made as if from there
};

enum steer_decision {
  STEER_TRANSIT,    // the data plane's
  STEER_NO_SOCKET,  // would have been, but nobody listens on that receive queue: dropped
  STEER_PASSED,     // and the class: left to the kernel
  STEER_LIMITED =
      STEER_PASSED + STEER_CLASSES,  // and the class: dropped, more than the class or its part has
  STEER_DECISIONS = STEER_LIMITED + STEER_CLASSES,
};
