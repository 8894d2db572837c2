// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/router_needs.h"

#include <linux/capability.h>
#include <rte_eal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "router/daemon/ports/port.h"
#include "router/daemon/ports/port_device.h"
#include "router/daemon/ports/process_lock.h"
#include "router/operate/observe/report.h"
#include "router/process/this_process.h"

namespace surety {

namespace {

using Kind = config::Device::Kind;

// True if the modes of the file and of its directories permit reading: root's override is a capability.
bool ours_to_read(const std::filesystem::path& file) {
  const auto lets = [](const std::filesystem::path& at, mode_t right) {
    struct stat is {};
    return ::stat(at.c_str(), &is) == 0 && ((is.st_uid == ::geteuid() && (is.st_mode & right << 6) != 0) ||
                                            (is.st_uid != ::geteuid() && (is.st_mode & right) != 0));
  };
  for (auto above = file.parent_path(); lets(above, S_IXOTH); above = above.parent_path())
    if (above == above.root_path()) return lets(file, S_IROTH);
  return false;
}

// The whole directory: an editor replaces the file by another of that name. For a link, also its target.
void read_again(const std::string& file, Needs& needs) {
  if (file.empty()) return;
  std::error_code error;
  const auto absolute = std::filesystem::absolute(file, error);
  needs.read.push_back(absolute.parent_path());
  const auto real = std::filesystem::weakly_canonical(absolute, error);
  needs.read.push_back(real.parent_path());
  if (!ours_to_read(absolute) || !ours_to_read(real)) needs.capabilities.insert(CAP_DAC_READ_SEARCH);
}

void remove_sockets(const config::Config& config, Needs& needs) {
  for (const auto& port : config.ports)
    if (port.device.kind == Kind::memif || port.device.kind == Kind::vhost)
      needs.change.push_back(std::filesystem::path(port.device.name).parent_path());
}

// A device's sockets, and the memory that AF_XDP locks in the kernel; its programs, whose pointers cannot be
// compared without CAP_PERFMON; its lock files; settings and addresses.
void open_ports(Needs& needs) {
  for (const int c : {CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF, CAP_PERFMON, CAP_IPC_LOCK})
    needs.capabilities.insert(c);
  needs.packet_sockets = true;
  for (const char* program : {"steer.bpf.o", "guard.bpf.o", "divert.bpf.o"})
    needs.read.push_back(bpf_object_path(program));
  for (const char* path : {"/proc/sys/net", "/dev/net/tun"}) needs.change.emplace_back(path);
  needs.make.push_back(ProcessLock::directory());
}

}  // namespace

Needs needs_of(const config::Config& config, const std::string& file) {
  Needs needs;
  read_again(file, needs);
  for (const std::string& other : config.other_files) read_again(other, needs);
  read_again(config.signalling.key_file, needs);
  read_again(config.metrics.password_file, needs);
  if (config.metrics.tls) {
    read_again(config.metrics.tls->cert_file, needs);
    read_again(config.metrics.tls->key_file, needs);
  }
  // Descriptors, addresses and settings of interfaces; files of the C library, libbpf and DPDK's memory.
  for (const char* path :
       {"/proc", "/sys/devices/system", "/sys/kernel/mm/hugepages", "/dev/urandom", "/dev/null"})
    needs.read.emplace_back(path);
  needs.change.emplace_back(rte_eal_get_runtime_dir());
  if (const auto report = report_directory(config); !report.empty()) needs.make.push_back(report);
  needs.change.push_back(ProcessLock::directory());
  remove_sockets(config, needs);
  if (config.router.new_ports && ::geteuid() == 0) open_ports(needs);
  if (any_device(config, [](const config::Device& d) { return DpdkPort::peer(d) != KernelPeer::none; })) {
    needs.capabilities.insert(CAP_NET_ADMIN);
    // Settings are restored; a removed TAP device is made again, with its program.
    needs.read.push_back(bpf_object_path("divert.bpf.o"));
    for (const char* path : {"/proc/sys/net", "/dev/net/tun"}) needs.change.emplace_back(path);
  }
  if (any_device(config, [](const config::Device& d) { return !DpdkPort::interface(d).empty(); }))
    needs.capabilities.insert(CAP_BPF);
  // DPDK's memory for DMA devices: locked, with its physical addresses.
  if (has_kind(config, Kind::pci)) {
    for (const int c : {CAP_IPC_LOCK, CAP_SYS_ADMIN, CAP_SYS_RAWIO}) needs.capabilities.insert(c);
    for (const char* path : {"/dev/vfio", "/sys/bus/pci", "/sys/devices/pci0000:00"})
      needs.change.emplace_back(path);
  }
  return needs;
}

}  // namespace surety
