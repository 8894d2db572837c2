// SPDX-License-Identifier: BSD-3-Clause
// Resources of the machine for the router: the file that records them, PCI devices with their drivers, huge
// pages.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "router/operate/machine/host.h"

namespace surety::machine {

// /etc/surety/machine.yaml: the resources that setup has given to the router, for each boot.
inline constexpr const char* kMachineFile = "/etc/surety/machine.yaml";

struct TakenNic {
  std::string name, pci, mac;  // at the time of setup; PCI and MAC may be empty
  std::string driver;          // driver to bind; empty: it keeps the kernel's
  friend bool operator==(const TakenNic&, const TakenNic&) = default;
};

struct MachineFile {
  std::vector<TakenNic> nics;
  std::map<int, unsigned> hugepages;  // pages of 2 MB, by NUMA node
  std::vector<unsigned> isolated;     // cores
  friend bool operator==(const MachineFile&, const MachineFile&) = default;
};

std::string text_of(const MachineFile& file);
// An empty one where there is no such file. Throws std::runtime_error, one sentence, where it is no YAML of
// this form.
MachineFile read_machine_file(const Host& host);

// PCI devices and their drivers.
inline constexpr const char* kVfio = "vfio-pci";

// "01:00.0" is short for "0000:01:00.0".
std::string full_address(const std::string& address);
fs::path pci_file(const std::string& address, const char* what);
// The kernel driver of a device; empty: none.
std::string driver_of(const Host& host, const std::string& address);
bool has_iommu(const Host& host);
// A virtio device without VIRTIO_F_ACCESS_PLATFORM (virtio 1.2, section 6) bypasses the IOMMU: addresses
// of vfio-pci mean nothing to it.
bool bypasses_iommu(const Host& host, const std::string& address);

// Other devices, without bridges, in the device's IOMMU group, which vfio-pci gets as a whole or not at all.
std::vector<std::string> group_companions(const Host& host, const std::string& address);

// Binds a driver until the next boot. Returns a sentence on failure, else nothing.
std::string bind_driver(const Host& host, const std::string& address, const std::string& driver);
// Binds the driver that the kernel chooses.
std::string release_driver(const Host& host, const std::string& address);
std::string release_by_hand(const std::string& address);  // release_driver() as a shell command

// Pages of 2 MB, by NUMA node.
inline constexpr std::uint64_t kHugepageBytes = 2 << 20;

fs::path hugepages_file(int node, const char* what = "nr_hugepages");
std::vector<int> numa_nodes(const Host& host);  // at least node 0

// Shares `pages` among the nodes, with more for the first ones; at most half of a node's free pages and
// memory. The rest is left out.
std::map<int, unsigned> share_hugepages(const Host& host, unsigned pages, const std::vector<int>& nodes);

}  // namespace surety::machine
