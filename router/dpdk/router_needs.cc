// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/router_needs.h"

#include <linux/capability.h>
#include <rte_eal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "router/dpdk/ports/port.h"
#include "router/dpdk/ports/process_lock.h"
#include "router/observe/report.h"
#include "router/process/bpf_object_path.h"

namespace surety {

namespace {

using Kind = config::Device::Kind;

bool any(const config::Config& config, bool (*holds)(const config::Device&)) {
  return std::ranges::any_of(config.ports, [&](const config::Port& p) { return holds(p.device); });
}

// Whether the file's modes let us read it, and pass the directories above it: root's rule over them is a
// capability.
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

// With all that is in its directory: what an editor writes anew is another file of that name. Where it is a
// link, also what it points at.
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

// A device's sockets, and the memory that AF_XDP has the kernel lock; its programs, whose pointers the kernel
// lets nobody compare without CAP_PERFMON; what says that it is this router's; settings and addresses.
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
  // Descriptors, addresses, settings of interfaces; what the C library, libbpf and DPDK's memory look at.
  for (const char* path :
       {"/proc", "/sys/devices/system", "/sys/kernel/mm/hugepages", "/dev/urandom", "/dev/null"})
    needs.read.emplace_back(path);
  needs.change.emplace_back(rte_eal_get_runtime_dir());
  if (const auto report = report_directory(config); !report.empty()) needs.make.push_back(report);
  needs.change.push_back(ProcessLock::directory());
  remove_sockets(config, needs);
  if (config.router.new_ports && ::geteuid() == 0) open_ports(needs);
  if (any(config, [](const config::Device& d) { return DpdkPort::peer(d) != KernelPeer::none; })) {
    needs.capabilities.insert(CAP_NET_ADMIN);
    // Settings are given back; a TAP device that somebody has removed is made anew, with its program.
    needs.read.push_back(bpf_object_path("divert.bpf.o"));
    for (const char* path : {"/proc/sys/net", "/dev/net/tun"}) needs.change.emplace_back(path);
  }
  if (any(config, [](const config::Device& d) { return !DpdkPort::interface(d).empty(); }))
    needs.capabilities.insert(CAP_BPF);
  // DPDK's memory for devices that reach into it: locked, and its place in the machine's looked up.
  if (any(config, [](const config::Device& d) { return d.kind == Kind::pci; })) {
    for (const int c : {CAP_IPC_LOCK, CAP_SYS_ADMIN, CAP_SYS_RAWIO}) needs.capabilities.insert(c);
    for (const char* path : {"/dev/vfio", "/sys/bus/pci", "/sys/devices/pci0000:00"})
      needs.change.emplace_back(path);
  }
  return needs;
}

}  // namespace surety
