// SPDX-License-Identifier: BSD-3-Clause
// BPF programs: ours in the kernel's traffic control, and those that this process has open.
#pragma once

#include <bpf/libbpf.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "router/process/fd.h"

namespace surety {

// A BPF program of ours in the kernel's traffic control (`clsact`) of an interface.
//
// The program stays attached after a kill, until the next router replaces it. Its decisions must be right
// without a running router.
class TcProgram {
 public:
  // Loads the programs of `file` (bpf_object_path()), and attaches none yet. Needs CAP_BPF. Throws
  // std::runtime_error, as all here.
  explicit TcProgram(std::string_view file);

  struct Detach {
    void operator()(const bpf_tc_hook* hook) const;
  };
  using Attachment = std::unique_ptr<const bpf_tc_hook, Detach>;

  // Runs the program of that name on incoming (BPF_TC_INGRESS) or outgoing (BPF_TC_EGRESS) frames, while the
  // attachment exists. Replaces an attached program of ours. `clsact` is removed with our last program, if we
  // have added it and it has no other filter. Returns the program's id, too. Needs CAP_NET_ADMIN.
  std::pair<Attachment, std::uint32_t> attach(int ifindex, bpf_tc_attach_point point, const char* name);

  int map(const char* name) const;  // descriptor of the map, closed with this object

 private:
  struct Close {
    void operator()(bpf_object* o) const { bpf_object__close(o); }
  };
  std::string_view file_;
  std::unique_ptr<bpf_object, Close> object_;
};

// A BPF program, map or type that this process has open, from /proc/self/fd.
//
// DPDK's net_af_xdp does not return its descriptors, and leaks them when it closes the device; the kernel
// opens none by number without CAP_SYS_ADMIN.
struct BpfDescriptor {
  enum class Kind : std::uint8_t { program, map, types };
  int fd;
  Kind kind;
  std::uint32_t id;  // the kernel's number, unique while it is open
  friend auto operator<=>(const BpfDescriptor&, const BpfDescriptor&) = default;
};

std::vector<BpfDescriptor> open_bpf();  // in the order of fd
// A duplicate of the descriptor with this number; empty: there is none.
Fd our_own(BpfDescriptor::Kind kind, std::uint32_t id);

// Finds descriptors opened since its construction.
class BpfWatch {
 public:
  BpfWatch() : before_(open_bpf()) {}
  std::vector<BpfDescriptor> appeared() const;

 private:
  std::vector<BpfDescriptor> before_;
};

// Closes the descriptors that still have the same number.
void close_bpf(const std::vector<BpfDescriptor>& descriptors);

}  // namespace surety
