// SPDX-License-Identifier: BSD-3-Clause
// The machine's NICs, and the current use of each.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "router/operate/machine/host.h"
#include "router/operate/machine/resources.h"

namespace surety::machine {

struct Nic {
  std::string name;    // name of its Linux interface; empty: it has none (vfio-pci)
  std::string pci;     // address; empty: not on that bus
  std::string driver;  // kernel driver; empty: none, or a virtual one
  std::string mac;
  std::optional<long long> mbit;  // speed of the link
  bool carrier = false;
  int numa = -1;  // -1: the machine has one node
  unsigned rx_queues = 1;
  std::vector<std::string> addresses;  // with length, without link-local ones
  std::vector<std::string> uses;  // e.g. "address 192.0.2.1/24", "member of bond0", "/etc/network/interfaces"
  // Why it must not be taken: it is the operator's way to the machine. Empty: it may be taken.
  std::string kept;

  bool is_free() const { return kept.empty() && uses.empty(); }
};

// Interfaces that are NICs (or one end of a veth): no bridges, bonds, VLANs, TUN or dummy devices, whatever
// is below these; then PCI NICs without an interface. In the order of /sys. Needs iproute2. `ssh_connection`:
// SSH_CONNECTION of the calling process; that of its ancestors is read, too, since sudo removes it. Throws
// std::runtime_error if `ip` does not report the machine's routes: no NIC may be taken then.
std::vector<Nic> find_nics(const Host& host, const std::optional<std::string>& ssh_connection);

std::string nic_table(const std::vector<Nic>& nics);

// Returns the present entries of the NICs that setup has taken, by their numbers in the file; nullptr: it is
// missing. The MAC address decides, since PCI addresses change with the cards and names with the kernel's
// order; among NICs with one MAC address the place. A NIC without an interface has no MAC address: its PCI
// address decides.
std::vector<const Nic*> present_entries(const std::vector<Nic>& nics, const MachineFile& machine);

// Interfaces of the default route, or of the way to a user connected by SSH; with those below them (members
// of a bond, the device of a VLAN), and for a tunnel each interface that has a gateway. Each with the reason.
struct Kept {
  std::string interface, why;
};
std::vector<Kept> kept_interfaces(const Host& host, const std::optional<std::string>& ssh_connection);

// Interfaces that are one end of a veth pair. Throws as find_nics() does.
std::set<std::string> veths_of(const Host& host);
bool is_nic(const Host& host, const std::set<std::string>& veths, const std::string& interface);

}  // namespace surety::machine
