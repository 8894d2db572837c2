// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/capture/pcapng.h"

#include <utility>

namespace surety::pcapng {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a, kInterface = 1, kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrder = 0x1a2b3c4d;
constexpr std::uint16_t kEthernet = 1;
// Options; in all blocks 0 ends them, and 1 is a comment.
constexpr std::uint16_t kShbUserAppl = 4, kIfName = 2, kIfTsresol = 9, kEpbFlags = 2, kComment = 1, kEnd = 0;
constexpr char kNanoseconds = 9;  // 10^-9 s

// The bytes of one block, little-endian; readers find the byte order from kByteOrder.
class Block {
 public:
  explicit Block(std::uint32_t type) {
    u32(type);
    u32(0);  // block length, set by finish()
  }
  void u16(std::uint16_t v) { little(v, 2); }
  void u32(std::uint32_t v) { little(v, 4); }
  // Padded to whole words.
  void bytes(std::string_view text) {
    data_ += text;
    data_.resize((data_.size() + 3) / 4 * 4);
  }
  void option(std::uint16_t code, std::string_view value) {
    value = value.substr(0, 0xffff);
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

}  // namespace

std::string section_header(std::string_view application) {
  Block block(kSectionHeader);
  block.u32(kByteOrder);
  block.u16(1);  // version 1.0
  block.u16(0);
  block.u32(~0u);  // section of unknown length
  block.u32(~0u);
  block.option(kShbUserAppl, application);
  block.option(kEnd, "");
  return std::move(block).finish();
}

std::string interface(std::string_view name, std::uint32_t snap) {
  Block block(kInterface);
  block.u16(kEthernet);
  block.u16(0);
  block.u32(snap);
  block.option(kIfName, name);
  block.option(kIfTsresol, std::string_view(&kNanoseconds, 1));
  block.option(kEnd, "");
  return std::move(block).finish();
}

std::string packet(const PacketBlock& p) {
  const auto stamp = static_cast<std::uint64_t>(p.nanoseconds);
  Block block(kEnhancedPacket);
  block.u32(p.interface);
  block.u32(static_cast<std::uint32_t>(stamp >> 32));
  block.u32(static_cast<std::uint32_t>(stamp));
  block.u32(static_cast<std::uint32_t>(p.captured.size()));
  block.u32(p.length);
  block.bytes({reinterpret_cast<const char*>(p.captured.data()), p.captured.size()});
  block.u16(kEpbFlags);
  block.u16(4);
  block.u32(static_cast<std::uint32_t>(p.direction));
  if (!p.comment.empty()) block.option(kComment, p.comment);
  block.option(kEnd, "");
  return std::move(block).finish();
}

}  // namespace surety::pcapng
