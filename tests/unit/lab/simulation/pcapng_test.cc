// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/pcapng.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

namespace surety::lab {
namespace {

using Bytes = std::vector<std::uint8_t>;

class Pcapng : public testing::Test {
 protected:
  void SetUp() override {
    const char* root = std::getenv("TMPDIR");
    std::string name = std::string(root ? root : "/tmp") + "/lab-pcapng-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string path() const { return directory_ / "a.pcapng"; }
  Bytes written() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::filesystem::path directory_;
};

std::uint32_t u32(const Bytes& b, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | b[at + i];
  return value;
}

std::vector<Bytes> blocks(const Bytes& all) {
  std::vector<Bytes> found;
  for (std::size_t at = 0; at < all.size();) {
    const std::uint32_t length = u32(all, at + 4);
    EXPECT_EQ(length % 4, 0u);
    EXPECT_EQ(u32(all, at + length - 4), length);  // again at its end
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
    found.emplace_back(begin, begin + length);
    at += length;
  }
  return found;
}

TEST_F(Pcapng, BeginsWithSectionAndInterface) {
  PcapngWriter writer(path(), "h1 edge.a");
  writer.close();
  const auto all = blocks(written());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], (Bytes{0x0a, 0x0d, 0x0d, 0x0a, 48,   0,    0,    0,    0x4d, 0x3c, 0x2b, 0x1a,
                           1,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                           4,    0,    10,   0,    's',  'u',  'r',  'e',  't',  'y',  '-',  'l',
                           'a',  'b',  0,    0,    0,    0,    0,    0,    48,   0,    0,    0}));
  EXPECT_EQ(all[1],
            (Bytes{1,   0,   0,   0,   48,  0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 9, 0, 'h', '1', ' ', 'e',
                   'd', 'g', 'e', '.', 'a', 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 48,  0,   0,   0}));
}

TEST_F(Pcapng, AFrameHasItsTimeItsWayAndItsBytes) {
  PcapngWriter writer(path(), "l");
  const std::array<std::uint8_t, 5> frame{1, 2, 3, 4, 5};
  writer.on_frame(7, 1, frame, Time(Duration(0x1'0203'0405)));
  writer.close();
  const auto all = blocks(written());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2], (Bytes{6, 0, 0, 0, 52, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 4, 3, 2, 5, 0, 0,  0, 5, 0,
                           0, 0, 1, 2, 3,  4, 5, 0, 0, 0, 2, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 52, 0, 0, 0}));
}

TEST_F(Pcapng, FromTheFirstEndIsOutboundFromTheSecondInbound) {
  PcapngWriter writer(path(), "l");
  const std::array<std::uint8_t, 4> frame{};
  writer.on_frame(0, 0, frame, Time());
  writer.on_frame(0, 1, frame, Time());
  writer.close();
  const auto all = blocks(written());
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(u32(all[2], 36), 2u);
  EXPECT_EQ(u32(all[3], 36), 1u);
}

TEST_F(Pcapng, ReplacesWhatWasThere) {
  {
    std::ofstream(path()) << std::string(10'000, 'x');
    PcapngWriter writer(path(), "l");
  }
  EXPECT_EQ(blocks(written()).size(), 2u);
}

TEST_F(Pcapng, AFileThatCannotBeMadeIsAnError) {
  try {
    PcapngWriter writer(directory_ / "none" / "a.pcapng", "l");
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::no_such_file_or_directory);
    EXPECT_NE(std::string(e.what()).find("none/a.pcapng"), std::string::npos);
  }
}

TEST(PcapngFull, ADeviceWithoutSpaceIsAnError) {
  PcapngWriter writer("/dev/full", "l");
  EXPECT_THROW(writer.close(), std::system_error);
}

}  // namespace
}  // namespace surety::lab
