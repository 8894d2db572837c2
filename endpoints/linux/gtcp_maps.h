// SPDX-License-Identifier: BSD-3-Clause
/* What gtcp.bpf.c and its loader share: the maps and their entries. Rates are bytes of IP packets per second.
 */
#pragma once

#include <linux/types.h>

#define GTCP_NAME "gtcp"            /* of the congestion control, and of the map that registers it */
#define GTCP_CUBIC_MAP "gtcp_cubic" /* the map that registers it with CUBIC */
#define GTCP_PREFIXES_V4 "gtcp_v4"
#define GTCP_PREFIXES_V6 "gtcp_v6"
#define GTCP_SOCKETS "gtcp_sockets"
#define GTCP_TOTALS "gtcp_totals"

enum { GTCP_MAX_PREFIXES = 65536 };

struct gtcp_prefix_v4 {
  __u32 bits;
  __u8 address[4];
};

struct gtcp_prefix_v6 {
  __u32 bits;
  __u8 address[16];
};

/* What each connection to the prefix has reserved, and how many there have been since it was reserved. */
struct gtcp_reservation {
  __u64 bytes_per_second;
  __u64 connections;
};

/* A socket's own reservation, which goes before its destination's; connections accepted from it inherit it.
 */
struct gtcp_socket {
  __u64 bytes_per_second;
};

/* Since the programs were loaded. */
struct gtcp_totals {
  __u64 connections; /* that became established, or chose gtcp then */
  __u64 reserved;    /* of these: had a reservation */
  __u64 closed;
  __u64 reductions; /* of the window: losses and ECN */
  __u64 timeouts;
};
