// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/resources.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>

#include "tests/unit/router/operate/machine/fake_machine.h"

namespace surety::machine {
namespace {

TEST(MachineFile, IsReadAsItWasWritten) {
  const MachineFile full{{{"eth1", "0000:01:00.0", "02:00:00:00:00:01", "vfio-pci"}, {"eth2", "", "", ""}},
                         {{0, 100}, {1, 64}},
                         {1, 2, 5}};
  for (const MachineFile& file : {full, MachineFile{}}) {
    FakeMachine m;
    m.put(kMachineFile, text_of(file));
    EXPECT_EQ(read_machine_file(m.host()), file) << text_of(file);
  }
}

TEST(MachineFile, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(read_machine_file(FakeMachine().host()), MachineFile{});
}

TEST(MachineFile, AnotherFormIsRefusedByItsPath) {
  for (const char* const text : {"nics: [", "hugepages: {0: many}\n", "isolated_cores: [all]\n"}) {
    FakeMachine m;
    m.put(kMachineFile, text);
    try {
      read_machine_file(m.host());
      ADD_FAILURE() << text;
    } catch (const std::runtime_error& e) {
      EXPECT_THAT(std::string(e.what()), testing::StartsWith(std::string(kMachineFile) + ": ")) << text;
    }
  }
}

}  // namespace
}  // namespace surety::machine
