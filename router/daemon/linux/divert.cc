// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/divert.h"

#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

#include "router/daemon/linux/kernel_devices.h"

namespace surety {
namespace {

// Prevents frames of the kernel itself on the device: no IPv4 without an address, no IPv6 with an MTU below
// 1280 (RFC 8200 5). Redirected frames may be larger.
constexpr int kTooSmallForIpv6 = 1279;

std::string tap_name(int ifindex) {
  return "surety-out" + std::to_string(ifindex);
}

Fd quiet_tap(const std::string& name) {
  Fd fd = tun::make(name, IFF_TAP);
  ifreq request = tun::request_for(name);
  request.ifr_mtu = kTooSmallForIpv6;
  tun::configure(SIOCSIFMTU, request, "give " + name + " its MTU");
  tun::bring_up(name);
  return fd;
}

}  // namespace

Divert::Divert(int ifindex) : fd_(quiet_tap(tap_name(ifindex))) {
  object_.state().tap = ::if_nametoindex(tap_name(ifindex).c_str());
  attached_ = object_.program().attach(ifindex, BPF_TC_EGRESS, "surety_divert").first;
}

void Divert::keep(std::chrono::steady_clock::time_point until) {
  const std::chrono::nanoseconds since_boot = until.time_since_epoch();
  std::atomic_ref(object_.state().until)
      .store(static_cast<__u64>(since_boot.count()), std::memory_order_relaxed);
}

std::span<const std::uint8_t> Divert::read(std::span<std::uint8_t> room) {
  return tun::read(fd_, room);
}

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
