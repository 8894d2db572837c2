// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/host.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/unit/router/operate/machine/fake_machine.h"

namespace surety::machine {
namespace {

TEST(Host, ReadsBelowItsRootAndFollowsLinksThere) {
  FakeMachine m;
  m.put("/etc/real", " text \n");
  m.link("/etc/absolute", "/etc/real");
  m.link("/etc/relative", "../etc/absolute");
  m.link("/etc/outside", "../../../../../../../../etc/real");
  for (const char* name : {"/etc/real", "/etc/absolute", "/etc/relative", "/etc/outside"})
    EXPECT_EQ(m.host().line(name), "text") << name;
  EXPECT_FALSE(m.host().exists("/etc/passwd"));
  EXPECT_EQ(m.host().read("/etc"), std::nullopt);
  m.link("/etc/round", "/etc/round");
  EXPECT_EQ(m.host().read("/etc/round"), std::nullopt);
  ASSERT_EQ(::mkfifo(m.host().at("/etc/fifo").c_str(), 0600), 0);
  EXPECT_EQ(m.host().read("/etc/fifo"), std::nullopt);
}

TEST(Host, ReplacesAFileAsAWhole) {
  FakeMachine m;
  m.host().replace("/etc/new/file", "one", 0600);
  m.host().replace("/etc/new/file", "two", 0640);
  EXPECT_EQ(m.text("/etc/new/file"), "two");
  EXPECT_EQ(m.host().list("/etc/new"), std::vector<std::string>{"file"});
  struct stat is {};
  ASSERT_EQ(::stat(m.host().at("/etc/new/file").c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 0777U, 0640U);
  m.host().remove("/etc/new/file");
  m.host().remove("/etc/new/file");
  EXPECT_FALSE(m.host().exists("/etc/new/file"));
}

TEST(Host, WritesNoFileOfTheKernelThatIsNotThere) {
  FakeMachine m;
  EXPECT_THROW(m.host().write("/sys/nothing", "1"), std::system_error);
}

TEST(Host, RecordsProgramsOfATree) {
  FakeMachine m;
  m.answer("cat__a_b", "answer");
  EXPECT_EQ(m.host().run({"cat", "/a b"}).status, 127);
  EXPECT_EQ(m.host().run({"cat", "/a_b"}).output, "answer");
  EXPECT_EQ(m.commands(), "cat '/a b'\ncat /a_b\n");
}

TEST(Host, RunsProgramsOfThisMachine) {
  const Host host;
  EXPECT_EQ(host.run({"sh", "-c", "echo out; echo err >&2; exit 3"}).status, 3);
  EXPECT_EQ(host.run({"sh", "-c", "echo out; cat"}).output, "out\n");
  EXPECT_EQ(host.run({"no-such-program-here"}).status, 127);
}

TEST(Host, ReadsListsOfCores) {
  EXPECT_EQ(cores_of("2-4,7\n"), (std::vector<unsigned>{2, 3, 4, 7}));
  EXPECT_EQ(cores_of(""), std::vector<unsigned>{});
  EXPECT_EQ(cores_of("1,x"), std::vector<unsigned>{1});
  EXPECT_EQ(cores_of("0-4294967295").size(), 4096U);
}

}  // namespace
}  // namespace surety::machine
