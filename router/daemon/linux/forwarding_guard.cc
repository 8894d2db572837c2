// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/forwarding_guard.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace surety {

DivertObject::DivertObject() : program_("divert.bpf.o") {
  void* const state =
      ::mmap(nullptr, sizeof(divert_state), PROT_READ | PROT_WRITE, MAP_SHARED, program_.map("state"), 0);
  if (state == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "cannot map the state of divert.bpf.o");
  state_.reset(static_cast<divert_state*>(state));
}

void DivertObject::Unmap::operator()(divert_state* s) const {
  ::munmap(s, sizeof(*s));
}

std::uint64_t DivertObject::refused() const {
  return std::atomic_ref(state_->refused).load(std::memory_order_relaxed);
}

TcProgram::Attachment ForwardingGuard::mark(int ifindex) {
  return object_.program().attach(ifindex, BPF_TC_INGRESS, "surety_mark").first;
}

ForwardingGuard::Watched ForwardingGuard::watch(int ifindex) {
  Watched watched;
  watched.push_back(mark(ifindex));
  watched.push_back(object_.program().attach(ifindex, BPF_TC_EGRESS, "surety_refuse").first);
  return watched;
}

}  // namespace surety
