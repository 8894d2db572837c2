// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/steer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include <cerrno>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "router/daemon/linux/bpf_programs.h"
#include "router/process/this_process.h"

namespace surety {
namespace {

// Opens the kernel's program, or else duplicates our own descriptor.
Fd open_program(std::uint32_t id) {
  Fd program(bpf_prog_get_fd_by_id(id));
  return program ? std::move(program) : our_own(BpfDescriptor::Kind::program, id);
}
Fd open_map(std::uint32_t id) {
  Fd map(bpf_map_get_fd_by_id(id));
  return map ? std::move(map) : our_own(BpfDescriptor::Kind::map, id);
}

std::string program_name(std::uint32_t id) {
  const Fd program = open_program(id);
  bpf_prog_info info{};
  std::uint32_t size = sizeof(info);
  if (!program || bpf_obj_get_info_by_fd(program.get(), &info, &size) != 0) return {};
  return info.name;
}

std::vector<std::uint32_t> map_ids(const Fd& program) {
  bpf_prog_info info{};
  std::uint32_t size = sizeof(info);
  if (bpf_obj_get_info_by_fd(program.get(), &info, &size) != 0) return {};
  std::vector<std::uint32_t> ids(info.nr_map_ids);
  info = {};
  info.nr_map_ids = static_cast<std::uint32_t>(ids.size());
  info.map_ids = reinterpret_cast<std::uintptr_t>(ids.data());
  size = sizeof(info);
  if (bpf_obj_get_info_by_fd(program.get(), &info, &size) != 0) return {};
  return ids;
}

// The programs that libxdp's dispatcher calls: each replaces one of its functions,
// and the link that does so names both.
std::vector<std::uint32_t> programs_behind(std::uint32_t dispatcher) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t id = 0; bpf_link_get_next_id(id, &id) == 0;) {
    const Fd link(bpf_link_get_fd_by_id(id));
    bpf_link_info info{};
    std::uint32_t size = sizeof(info);
    if (!link || bpf_obj_get_info_by_fd(link.get(), &info, &size) != 0) continue;
    if (info.type == BPF_LINK_TYPE_TRACING && info.tracing.target_obj_id == dispatcher)
      found.push_back(info.prog_id);
  }
  return found;
}

}  // namespace

Steer::Maps Steer::open_maps(std::uint32_t program_id) {
  Maps maps;
  const Fd program = open_program(program_id);
  if (!program) return maps;
  for (const std::uint32_t id : map_ids(program)) {
    Fd map = open_map(id);
    bpf_map_info info{};
    std::uint32_t size = sizeof(info);
    if (!map || bpf_obj_get_info_by_fd(map.get(), &info, &size) != 0) continue;
    const std::string_view name = info.name;
    if (name == "local_v4" && info.key_size == 4) {
      maps.local_v4 = std::move(map);
    } else if (name == "local_v6" && info.key_size == 16) {
      maps.local_v6 = std::move(map);
    } else if (name == "neighbors" && info.key_size == 8) {
      maps.neighbors = std::move(map);
    } else if (name == "source_check" && info.value_size == sizeof(steer_source_check)) {
      maps.sources = std::move(map);
    } else if (name == "steer_stats" && info.max_entries == STEER_DECISIONS) {
      maps.stats = std::move(map);
    }
  }
  return maps;
}

Steer::Steer(int ifindex) {
  const std::string where = "interface " + std::to_string(ifindex);
  std::uint32_t id = 0;
  // libbpf 1.1 returns no program for an interface that does not exist.
  if (const int error = bpf_xdp_query_id(ifindex, 0, &id); error != 0 && error != -ENODEV)
    throw std::system_error(-error, std::generic_category(), "cannot find the XDP program of " + where);
  if (id == 0) throw std::runtime_error(where + " has no XDP program");
  const std::string name = program_name(id);
  if (name.empty())
    throw std::system_error(errno, std::generic_category(), "cannot read the XDP program of " + where);
  std::vector<std::uint32_t> candidates{id};
  if (name == "xdp_dispatcher") candidates = programs_behind(id);
  for (const std::uint32_t candidate : candidates) {
    maps_ = open_maps(candidate);
    if (maps_.complete()) return;
  }
  throw std::runtime_error("the XDP program of " + where + " (" + name +
                           ") is not Surety's, or its maps cannot be opened");
}

