// SPDX-License-Identifier: BSD-3-Clause
// /etc/surety/machine.yaml: the resources that setup has given to the router, for each boot.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "router/operate/machine/host.h"

namespace surety::machine {

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

}  // namespace surety::machine
