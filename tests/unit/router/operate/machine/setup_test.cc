// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/setup.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/process/change_lock.h"
#include "tests/unit/router/operate/machine/fake_machine.h"

namespace surety::machine {
namespace {

using testing::HasSubstr;
using testing::Not;

Setup asked(const FakeMachine& m) {
  Setup s{m.host()};
  s.yes = true;
  s.memory = [](const config::Config&) { return std::uint64_t{200} << 20; };
  return s;
}

std::string set_up_with(const Setup& s, int status = 0, const std::string& answers = "") {
  std::istringstream in(answers);
  std::ostringstream out;
  EXPECT_EQ(set_up(s, in, out), status) << out.str();
  return out.str();
}

std::string undone(const FakeMachine& m, int status = 0) {
  std::ostringstream out;
  EXPECT_EQ(undo_setup(asked(m), out), status) << out.str();
  return out.str();
}

// All files, but what setup keeps itself.
std::map<std::string, std::string> files(const FakeMachine& m) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(m.root()))
    if (const std::string name = fs::relative(entry.path(), m.root());
        entry.is_regular_file() && !name.starts_with("commands/log") && !name.ends_with("/lock"))
      all[name] = m.text("/" + name);
  return all;
}

void with_cores_and_grub(FakeMachine& m) {
  m.put("/sys/devices/system/cpu/online", "0-3");
  m.put("/sys/devices/system/node/node0/cpulist", "0-3");
  m.put("/usr/sbin/update-grub", "");
  m.answer("update-grub", "");
}

void with_iommu_and_driverctl(FakeMachine& m) {
  m.put("/sys/kernel/iommu_groups/1/devices/0000:01:00.0", "");
  m.put("/usr/sbin/driverctl", "");
  for (const char* words : {"set-override_0000:01:00.0_vfio-pci", "set-override_0000:02:00.0_vfio-pci",
                            "unset-override_0000:01:00.0", "unset-override_0000:02:00.0"})
    m.answer(std::string("driverctl_") + words, "");
}

TEST(Setup, DoesAllAndUndoesAll) {
  FakeMachine m;
  with_cores_and_grub(m);
  with_iommu_and_driverctl(m);
  m.hugepages(0, 3);
  m.put("/etc/surety/surety.yaml", "version: 1\nports: {}\n");
  const auto before = files(m);
  const std::string said = set_up_with(asked(m));
  EXPECT_EQ(m.hugepages(0), "264");
  EXPECT_THAT(m.text(kGrubFile), HasSubstr("isolcpus=2,3 nohz_full=2,3 rcu_nocbs=2,3"));
  EXPECT_THAT(m.text("/etc/surety/surety.yaml"), HasSubstr("device: pci 0000:02:00.0"));
  EXPECT_EQ(read_machine_file(m.host()).nics.size(), 2U);
  EXPECT_THAT(m.commands(), HasSubstr("driverctl set-override 0000:01:00.0 vfio-pci\n"));
  EXPECT_THAT(said, HasSubstr("from the next boot on"));
  undone(m);
  EXPECT_EQ(m.hugepages(0), "3");
  m.hugepages(0, 3);  // with its line end
  EXPECT_EQ(files(m), before);
  EXPECT_THAT(m.commands(),
              HasSubstr("driverctl unset-override 0000:02:00.0\ndriverctl unset-override 0000:01:00.0\n"));
  EXPECT_TRUE(m.commands().ends_with("update-grub\n"));
  EXPECT_THAT(undone(m), HasSubstr("nothing to undo"));
}

TEST(Setup, TwiceIsUndoneAsOnce) {
  FakeMachine m;
  const auto before = files(m);
  set_up_with(asked(m));
  auto again = asked(m);
  again.options.ports = {"eth2"};
  again.options.hugepages = 300;
  set_up_with(again);
  EXPECT_EQ(m.hugepages(0), "300");
  undone(m);
  m.hugepages(0, 0);
  EXPECT_EQ(files(m), before);
}