Steer Steer::guard(int ifindex) {
  Steer steer;
  TcProgram program("guard.bpf.o");
  auto [attached, id] = program.attach(ifindex, BPF_TC_INGRESS, "surety_guard");
  steer.guard_ = std::move(attached);
  steer.maps_ = open_maps(id);
  if (!steer.maps_.complete()) throw std::runtime_error("cannot open the maps of guard.bpf.o");
  return steer;
}

void Steer::detach_leftover(int ifindex) {
  std::uint32_t id = 0;
  if (bpf_xdp_query_id(ifindex, 0, &id) != 0 || id == 0 || !program_name(id).starts_with("surety_")) return;
  if (const int error = bpf_xdp_detach(ifindex, 0, nullptr); error != 0)
    throw std::system_error(-error, std::generic_category(),
                            "cannot detach the XDP program of a router that was killed");
}

void Steer::add_local(const IpAddress& address) {
  const std::uint8_t present = 1;
  const Fd& map = address.is_v6() ? maps_.local_v6 : maps_.local_v4;
  if (const int error = bpf_map_update_elem(map.get(), address.data(), &present, BPF_ANY); error != 0)
    throw std::system_error(-error, std::generic_category(), "cannot assign an address to the kernel");
}

void Steer::remove_local(const IpAddress& address) {
  const Fd& map = address.is_v6() ? maps_.local_v6 : maps_.local_v4;
  if (const int error = bpf_map_delete_elem(map.get(), address.data()); error != 0 && error != -ENOENT)
    throw std::system_error(-error, std::generic_category(), "cannot remove an address from the kernel");
}

void Steer::check_sources(steer_sources sources, int asker) {
  const std::uint32_t only = 0;
  const steer_source_check check{sources, static_cast<unsigned>(asker)};
  if (const int error = bpf_map_update_elem(maps_.sources.get(), &only, &check, BPF_ANY); error != 0)
    throw std::system_error(-error, std::generic_category(),
                            "cannot check the sources of packets for the kernel");
}

void Steer::add_neighbor(const MacAddress& mac) {
  const std::uint64_t key =
      std::accumulate(mac.begin(), mac.end(), std::uint64_t{0}, [](auto k, auto b) { return k << 8 | b; });
  const std::uint8_t present = 1;
  if (const int error = bpf_map_update_elem(maps_.neighbors.get(), &key, &present, BPF_ANY); error != 0)
    throw std::system_error(-error, std::generic_category(), "cannot reserve an entry for a neighbor");
}

SteerStats Steer::stats() const {
  const int cpus = libbpf_num_possible_cpus();
  if (cpus < 0) throw std::system_error(-cpus, std::generic_category(), "cannot count the CPUs");
  std::vector<std::uint64_t> per_cpu(static_cast<std::size_t>(cpus));
  SteerStats sums{};
  for (std::uint32_t decision = 0; decision < STEER_DECISIONS; ++decision) {
    if (const int error = bpf_map_lookup_elem(maps_.stats.get(), &decision, per_cpu.data()); error != 0)
      throw std::system_error(-error, std::generic_category(), "cannot read the counters of the XDP program");
    sums[decision] = std::accumulate(per_cpu.begin(), per_cpu.end(), std::uint64_t{0});
  }
  return sums;
}

std::string steer_object_path() {
  // getenv races only with setenv, which this program does not call.
  if (const char* given = std::getenv("SURETY_STEER_OBJECT"); given != nullptr && *given != '\0')
    return given;
  return bpf_object_path("steer.bpf.o");
}

}  // namespace surety
