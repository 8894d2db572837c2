// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/parse.h"
#include "tests/unit/router/operate/machine/fake_machine.h"

namespace surety::machine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kMemory = 200 << 20;  // 100 hugepages

Plan plan(const FakeMachine& m, const SetupOptions& options = {}) {
  return make_plan(m.host(), chosen_nics(find_nics(m.host(), {}), options), options,
                   [](const config::Config&) { return kMemory; });
}

void iommu(FakeMachine& m) {
  int group = 0;
  for (const char* pci : {"0000:01:00.0", "0000:02:00.0"}) {
    const fs::path at = "/sys/kernel/iommu_groups/" + std::to_string(++group);
    m.put(at / "devices" / pci, "");
    m.link(fs::path("/sys/bus/pci/devices") / pci / "iommu_group", at);
  }
}

TEST(Plan, TakesWhatIsFree) {
  FakeMachine m;
  const Plan p = plan(m);
  EXPECT_THAT(p.devices, ElementsAre("af_xdp eth1", "af_xdp eth2"));
  EXPECT_EQ(p.machine.hugepages, (std::map<int, unsigned>{{0, 264}}));
  EXPECT_EQ(p.machine.nics[0], (TakenNic{"eth1", "0000:01:00.0", "02:00:00:00:00:01", ""}));
  EXPECT_TRUE(p.machine.isolated.empty());
}

TEST(Plan, NeverTakesTheWayToThisMachine) {
  FakeMachine m;
  SetupOptions named;
  named.ports = {"eth1", "eth0"};
  EXPECT_THROW(plan(m, named), std::runtime_error);
  named.ports = {"0000:00:03.0"};
  EXPECT_THROW(plan(m, named), std::runtime_error);
  named.ports = {"eth7"};
  EXPECT_THROW(plan(m, named), std::runtime_error);
}

TEST(Plan, AnIommuLetsVfioHaveThem) {
  FakeMachine m;
  iommu(m);
  EXPECT_THAT(plan(m).devices, ElementsAre("pci 0000:01:00.0", "pci 0000:02:00.0"));
  EXPECT_EQ(plan(m).machine.nics[0].driver, "vfio-pci");
  SetupOptions kernel;
  kernel.driver = "af_xdp";
  EXPECT_THAT(plan(m, kernel).devices, ElementsAre("af_xdp eth1", "af_xdp eth2"));
}

TEST(Plan, AGroupGoesAsAWhole) {
  FakeMachine m;
  iommu(m);
  m.put("/sys/kernel/iommu_groups/1/devices/0000:00:03.0", "");
  m.put("/sys/bus/pci/devices/0000:00:1c.0/class", "0x060400");
  m.put("/sys/kernel/iommu_groups/2/devices/0000:00:1c.0", "");
  const Plan p = plan(m);
  EXPECT_THAT(p.devices, ElementsAre("af_xdp eth1", "pci 0000:02:00.0"));
  EXPECT_THAT(p.notes.front(), HasSubstr("0000:00:03.0 is in the same IOMMU group"));
}

TEST(Plan, AGroupStaysWithTheKernelIfOneOfItsNicsDoes) {
  FakeMachine m;
  iommu(m);
  m.driver("0000:02:00.0", "8139cp");
  m.put("/sys/kernel/iommu_groups/1/devices/0000:02:00.0", "");
  const Plan p = plan(m);
  EXPECT_THAT(p.devices, ElementsAre("af_xdp eth1", "af_xdp eth2"));
  EXPECT_THAT(
      p.notes.front(),
      HasSubstr("0000:02:00.0 is in the same IOMMU group and stays with the kernel: DPDK has no driver"));
}

TEST(Plan, TakesEachNicOnceAlsoWithTheMacAddressOfAnother) {
  FakeMachine m;
  iommu(m);
  m.interface("eth2", "02:00:00:00:00:01");
  SetupOptions options;
  options.ports = {"eth1", "0000:01:00.0", "eth2"};
  EXPECT_THAT(plan(m, options).devices, ElementsAre("pci 0000:01:00.0", "pci 0000:02:00.0"));
}

TEST(Plan, WithoutAnIommuVfioIsRefused) {
  FakeMachine m;
  SetupOptions options;
  options.driver = "vfio-pci";
  EXPECT_THROW(plan(m, options), std::runtime_error);
}

// Bit 33 of a virtio device's features: it uses the IOMMU.
TEST(Plan, VirtioIsForVfioWhereItUsesTheIommu) {
  for (const auto& [features, device, note] :
       {std::tuple(std::string(33, '0') + "1", "pci 0000:01:00.0", ""),
        std::tuple(std::string(33, '1') + "0", "af_xdp eth1", "bypasses the IOMMU"),
        std::tuple(std::string(), "af_xdp eth1", "bypasses the IOMMU")}) {
    FakeMachine m;
    iommu(m);
    m.driver("0000:01:00.0", "virtio_net");
    m.put("/sys/bus/pci/devices/0000:01:00.0/virtio1/features", features + "\n");
    const Plan p = plan(m);
    EXPECT_EQ(p.devices.front(), device);
    EXPECT_THAT(p.notes.empty() ? "" : p.notes.front(), HasSubstr(note));
  }
}

