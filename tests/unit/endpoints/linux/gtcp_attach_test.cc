// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/linux/gtcp_attach.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace surety::endpoints {
namespace {

using ::testing::ThrowsMessage;

TEST(CheckKernel, AKernelWithoutTypesIsNamedInASentence) {
  EXPECT_THAT(
      [] { check_kernel("/nonexistent/btf"); },
      ThrowsMessage<std::runtime_error>(
          "this kernel has no type information (no /nonexistent/btf): GTCP for Linux sockets needs Linux "
          "5.13 or newer, built with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF"));
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
  EXPECT_THAT([&] { check_kernel(path); },
              ThrowsMessage<std::runtime_error>(
                  "this kernel has no TCP congestion control in BPF (no struct_ops): GTCP for Linux sockets "
                  "needs Linux 5.13 or newer, built with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT and "
                  "CONFIG_DEBUG_INFO_BTF"));
  std::remove(path.c_str());
}

TEST(DetachGtcp, OfNothingIsAnError) {
  if (gtcp_attached()) GTEST_SKIP() << "gtcp is attached to this machine";
  EXPECT_THAT([] { detach_gtcp("/nonexistent/pins"); },
              ThrowsMessage<std::runtime_error>("gtcp is not attached"));
}

TEST(LoadGtcp, NeedsAPlaceForItsPins) {
  EXPECT_THAT(
      [] { LoadedGtcp("/nonexistent/pins"); },
      ThrowsMessage<std::runtime_error>("cannot pin BPF maps below /nonexistent: No such file or directory"));
}

}  // namespace
}  // namespace surety::endpoints
