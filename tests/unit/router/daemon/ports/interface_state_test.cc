// SPDX-License-Identifier: BSD-3-Clause
#include <net/if.h>

#include "router/daemon/ports/interface.h"
#include "tests/unit/router/daemon/ports/namespace_and_back.h"

namespace surety {
namespace {

class InterfaceStateTest : public InNamespaceAndBack {};

TEST_F(InterfaceStateTest, IsWhatTheKernelHasNow) {
  make_wire();
  const InterfaceState first = state_of("a0").value();
  EXPECT_EQ(first.index, static_cast<int>(if_nametoindex("a0")));
  EXPECT_EQ(first.mtu, 1500u);
  EXPECT_EQ(first.mac, (MacAddress{2, 0, 0, 0, 0, 0xa}));
  run("ip link set a0 mtu 1400 && ip link set a0 address 02:00:00:00:00:99");
  EXPECT_EQ(state_of("a0"), (InterfaceState{first.index, 1400, {2, 0, 0, 0, 0, 0x99}}));
  run("ip link del a0");
  EXPECT_EQ(state_of("a0"), InterfaceState{});
  run("ip link add a0 type veth peer name a9");
  EXPECT_NE(state_of("a0")->index, first.index) << "another device of that name";
}

}  // namespace
}  // namespace surety
