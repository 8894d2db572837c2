// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/journal.h"

#include <gmock/gmock.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "router/operate/machine/setup.h"
#include "tests/unit/router/operate/machine/fake_machine.h"

namespace surety::machine {
namespace {

using testing::HasSubstr;

Setup asked(const FakeMachine& m) {
  Setup s{m.host()};
  s.yes = true;
  return s;
}

std::string undone(const FakeMachine& m, int status = 0) {
  std::ostringstream out;
  EXPECT_EQ(undo_setup(asked(m), out), status) << out.str();
  return out.str();
}

TEST(Journal, ADriverThatIsNotReleasedStays) {
  FakeMachine m;
  Journal journal(m.host(), "/var/lib/surety/setup.json");
  journal.bind("0000:01:00.0");
  m.remove("/sys/bus/pci/drivers_probe");
  EXPECT_THAT(undone(m, 1), testing::AllOf(HasSubstr("not undone: cannot change the driver of 0000:01:00.0"),
                                           HasSubstr("echo 0000:01:00.0 > /sys/bus/pci/drivers_probe`")));
  m.put("/sys/bus/pci/drivers_probe", "");
  m.put("/sys/bus/pci/drivers/ixgbe/unbind", "");
  undone(m);
  EXPECT_EQ(m.text("/sys/bus/pci/drivers_probe"), "0000:01:00.0");
}

// As a power cut would: the journal has the step, the machine has it or has not.
TEST(Journal, AStepThatWasNotMadeIsNotUndone) {
  FakeMachine m;
  m.put("/etc/a", "before");
  m.put("/var/lib/surety/setup.json",
        R"([{"kind": "file", "path": "/etc/a", "before": "before", "after": "after", "mode": 420, "undo": []},
            {"kind": "file", "path": "/etc/b", "before": null, "after": "after", "mode": 420, "undo": []}])");
  undone(m);
  EXPECT_EQ(m.text("/etc/a"), "before");
  EXPECT_FALSE(m.host().exists("/etc/b"));
}

TEST(Journal, IsNotGuessedAt) {
  FakeMachine m;
  m.put("/var/lib/surety/setup.json", "[{\"kind\":");
  std::ostringstream out;
  EXPECT_THROW(undo_setup(asked(m), out), std::runtime_error);
}

TEST(Journal, KeepsTheModeOfAFile) {
  FakeMachine m;
  m.put("/etc/a", "before");
  fs::permissions(m.host().at("/etc/a"), fs::perms(0600));
  Journal journal(m.host(), "/var/lib/surety/setup.json");
  journal.replace("/etc/a", "after");
  journal.undo();
  EXPECT_EQ(fs::status(m.host().at("/etc/a")).permissions(), fs::perms(0600));
}

}  // namespace
}  // namespace surety::machine
