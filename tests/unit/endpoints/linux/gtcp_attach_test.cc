// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/linux/gtcp_attach.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "endpoints/linux/gtcp_object.h"

namespace surety::endpoints {
namespace {

TEST(CheckKernel, AKernelWithoutTypesIsNamedInASentence) {
  const auto able = check_kernel("/nonexistent/btf");
  ASSERT_FALSE(able);
  EXPECT_EQ(able.error(),
            "this kernel does not describe its types (no /nonexistent/btf): GTCP for Linux sockets needs "
            "Linux 5.13 or "
            "newer, built with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF");
}

TEST(KernelBtf, TheEnvironmentOverridesTheUsualPlace) {
  EXPECT_EQ(kernel_btf(), "/sys/kernel/btf/vmlinux");
  ::setenv("SURETY_GTCP_BTF", "/elsewhere", 1);
  EXPECT_EQ(kernel_btf(), "/elsewhere");
  ::unsetenv("SURETY_GTCP_BTF");
}

// Types, but none of struct_ops: our own object's stand in for an old kernel's.
TEST(CheckKernel, AKernelWithoutStructOpsIsNamedInASentence) {
  const std::string path = ::testing::TempDir() + "gtcp_attach_test.btf";
  const auto object = gtcp_object();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(object.data()), static_cast<std::streamsize>(object.size()));
  const auto able = check_kernel(path);
  std::remove(path.c_str());
  ASSERT_FALSE(able);
  EXPECT_EQ(able.error(),
            "this kernel takes no TCP congestion control from BPF (no struct_ops): GTCP for Linux sockets "
            "needs Linux "
            "5.13 or newer, built with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF");
}

TEST(DetachGtcp, OfNothingIsAnError) {
  if (gtcp_attached()) GTEST_SKIP() << "gtcp is attached to this machine";
  const auto detached = detach_gtcp("/nonexistent/pins");
  ASSERT_FALSE(detached);
  EXPECT_EQ(detached.error(), "gtcp is not attached");
}

TEST(LoadGtcp, NeedsAPlaceForItsPins) {
  const auto loaded = LoadedGtcp::load("/nonexistent/pins");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error(), "cannot pin BPF maps below /nonexistent: No such file or directory");
}

}  // namespace
}  // namespace surety::endpoints
