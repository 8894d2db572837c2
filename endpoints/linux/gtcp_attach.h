// SPDX-License-Identifier: BSD-3-Clause
// Brings gtcp.bpf.c into the kernel, and takes it out again. It then serves every network namespace, and
// outlives the process that attached it. Errors are std::runtime_error, one sentence with the fix.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "endpoints/linux/gtcp_reservations.h"

namespace surety::endpoints {

// gtcp.bpf.c compiled, as part of the program: an ELF object in memory.

std::span<const std::byte> gtcp_object();

}  // namespace surety::endpoints

struct bpf_object;

namespace surety::endpoints {

// Throws unless this kernel takes a congestion control from BPF. `btf` is the kernel's description of its
// types.
void check_kernel(const std::string& btf);

// The file with the kernel's types: the environment's SURETY_GTCP_BTF, else /sys/kernel/btf/vmlinux.
std::string kernel_btf();

// The programs in the kernel, checked by its verifier, and their maps, which GtcpReservations finds in
// `pins`.
class LoadedGtcp {
 public:
  // Pins the maps in a directory that is made for them; the file system of its parent is mounted if there is
  // none. Leaves nothing behind when it throws.
  explicit LoadedGtcp(const std::string& pins);
  // Sockets may choose it from now on, until detach_gtcp(). `cubic`: the best-effort part follows CUBIC.
  void register_gtcp(bool cubic = false);

 private:
  struct Close {
    void operator()(bpf_object* o) const;
  };
  std::unique_ptr<bpf_object, Close> object_;
};

bool gtcp_attached();
// Loads, reserves and registers, or leaves all as it was.
// Needs CAP_BPF, CAP_NET_ADMIN and CAP_SYS_ADMIN (root).
void attach_gtcp(const std::vector<Reservation>& reservations, const std::string& pins = kGtcpPins,
                 bool cubic = false);
// Connections that use it keep it; new ones cannot choose it.
void detach_gtcp(const std::string& pins = kGtcpPins);

// True if users without CAP_NET_ADMIN may choose it (net.ipv4.tcp_allowed_congestion_control), which ends
// with detach.
bool gtcp_allowed();
void allow_gtcp();

}  // namespace surety::endpoints
