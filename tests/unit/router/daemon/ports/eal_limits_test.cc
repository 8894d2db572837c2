// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/eal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace surety {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(config::Device::Kind kind, const Limits& limits, bool hugepages = false) {
  config::Config c;
  c.ports.resize(2);
  for (auto& p : c.ports) {
    p.name = "port";
    p.device.kind = kind;
  }
  try {
    check_limits(c, 1, plan_memory(c, 1), hugepages, limits);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return {};
}

TEST(Limits, NoneIsEnough) {
  EXPECT_EQ(refusal(config::Device::Kind::af_xdp, {}), "");
  EXPECT_EQ(refusal(config::Device::Kind::af_xdp,
                    {.address_space = 1u << 30, .locked = 1u << 30, .resident = 1u << 30}),
            "");
}

TEST(Limits, OfLockedMemoryConcernsAfXdp) {
  EXPECT_THAT(refusal(config::Device::Kind::af_xdp, {{}, 65536, {}}),
              AllOf(HasSubstr("lock 273 MB"), HasSubstr("LimitMEMLOCK=infinity")));
  EXPECT_EQ(refusal(config::Device::Kind::memif, {{}, 65536, {}}), "");
}

TEST(Limits, OfAddressSpaceAndOfTheGroupAreNamed) {
  EXPECT_THAT(refusal(config::Device::Kind::memif, {300'000'000, {}, {}}),
              AllOf(HasSubstr("may have only 300 MB (RLIMIT_AS)"), HasSubstr("LimitAS=")));
  EXPECT_THAT(refusal(config::Device::Kind::memif, {{}, {}, 64'000'000}),
              AllOf(HasSubstr("may have only 64 MB (memory.max"), HasSubstr("MemoryMax=")));
  EXPECT_EQ(refusal(config::Device::Kind::memif, {{}, {}, 64'000'000}, true), "")
      << "hugepages are counted apart";
}

class GroupLimits : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "limits_test";
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + file).parent_path());
    std::ofstream(root_ + file) << text;
  }
  std::string root_;
};

TEST_F(GroupLimits, AreTheLeastOnTheWayUp) {
  write("/proc/self/cgroup", "0::/system.slice/surety.service\n");
  EXPECT_EQ(limits_here(root_).resident, std::nullopt);
  write("/sys/fs/cgroup/system.slice/surety.service/memory.max", "max\n");
  EXPECT_EQ(limits_here(root_).resident, std::nullopt);
  write("/sys/fs/cgroup/system.slice/memory.max", "500000000\n");
  EXPECT_EQ(limits_here(root_).resident, 500'000'000u);
  write("/sys/fs/cgroup/system.slice/surety.service/memory.max", "400000000\n");
  EXPECT_EQ(limits_here(root_).resident, 400'000'000u);
}

TEST_F(GroupLimits, AreFoundWhereTheFirstVersionHasThem) {
  write("/proc/self/cgroup", "5:cpu:/\n4:memory:/small\n");
  write("/sys/fs/cgroup/memory/small/memory.limit_in_bytes", "300000000\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limits_here(root_).resident, 300'000'000u);
}

}  // namespace
}  // namespace surety