TEST(Setup, WithoutAnybodyToAskNothingIsChanged) {
  FakeMachine m;
  const auto before = files(m);
  auto s = asked(m);
  s.yes = false;
  EXPECT_THAT(set_up_with(s, 1), HasSubstr("Nothing was changed"));
  s.dry_run = true;
  EXPECT_THAT(set_up_with(s, 0), HasSubstr("af_xdp eth1, af_xdp eth2"));
  EXPECT_EQ(files(m), before);
}

TEST(Setup, AsksWhoIsThere) {
  FakeMachine m;
  auto s = asked(m);
  s.yes = false;
  s.terminal = true;
  EXPECT_THAT(set_up_with(s, 1, "eth2\nn\n"), HasSubstr("Which NICs shall the router use? [eth1, eth2]"));
  EXPECT_FALSE(m.host().exists(kMachineFile));
  std::istringstream wrong("eth0\n");
  std::ostringstream out;
  EXPECT_THROW(set_up(s, wrong, out), std::runtime_error);
  set_up_with(s, 0, "eth2\ny\n");
  EXPECT_EQ(read_machine_file(m.host()).nics.at(0).name, "eth2");
}

TEST(Setup, WhatOthersHaveChangedSinceStays) {
  FakeMachine m;
  set_up_with(asked(m));
  m.put("/etc/surety/surety.yaml", "mine\n");
  m.hugepages(0, 1000);
  EXPECT_THAT(undone(m), testing::AllOf(HasSubstr("/etc/surety/surety.yaml: changed after setup"),
                                        HasSubstr("to 1000, left as it is")));
  EXPECT_EQ(m.text("/etc/surety/surety.yaml"), "mine\n");
  EXPECT_FALSE(m.host().exists(kMachineFile));
}

// Who comes second has planned nothing, and asked nobody, while the machine changed below him.
TEST(Setup, OneAtATime) {
  FakeMachine m;
  for (const fs::path path : {"/var/lib/surety", "/var/lib/surety/surety"}) {
    fs::create_directories(m.host().at(path));
    const ChangeLock lock(m.host().at(path), "ann", "apply");
    std::istringstream in;
    std::ostringstream out;
    const auto says_who = testing::ThrowsMessage<std::runtime_error>(HasSubstr("ann (apply, process "));
    EXPECT_THAT([&] { set_up(asked(m), in, out); }, says_who);
    EXPECT_THAT([&] { undo_setup(asked(m), out); }, says_who);
    EXPECT_EQ(out.str(), "");
  }
  EXPECT_FALSE(m.host().exists(kMachineFile));
}

TEST(Setup, WhatCannotBeUndoneIsTriedAgain) {
  FakeMachine m;
  with_cores_and_grub(m);
  with_iommu_and_driverctl(m);
  const auto before = files(m);
  set_up_with(asked(m));
  m.remove("/commands/update-grub");
  m.remove("/commands/driverctl_unset-override_0000:01:00.0");
  const std::string said = undone(m, 1);
  EXPECT_THAT(said,
              HasSubstr("not undone: driverctl: not found; run `driverctl unset-override 0000:01:00.0`"));
  EXPECT_THAT(said, HasSubstr("not undone: update-grub: not found; run `update-grub`"));
  EXPECT_THAT(said, Not(HasSubstr("Undone.")));
  EXPECT_THAT(m.commands(), HasSubstr("driverctl unset-override 0000:02:00.0\n"));
  EXPECT_FALSE(m.host().exists(kGrubFile));
  undone(m, 1);
  m.remove("/commands/log");
  m.answer("update-grub", "");
  m.answer("driverctl_unset-override_0000:01:00.0", "");
  EXPECT_THAT(undone(m), HasSubstr("Undone."));
  EXPECT_EQ(m.commands(), "driverctl unset-override 0000:01:00.0\nupdate-grub\n");
  m.hugepages(0, 0);
  EXPECT_EQ(files(m), before);
}

TEST(Setup, OfANicThatIsGoneNothingIsLeftToUndo) {
  FakeMachine m;
  with_cores_and_grub(m);
  with_iommu_and_driverctl(m);
  set_up_with(asked(m));
  m.put("/etc/driverctl.d/0000:01:00.0", "vfio-pci\n");
  m.remove("/commands/driverctl_unset-override_0000:01:00.0");
  m.remove("/sys/bus/pci/devices/0000:01:00.0");
  EXPECT_THAT(undone(m), HasSubstr("0000:01:00.0: it is missing"));
  EXPECT_FALSE(m.host().exists("/etc/driverctl.d/0000:01:00.0"));
}

