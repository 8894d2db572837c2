// SPDX-License-Identifier: BSD-3-Clause
// A tree that stands for a machine (router/operate/machine/host.h), which goes with the test.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "router/operate/machine/host.h"

namespace surety::machine {

class FakeMachine {
 public:
  // eth0 has the default route; eth1 and eth2 are free. One node, two cores, no IOMMU.
  FakeMachine() {
    put("/sys/devices/system/cpu/online", "0-1\n");
    put("/sys/devices/system/node/node0/cpulist", "0-1\n");
    memory(0, 16'000'000);
    hugepages(0, 0);
    nic("eth0", "0000:00:03.0", "02:00:00:00:00:00", "virtio_net");
    nic("eth1", "0000:01:00.0", "02:00:00:00:00:01", "ixgbe");
    nic("eth2", "0000:02:00.0", "02:00:00:00:00:02", "ixgbe");
    routes(R"([{"dst": "default", "gateway": "192.0.2.1", "dev": "eth0"}])");
    answer("ip_-j_-6_route_show_table_all", "[]");
    answer("ip_-j_link_show_type_veth", "[]");
    addresses(
        R"([{"ifname": "eth0", "addr_info": [{"local": "192.0.2.2", "prefixlen": 24, "scope": "global"}]}])");
  }
  ~FakeMachine() { fs::remove_all(root_); }
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;

  Host host() const { return Host(root_); }
  const fs::path& root() const { return root_; }

  void put(const fs::path& path, const std::string& text) {
    fs::create_directories(real(path).parent_path());
    std::ofstream(real(path)) << text;
  }
  void link(const fs::path& path, const fs::path& target) {
    fs::create_directories(real(path).parent_path());
    fs::remove(real(path));
    fs::create_symlink(target, real(path));
  }
  void remove(const fs::path& path) { fs::remove_all(real(path)); }
  std::string text(const fs::path& path) const {
    std::ostringstream all;
    all << std::ifstream(real(path)).rdbuf();
    return all.str();
  }
  void answer(const std::string& words, const std::string& text) { put("/commands/" + words, text); }
  std::string commands() const { return text("/commands/log"); }

  void routes(const std::string& json) { answer("ip_-j_-4_route_show_table_all", json); }
  void addresses(const std::string& json) { answer("ip_-j_address_show", json); }
  void way_to(const std::string& peer, const std::string& device) {
    answer("ip_-j_route_get_" + peer, "[{\"dst\": \"" + peer + "\", \"dev\": \"" + device + "\"}]");
  }
  void interface(const std::string& name, const std::string& mac, int type = 1) {
    const fs::path at = "/sys/class/net/" + name;
    put(at / "type", std::to_string(type));
    put(at / "address", mac + "\n");
    put(at / "flags", "0x1003\n");
    put(at / "carrier", "1\n");
    put(at / "speed", "10000\n");
    put(at / "queues/rx-0/rps_cpus", "0");
  }
  void below(const std::string& upper, const std::string& lower) {
    put("/sys/class/net/" + upper + "/lower_" + lower, "");
    put("/sys/class/net/" + lower + "/upper_" + upper, "");
  }
  void driver(const std::string& pci, const std::string& name) {
    put("/sys/bus/pci/drivers/" + name + "/bind", "");
    link("/sys/bus/pci/devices/" + pci + "/driver", "/sys/bus/pci/drivers/" + name);
  }
  void nic(const std::string& name, const std::string& pci, const std::string& mac,
           const std::string& driven_by) {
    const fs::path at = "/sys/bus/pci/devices/" + pci;
    put(at / "class", "0x020000\n");
    put(at / "numa_node", "-1\n");
    put(at / "driver_override", "(null)\n");
    link(at / "subsystem", "/sys/bus/pci");
    driver(pci, driven_by);
    put("/sys/bus/pci/drivers_probe", "");
    interface(name, mac);
    link("/sys/class/net/" + name + "/device", at);
  }
  void memory(int node, long long free_kilobytes) {
    const std::string n = std::to_string(node);
    put("/sys/devices/system/node/node" + n + "/meminfo",
        "Node " + n + " MemFree: " + std::to_string(free_kilobytes) + " kB\n");
  }
  void hugepages(int node, int pages) {
    put("/sys/devices/system/node/node" + std::to_string(node) + "/hugepages/hugepages-2048kB/nr_hugepages",
        std::to_string(pages) + "\n");
  }
  std::string hugepages(int node) const {
    return text("/sys/devices/system/node/node" + std::to_string(node) +
                "/hugepages/hugepages-2048kB/nr_hugepages");
  }

 private:
  fs::path real(const fs::path& path) const { return root_ / path.relative_path(); }
  static fs::path made() {
    std::string name = (fs::temp_directory_path() / "machine-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no directory for a test");
    return name;
  }
  fs::path root_ = made();
};

}  // namespace surety::machine
