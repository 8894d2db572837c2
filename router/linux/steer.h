// SPDX-License-Identifier: BSD-3-Clause
// The user-space side of steer.bpf.c on one af_xdp port: which addresses are the router's
// own, and what was decided.
//
// DPDK's net_af_xdp loads and attaches the program and gives no handle to it; its maps are found through the
// interface. That needs no mounted bpffs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "config/config.h"
#include "router/linux/steer_decision.h"
#include "router/process/fd.h"

namespace surety {

inline constexpr std::array<std::string_view, STEER_DECISIONS> kSteerDecisionNames{
    "transit", "no_socket", "non_ip", "arp", "multicast", "local", "link_local"};

using SteerStats = std::array<std::uint64_t, STEER_DECISIONS>;  // frames since the program was loaded

class Steer {
 public:
  // The program attached to the interface, or run by libxdp's dispatcher there; after DPDK has set up the
  // port's receive queue. Needs CAP_BPF (root). All here but the paths throw std::runtime_error; this one
  // also if there is none or it is not ours.
  explicit Steer(int ifindex);

  // The guard of an af_packet port (guard.bpf.c), attached to the interface's ingress behind what captures
  // there; goes with the object, and stays where the process is killed: then, too, the kernel forwards
  // nothing past the router.
  static Steer guard(int ifindex);

  // Detaches a program of ours (`surety_...`) where a process that was killed has left it
  // attached; any other program stays.
  static void detach_leftover(int ifindex);

  // Frames for this address go to the kernel. At most 1024 of each family. Adding twice and removing what is
  // not there are no errors.
  void add_local(const IpAddress& address);
  void remove_local(const IpAddress& address);

  SteerStats stats() const;

 private:
  struct Maps {
    Fd local_v4, local_v6, stats;
    bool complete() const { return local_v4 && local_v6 && stats; }
  };
  struct Detach {
    void operator()(const int* ifindex) const;
  };
  Steer() = default;
  static Maps open_maps(std::uint32_t program_id);

  Maps maps_;
  std::unique_ptr<const int, Detach> guarded_;  // the interface whose guard is ours
};

// Where a compiled XDP program is, for `xdp_prog=`: beside the running executable, else in ../lib/surety/
// from there. Empty: nowhere.
std::string xdp_object_path(std::string_view file);
// Where steer.bpf.o is: what the environment's SURETY_STEER_OBJECT names, else as xdp_object_path() finds it.
std::string steer_object_path();
std::string guard_object_path();  // the same of guard.bpf.o

}  // namespace surety
