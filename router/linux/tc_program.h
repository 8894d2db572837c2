// SPDX-License-Identifier: BSD-3-Clause
// A BPF program of ours where the kernel's traffic control (`clsact`) sees the frames of an interface.
//
// It stays where the process is killed: the next router replaces it. Whatever it says must be right without
// us.
#pragma once

#include <bpf/libbpf.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "router/process/fd.h"

namespace surety {

class TcProgram {
 public:
  // Loads the programs of `file` (bpf_object_path()), and attaches none yet. Needs CAP_BPF. Throws
  // std::runtime_error, as all here.
  explicit TcProgram(std::string_view file);

  struct Detach {
    void operator()(const bpf_tc_hook* hook) const;
  };
  using Attachment = std::unique_ptr<const bpf_tc_hook, Detach>;

  // Frames that come in (BPF_TC_INGRESS) or go out (BPF_TC_EGRESS) by it meet the program of that name, as
  // long as the attachment lives. In place of one of ours that is there. `clsact` goes with the last of ours,
  // if we have made it and nobody else has a filter there. Returns the program's id, too. Needs
  // CAP_NET_ADMIN.
  std::pair<Attachment, std::uint32_t> attach(int ifindex, bpf_tc_attach_point point, const char* name);

  int map(const char* name) const;  // its descriptor, which goes with this object

 private:
  struct Close {
    void operator()(bpf_object* o) const { bpf_object__close(o); }
  };
  std::string_view file_;
  std::unique_ptr<bpf_object, Close> object_;
};

}  // namespace surety
