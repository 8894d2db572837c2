// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/pcapng.h"

#include <cerrno>
#include <string_view>
#include <system_error>

namespace surety::lab {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a, kInterface = 1, kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrder = 0x1a2b3c4d;
constexpr std::uint16_t kEthernet = 1;
// Options: of all blocks 0 ends them.
constexpr std::uint16_t kShbUserAppl = 4, kIfName = 2, kIfTsresol = 9, kEpbFlags = 2, kEnd = 0;
constexpr char kNanoseconds = 9;  // 10^-9 s
constexpr std::uint32_t kInbound = 1, kOutbound = 2;

// The bytes of one block, little-endian; a reader tells by kByteOrder.
class Block {
 public:
  explicit Block(std::uint32_t type) {
    u32(type);
    u32(0);  // its length, once known
  }
  void u16(std::uint16_t v) { little(v, 2); }
  void u32(std::uint32_t v) { little(v, 4); }
  // Padded to whole words.
  void bytes(std::string_view text) {
    data_ += text;
    data_.resize((data_.size() + 3) / 4 * 4);
  }
  void option(std::uint16_t code, std::string_view value) {
    u16(code);
    u16(static_cast<std::uint16_t>(value.size()));
    bytes(value);
  }
  std::string finish() && {
    const auto length = static_cast<std::uint32_t>(data_.size() + 4);
    u32(length);
    for (std::size_t i = 0; i < 4; ++i) data_[4 + i] = data_[data_.size() - 4 + i];
    return std::move(data_);
  }

 private:
  void little(std::uint32_t v, int n) {
    for (int i = 0; i < n; ++i) data_ += static_cast<char>(v >> (8 * i) & 0xff);
  }
  std::string data_;
};

std::string section_header() {
  Block block(kSectionHeader);
  block.u32(kByteOrder);
  block.u16(1);  // version 1.0
  block.u16(0);
  block.u32(~0u);  // of a section whose length nobody told
  block.u32(~0u);
  block.option(kShbUserAppl, "surety-lab");
  block.option(kEnd, "");
  return std::move(block).finish();
}

std::string interface(const std::string& name) {
  Block block(kInterface);
  block.u16(kEthernet);
  block.u16(0);
  block.u32(0);  // frames are never cut
  block.option(kIfName, std::string_view(name).substr(0, 0xffff));
  block.option(kIfTsresol, std::string_view(&kNanoseconds, 1));
  block.option(kEnd, "");
  return std::move(block).finish();
}

std::string packet(std::uint32_t direction, std::span<const std::uint8_t> frame, Time now) {
  const auto stamp = static_cast<std::uint64_t>(now.time_since_epoch().count());
  const auto length = static_cast<std::uint32_t>(frame.size());
  Block block(kEnhancedPacket);
  block.u32(0);  // the first and only interface
  block.u32(static_cast<std::uint32_t>(stamp >> 32));
  block.u32(static_cast<std::uint32_t>(stamp));
  block.u32(length);
  block.u32(length);
  block.bytes({reinterpret_cast<const char*>(frame.data()), frame.size()});
  block.u16(kEpbFlags);
  block.u16(4);
  block.u32(direction);
  block.option(kEnd, "");
  return std::move(block).finish();
}

}  // namespace

PcapngWriter::PcapngWriter(const std::string& path, const std::string& link)
    : path_(path), file_(path, std::ios::binary | std::ios::trunc) {
  if (!file_) throw std::system_error(errno, std::generic_category(), path_);
  write(section_header() + interface(link));
}

void PcapngWriter::on_frame(std::size_t, int direction, std::span<const std::uint8_t> frame, Time now) {
  write(packet(direction == 0 ? kOutbound : kInbound, frame, now));
}

void PcapngWriter::close() {
  errno = 0;
  file_.close();
  if (!file_) throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), path_);
}

void PcapngWriter::write(const std::string& block) {
  file_.write(block.data(), static_cast<std::streamsize>(block.size()));
}

}  // namespace surety::lab
