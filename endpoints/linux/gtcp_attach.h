// SPDX-License-Identifier: BSD-3-Clause
// Brings gtcp.bpf.c into the kernel, and takes it out again. It then serves every network namespace, and
// outlives the process that attached it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "endpoints/linux/gtcp_reservations.h"

struct bpf_object;

namespace surety::endpoints {

// Whether this kernel takes a congestion control from BPF; the failure says in a sentence what it lacks.
// `btf` is the kernel's description of its types.
Status check_kernel(const std::string& btf);

// Where the kernel describes its types: the environment's SURETY_GTCP_BTF, else /sys/kernel/btf/vmlinux.
std::string kernel_btf();

// The programs in the kernel, checked by its verifier,
// and their maps, which GtcpReservations::open() finds in `pins`.
class LoadedGtcp {
 public:
  // Pins the maps in a directory that is made for them; the file system of its parent is mounted if there is
  // none. Leaves nothing behind when it fails.
  static Result<LoadedGtcp> load(const std::string& pins);
  // Sockets may choose it from now on, until detach_gtcp().
  Status register_gtcp();

 private:
  struct Close {
    void operator()(bpf_object* o) const;
  };
  explicit LoadedGtcp(bpf_object* object) : object_(object) {}
  std::unique_ptr<bpf_object, Close> object_;
};

bool gtcp_attached();
// Loads, reserves and registers, or leaves all as it was.
// Needs CAP_BPF, CAP_NET_ADMIN and CAP_SYS_ADMIN (root).
Status attach_gtcp(const std::vector<Reservation>& reservations, const std::string& pins = kGtcpPins);
// Connections that use it go on with it; new ones cannot choose it.
Status detach_gtcp(const std::string& pins = kGtcpPins);

// Whether users without CAP_NET_ADMIN may choose it (net.ipv4.tcp_allowed_congestion_control),
// which ends with detach.
bool gtcp_allowed();
Status allow_gtcp();

}  // namespace surety::endpoints