// GRUB would take up again what is still in its file; and of two changes of a file, the first is not undone
// before the second.
TEST(Setup, WhatComesAfterAStepThatIsNotUndoneWaits) {
  FakeMachine m;
  with_cores_and_grub(m);
  const auto before = files(m);
  set_up_with(asked(m));
  auto again = asked(m);
  again.options.isolate = "1";
  set_up_with(again);
  m.remove("/commands/log");
  const std::string blocked = std::string(kGrubFile) + ".surety-new/entry";
  m.put(blocked, "");
  EXPECT_THAT(undone(m, 1), HasSubstr(fmt::format("not undone: cannot write {}: ", kGrubFile)));
  EXPECT_THAT(m.text(kGrubFile), HasSubstr("isolcpus=1 "));
  EXPECT_THAT(m.commands(), Not(HasSubstr("update-grub")));
  m.remove(std::string(kGrubFile) + ".surety-new");
  undone(m);
  EXPECT_TRUE(m.commands().ends_with("update-grub\nupdate-grub\n"));
  m.hugepages(0, 0);
  EXPECT_EQ(files(m), before);
}

TEST(Setup, BindsByItselfWithoutDriverctl) {
  FakeMachine m;
  with_iommu_and_driverctl(m);
  m.remove("/usr/sbin/driverctl");
  m.put("/sys/bus/pci/drivers/vfio-pci/bind", "");
  m.put("/sys/bus/pci/drivers/ixgbe/unbind", "");
  auto s = asked(m);
  s.options.ports = {"eth1"};
  EXPECT_THAT(set_up_with(s, 1),
              HasSubstr("is bound to ixgbe, not to vfio-pci"));  // no kernel acts on a tree
  EXPECT_EQ(m.text("/sys/bus/pci/devices/0000:01:00.0/driver_override"), "vfio-pci");
  EXPECT_EQ(m.text("/sys/bus/pci/drivers/ixgbe/unbind"), "0000:01:00.0");
  EXPECT_EQ(m.text("/sys/bus/pci/drivers_probe"), "0000:01:00.0");
  undone(m);
  EXPECT_EQ(m.text("/sys/bus/pci/devices/0000:01:00.0/driver_override"), "\n");
}

TEST(Setup, WithoutGrubItSaysTheWords) {
  FakeMachine m;
  auto s = asked(m);
  s.options.isolate = "1";
  EXPECT_THAT(set_up_with(s),
              HasSubstr("add `isolcpus=1 nohz_full=1 rcu_nocbs=1` to the kernel's command line"));
  EXPECT_FALSE(m.host().exists(kGrubFile));
}

std::pair<std::string, std::string> booted(const FakeMachine& m) {
  std::ostringstream out, warnings;
  EXPECT_EQ(boot(asked(m), out, warnings), 0);
  return {out.str(), warnings.str()};
}

MachineFile taken(const std::string& driver = "") {
  return {{{"eth1", "0000:01:00.0", "02:00:00:00:00:01", driver},
           {"eth2", "0000:02:00.0", "02:00:00:00:00:02", driver}},
          {{0, 100}},
          {}};
}

TEST(Boot, ReservesAndBinds) {
  FakeMachine m;
  m.put(kMachineFile, text_of(taken("vfio-pci")));
  m.put("/sys/bus/pci/drivers/vfio-pci/bind", "");
  m.put("/sys/bus/pci/drivers/ixgbe/unbind", "");
  booted(m);
  EXPECT_EQ(m.hugepages(0), "100");
  EXPECT_EQ(m.text("/sys/bus/pci/devices/0000:02:00.0/driver_override"), "vfio-pci");
}

