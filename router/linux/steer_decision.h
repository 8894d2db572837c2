// SPDX-License-Identifier: BSD-3-Clause
// What the XDP program decided for a frame: the keys of its map steer_stats. C, because the program is.
#pragma once

enum steer_decision {
  STEER_TRANSIT,    // redirected to the data plane
  STEER_NO_SOCKET,  // would have been, but nobody listens on that receive queue: dropped
  STEER_NON_IP,  // ARP apart: LLDP, slow protocols, more than two VLAN tags, ... Left to the kernel, as are
                 // all below
  STEER_ARP,
  STEER_MULTICAST,   // multicast or broadcast destination MAC
  STEER_LOCAL,       // for one of the router's own addresses
  STEER_LINK_LOCAL,  // IPv6 link-local source or destination
  STEER_DECISIONS,
};
