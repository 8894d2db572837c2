// SPDX-License-Identifier: BSD-3-Clause
// PCI devices and their drivers.
#pragma once

#include <string>
#include <vector>

#include "router/operate/machine/host.h"

namespace surety::machine {

inline constexpr const char* kVfio = "vfio-pci";

// "01:00.0" is short for "0000:01:00.0".
std::string full_address(const std::string& address);
fs::path pci_file(const std::string& address, const char* what);
// The kernel driver of a device; empty: none.
std::string driver_of(const Host& host, const std::string& address);
bool has_iommu(const Host& host);

// Other devices, without bridges, in the device's IOMMU group, which vfio-pci gets as a whole or not at all.
std::vector<std::string> group_companions(const Host& host, const std::string& address);

// Binds a driver until the next boot. Returns a sentence on failure, else nothing.
std::string bind_driver(const Host& host, const std::string& address, const std::string& driver);
// Binds the driver that the kernel chooses.
std::string release_driver(const Host& host, const std::string& address);
std::string release_by_hand(const std::string& address);  // release_driver() as a shell command

}  // namespace surety::machine