TEST(Boot, WhatIsGoneIsAWarning) {
  FakeMachine m;
  m.put(kMachineFile, text_of(taken()));
  m.remove("/sys/class/net/eth1");
  m.remove("/sys/bus/pci/devices/0000:01:00.0");
  m.remove("/sys/class/net/eth2");
  m.nic("eth9", "0000:02:00.0", "02:00:00:00:00:02", "ixgbe");
  const auto [out, warnings] = booted(m);
  EXPECT_THAT(warnings, HasSubstr("eth1 (PCI 0000:01:00.0, MAC 02:00:00:00:00:01) is missing"));
  EXPECT_THAT(warnings, HasSubstr("eth2 is named eth9 now"));
  EXPECT_EQ(m.hugepages(0), "100");
}

TEST(Boot, BindsEachOfTwoNicsWithOneMacAddress) {
  FakeMachine m;
  MachineFile both = taken("vfio-pci");
  both.nics[1].mac = both.nics[0].mac;
  m.put(kMachineFile, text_of(both));
  m.interface("eth2", both.nics[0].mac);
  m.put("/sys/bus/pci/drivers/vfio-pci/bind", "");
  m.put("/sys/bus/pci/drivers/ixgbe/unbind", "");
  booted(m);
  for (const char* pci : {"0000:01:00.0", "0000:02:00.0"})
    EXPECT_EQ(m.text(fs::path("/sys/bus/pci/devices") / pci / "driver_override"), "vfio-pci") << pci;

  for (const char* name : {"eth1", "eth2"}) m.remove(fs::path("/sys/class/net") / name);
  for (const char* pci : {"0000:01:00.0", "0000:02:00.0"}) m.remove(fs::path("/sys/bus/pci/devices") / pci);
  m.nic("eth5", "0000:05:00.0", both.nics[0].mac, "ixgbe");
  m.nic("eth6", "0000:06:00.0", both.nics[0].mac, "ixgbe");
  const std::string warnings = booted(m).second;
  EXPECT_THAT(warnings, HasSubstr("eth1 is at 0000:05:00.0 now, not at 0000:01:00.0"));
  EXPECT_THAT(warnings, HasSubstr("eth2 is at 0000:06:00.0 now, not at 0000:02:00.0"));
  m.remove("/sys/class/net/eth6");
  m.remove("/sys/bus/pci/devices/0000:06:00.0");
  EXPECT_THAT(booted(m).second, HasSubstr("eth2 (PCI 0000:02:00.0, MAC 02:00:00:00:00:01) is missing"));
}

TEST(Boot, DoesNotTakeTheWayToThisMachine) {
  FakeMachine m;
  m.put(kMachineFile, text_of(taken("vfio-pci")));
  m.put("/sys/bus/pci/drivers/vfio-pci/bind", "");
  m.put("/sys/bus/pci/drivers/ixgbe/unbind", "");
  m.routes(R"([{"dst": "default", "dev": "eth1"}])");
  EXPECT_THAT(booted(m).second, HasSubstr("eth1 carries the default route: it is not taken"));
  EXPECT_EQ(m.text("/sys/bus/pci/devices/0000:01:00.0/driver_override"), "(null)\n");
  EXPECT_EQ(m.text("/sys/bus/pci/devices/0000:02:00.0/driver_override"), "vfio-pci");
}

TEST(Boot, GoesOnWithABrokenFileOrNone) {
  FakeMachine m;
  EXPECT_EQ(booted(m).second, "");
  m.put(kMachineFile, "nics: [{{\n");
  EXPECT_THAT(booted(m).second, HasSubstr("writes it again"));
  m.put(kMachineFile, text_of(taken()));
  m.remove("/sys/devices/system/node/node0/hugepages");
  EXPECT_THAT(booted(m).second, HasSubstr("node 0 has no hugepages"));
}

TEST(MachineFile, IsReadAsItWasWritten) {
  FakeMachine m;
  for (MachineFile file : {MachineFile{}, taken("vfio-pci"), MachineFile{{}, {{0, 1}, {1, 2}}, {2, 3}}}) {
    m.put(kMachineFile, text_of(file));
    EXPECT_EQ(read_machine_file(m.host()), file) << text_of(file);
  }
}

}  // namespace
}  // namespace surety::machine
