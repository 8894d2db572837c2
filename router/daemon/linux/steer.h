// SPDX-License-Identifier: BSD-3-Clause
// The user-space side of steer.bpf.c on one af_xdp port: sets the router's own addresses, and reads the
// counts of decisions.
//
// DPDK's net_af_xdp loads and attaches the program and returns no handle to it; its maps are found through
// the interface, without a mounted bpffs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"
#include "router/daemon/linux/bpf_programs.h"
#include "router/daemon/linux/steer_decision.h"
#include "router/process/fd.h"

namespace surety {

struct SteerDecisionInfo {  // names in metrics and `surety show exceptions`
  std::string_view frame_class, result, help;
};
inline constexpr std::array<SteerDecisionInfo, STEER_DECISIONS> kSteerDecisionInfo{
    {{"transit", "data_plane", "for the data plane"},
     {"transit", "no_socket", "dropped: the data plane does not read that receive queue"},
#define X(NAME, name, rate, help) {#name, "passed", help},
     STEER_CLASS_TABLE(X)
#undef X
#define X(NAME, name, rate, help) {#name, "limited", help},
         STEER_CLASS_TABLE(X)
#undef X
    }};

using SteerStats = std::array<std::uint64_t, STEER_DECISIONS>;  // frames since the program was loaded

class Steer {
 public:
  // Opens the program attached to the interface, or run by libxdp's dispatcher there; after DPDK has set up
  // the port's receive queue. Needs CAP_BPF (root). All functions here but the paths throw
  // std::runtime_error; this one also if there is no such program or it is not ours.
  explicit Steer(int ifindex);

  // The guard of an af_packet port (guard.bpf.c), attached to the interface's ingress behind capture
  // programs. Detached with the object; after a kill it stays, so that the kernel still forwards nothing past
  // the router.
  static Steer guard(int ifindex);

  // Detaches a program of ours (`surety_...`) that a killed process has left; any other program stays.
  static void detach_leftover(int ifindex);

  // Sends frames for this address to the kernel. At most 1024 of each family. Adding twice and removing a
  // missing one are no errors.
  void add_local(const IpAddress& address);
  void remove_local(const IpAddress& address);

  // Checks the sources of packets for these addresses: packets go to the kernel if its routes lead back to
  // the source, by this interface (STEER_SOURCES_STRICT), or at all (STEER_SOURCES_LOOSE), else to the data
  // plane. `asker`: an interface that the kernel forwards from.
  void check_sources(steer_sources sources, int asker);

  // Adds a known neighbour, whose frames have limits of their own. The last 4096 seen are kept.
  void add_neighbor(const MacAddress& mac);

  SteerStats stats() const;

 private:
  struct Maps {
    Fd local_v4, local_v6, neighbors, sources, stats;
    bool complete() const { return local_v4 && local_v6 && neighbors && sources && stats; }
  };
  Steer() = default;
  static Maps open_maps(std::uint32_t program_id);

  Maps maps_;
  TcProgram::Attachment guard_;
};

// Path of steer.bpf.o, for `xdp_prog=`: the environment's SURETY_STEER_OBJECT, else as by bpf_object_path().
std::string steer_object_path();

}  // namespace surety