TEST(Plan, Mlx5StaysBound) {
  FakeMachine m;
  m.driver("0000:01:00.0", "mlx5_core");
  EXPECT_EQ(plan(m).devices.front(), "pci 0000:01:00.0");
  EXPECT_EQ(plan(m).machine.nics.front().driver, "");
}

TEST(Plan, TakesNoMoreThanHalfOfTheMemory) {
  FakeMachine m;
  m.memory(0, 400'000);
  EXPECT_TRUE(plan(m).machine.hugepages.empty());
  m.memory(0, 800'000);
  EXPECT_EQ(plan(m).machine.hugepages.at(0), 195U) << "enough for a router";
  EXPECT_THAT(plan(m).notes.back(), HasSubstr("`surety upgrade` needs 264"));
  m.memory(0, 400'000);
  SetupOptions options;
  options.hugepages = 500;
  EXPECT_EQ(plan(m, options).machine.hugepages.at(0), 97U);
  EXPECT_THAT(plan(m, options).notes.back(), HasSubstr("97 of 500"));
}

TEST(Plan, AConfigurationOfTheOperatorStays) {
  FakeMachine m;
  m.put("/etc/surety/surety.yaml", "version: 1\nports:\n  a: {device: \"null\"}\n");
  EXPECT_EQ(plan(m).configuration, std::nullopt);
  m.put("/etc/surety/surety.yaml", "version: 1\nports: [\n");
  EXPECT_EQ(plan(m).configuration, std::nullopt);
  m.put("/etc/surety/surety.yaml", "version: 1\nports: {}\n");  // as the package has it
  EXPECT_NE(plan(m).configuration, std::nullopt);
  SetupOptions keep;
  keep.keep_configuration = true;
  EXPECT_EQ(plan(m, keep).configuration, std::nullopt);
}

TEST(FirstConfiguration, PassesTheCheckWithWhatTheNicsHave) {
  FakeMachine m;
  m.addresses(
      R"([{"ifname": "eth1", "addr_info": [{"local": "10.1.0.254", "prefixlen": 24, "scope": "global"},
                  {"local": "2001:db8::1", "prefixlen": 64, "scope": "global"}, {"local": "fe80::1", "prefixlen": 64, "scope": "link"}]}])");
  m.put("/sys/class/net/eth2/queues/rx-1/rps_cpus", "0");
  SetupOptions options;
  options.ports = {"eth1", "eth2"};
  const Plan p = plan(m, options);
  const auto parsed = config::parse(*p.configuration, "surety.yaml");
  ASSERT_TRUE(parsed.ok()) << parsed.diagnostics.front().format();
  const auto& ports = parsed.config->ports;
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports[0].addresses.size(), 2U);
  EXPECT_EQ(ports[0].trust, config::Port::Trust::customer);
  EXPECT_EQ(ports[1].trust, config::Port::Trust::core);
  EXPECT_EQ(ports[1].rx_queues, 2);
}

void cores(FakeMachine& m, int count, int shift) {
  const std::string all = "0-" + std::to_string(count - 1);
  m.put("/sys/devices/system/cpu/online", all);
  m.put("/sys/devices/system/node/node0/cpulist", all);
  for (int c = 0; c < count; ++c) {
    const int low = c % shift;
    m.put("/sys/devices/system/cpu/cpu" + std::to_string(c) + "/topology/thread_siblings_list",
          std::to_string(low) + "," + std::to_string(low + shift));
  }
}

TEST(ChooseCores, OfEachPhysicalOneWorksOneAndNoneOfTheFirst) {
  FakeMachine m;
  cores(m, 8, 4);  // 0 and 4, 1 and 5, ...
  const WorkerCores chosen = choose_cores(m.host(), 2, {0});
  EXPECT_THAT(chosen.workers, ElementsAre(6, 7));
  EXPECT_THAT(chosen.isolated, ElementsAre(2, 3, 6, 7));
  EXPECT_THAT(choose_cores(m.host(), 9, {0}).workers, ElementsAre(5, 6, 7));
  EXPECT_TRUE(choose_cores(m.host(), 2, {1}).workers.empty() ||
              m.host().exists("/sys/devices/system/node/node1") == false);
}

TEST(ChooseCores, FewerThanFourAreLeftAlone) {
  FakeMachine m;
  EXPECT_TRUE(choose_cores(m.host(), 1, {0}).isolated.empty());
}

TEST(Plan, IsolatesWhatItIsToldTo) {
  FakeMachine m;
  SetupOptions options;
  options.isolate = "1";
  EXPECT_THAT(plan(m, options).machine.isolated, ElementsAre(1));
  EXPECT_THAT(*plan(m, options).configuration, HasSubstr("workers: [1]"));
  for (const char* wrong : {"0", "0,1", "9", "x"}) {
    options.isolate = wrong;
    EXPECT_THROW(plan(m, options), std::runtime_error) << wrong;
  }
}

}  // namespace
}  // namespace surety::machine
