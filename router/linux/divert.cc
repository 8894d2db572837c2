// SPDX-License-Identifier: BSD-3-Clause
#include "router/linux/divert.h"

#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

#include "router/linux/tun.h"

namespace surety {
namespace {

// The kernel is to say nothing of its own there: no IPv4 without an address, no IPv6 where the MTU is below
// 1280 (RFC 8200 5). What is redirected may be larger.
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

Divert::Divert(int ifindex) : fd_(quiet_tap(tap_name(ifindex))), program_("divert.bpf.o") {
  void* const state =
      ::mmap(nullptr, sizeof(divert_state), PROT_READ | PROT_WRITE, MAP_SHARED, program_.map("state"), 0);
  if (state == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "cannot map the state of divert.bpf.o");
  state_.reset(static_cast<divert_state*>(state));
  state_->tap = ::if_nametoindex(tap_name(ifindex).c_str());
  program_.attach(ifindex, BPF_TC_EGRESS);
}

void Divert::Unmap::operator()(divert_state* s) const {
  ::munmap(s, sizeof(*s));
}

void Divert::keep(std::chrono::steady_clock::time_point until) {
  const std::chrono::nanoseconds since_boot = until.time_since_epoch();
  std::atomic_ref(state_->until).store(static_cast<__u64>(since_boot.count()), std::memory_order_relaxed);
}

std::span<const std::uint8_t> Divert::read(std::span<std::uint8_t> room) {
  return tun::read(fd_, room);
}

}  // namespace surety
