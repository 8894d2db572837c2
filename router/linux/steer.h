// SPDX-License-Identifier: BSD-3-Clause
// The user-space side of steer.bpf.c on one af_xdp port: which addresses are the router's
// own, and what was decided.
//
// DPDK's net_af_xdp loads and attaches the program and gives no handle to it; its maps are found through the
// interface. That needs no mounted bpffs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"
#include "router/linux/steer_decision.h"
#include "router/linux/tc_program.h"
#include "router/process/fd.h"

namespace surety {

struct SteerDecisionInfo {  // as metrics and `surety show exceptions` say it
  std::string_view frame_class, result, help;
};
inline constexpr std::array<SteerDecisionInfo, STEER_DECISIONS> kSteerDecisionInfo{
    {{"transit", "data_plane", "for the data plane"},
     {"transit", "no_socket", "lost: the data plane does not listen on that receive queue"},
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

  // From now on packets for such an address are left to the kernel where its routes lead back to their
  // source: by this interface (STEER_SOURCES_STRICT), or at all (STEER_SOURCES_LOOSE). `asker`: an interface
  // that the kernel forwards from. The data plane gets the others.
  void check_sources(steer_sources sources, int asker);

  // Who is known there; the last 4096 of which anything was heard. What comes from them meets limits of its
  // own.
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

// Where steer.bpf.o is, for `xdp_prog=`: what the environment's SURETY_STEER_OBJECT names, else as
// bpf_object_path() finds it.
std::string steer_object_path();

}  // namespace surety
