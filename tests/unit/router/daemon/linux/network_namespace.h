// SPDX-License-Identifier: BSD-3-Clause
// Tests that need the kernel run in a network namespace of their own, which goes with its last process.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace surety {

class InNetworkNamespace : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to make a network namespace";
    if (::unshare(CLONE_NEWNET) != 0)
      GTEST_SKIP() << "cannot make a network namespace: " << std::strerror(errno);
  }
  static void run(const std::string& command) {
    ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(cert-env33-c)
  }
  // Two devices joined by a wire, both up; a0 has 10.9.1.254/24 and 2001:db8:1::fe/64.
  static void make_wire() {
    run("ip link set lo up && ip link add a0 address 02:00:00:00:00:0a type veth peer name b0 address "
        "02:00:00:00:00:0b");
    run("ip link set a0 up && ip link set b0 up");
    // The carrier comes later.
    run("timeout 5 sh -c 'until ip link show a0 | grep -q \"state UP\"; do :; done'");
    run("ip addr add 10.9.1.254/24 dev a0 && ip addr add 2001:db8:1::fe/64 dev a0 nodad");
  }
};

}  // namespace surety
