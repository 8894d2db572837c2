// SPDX-License-Identifier: BSD-3-Clause
// The reservations of the attached congestion control `gtcp` (gtcp.bpf.c): BPF maps, pinned where every
// process that may use them finds them. Errors are std::runtime_error, one sentence with the fix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conditioners/units.h"
#include "config/config.h"
#include "router/process/fd.h"

namespace surety::endpoints {

inline constexpr const char* kGtcpPins = "/sys/fs/bpf/surety-gtcp";

// Reserved rate of each connection to these destinations.
struct Reservation {
  Prefix to;
  Rate rate;                      // IP bytes, in whole bytes per second (rounded up)
  std::uint64_t connections = 0;  // connections with this reservation since then

  friend bool operator==(const Reservation&, const Reservation&) = default;
};

struct GtcpTotals {  // since gtcp was attached
  std::uint64_t connections = 0;
  std::uint64_t reserved = 0;  // connections that had a reservation
  std::uint64_t closed = 0;
  std::uint64_t reductions = 0;
  std::uint64_t timeouts = 0;
};

class GtcpReservations {
 public:
  // The maps pinned in this directory.
  // Needs CAP_BPF, or the files' permission where the kernel lets users use BPF.
  explicit GtcpReservations(const std::string& pins = kGtcpPins);

  // Reserves `rate` for every connection to the prefix (its host bits do not matter); existing ones use it
  // from their next loss on. The longest of nested prefixes counts; a rate of 0 excepts destinations from a
  // shorter one. At most 65536 of each family.
  void reserve(const Prefix& to, Rate rate);
  // Throws if nothing is reserved for just this prefix.
  void release(const Prefix& to);
  // For this socket alone, whatever its destination; a listening socket's connections inherit it.
  void reserve(int socket, Rate rate);

  std::vector<Reservation> reservations() const;  // IPv4 first, shortest prefix first
  GtcpTotals totals() const;

 private:
  Fd v4_, v6_, sockets_, totals_;
};

// A descriptor of our own for one of another process (Linux 5.6; needs the right to trace it). Throws unless
// it is a TCP socket.
Fd socket_of(int pid, int descriptor);

// The socket's congestion control is gtcp afterwards, also in the middle of a connection.
void choose_gtcp(int socket);

// `surety-gtcp status`: what the operator sees of the attached congestion control.
struct GtcpStatus {
  bool attached = false;
  bool allowed = false;  // to users without CAP_NET_ADMIN
  std::vector<Reservation> reservations;
  GtcpTotals totals;
};

std::string status_text(const GtcpStatus& status);
std::string status_json(const GtcpStatus& status);  // one line; rates in bit/s

}  // namespace surety::endpoints
