// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/ip_writer.h"

namespace surety {

namespace {

constexpr std::uint8_t kHops = 64;

void prepare_v4(std::uint8_t* ip, const Tuple& tuple, std::uint8_t protocol) {
  ip[0] = 0x45;
  ip[6] = 0x40;  // DF
  ip[8] = kHops;
  ip[9] = protocol;
  store(ip + 12, tuple.local.v4_as_loaded());
  store(ip + 16, tuple.remote.v4_as_loaded());
}

// 20 bits that distinguish a pair's flows on equal-cost paths.
std::uint32_t flow_label(const Tuple& tuple, std::uint8_t protocol) {
  std::uint64_t h = std::uint64_t{tuple.local_port} << 16 | tuple.remote_port | std::uint64_t{protocol} << 32;
  for (const std::uint64_t word : {tuple.local.high, tuple.local.low, tuple.remote.high, tuple.remote.low})
    h = (h ^ word) * 0x9e37'79b9'7f4a'7c15;
  const auto label = static_cast<std::uint32_t>((h ^ h >> 32) * 0x9e37'79b9'7f4a'7c15 >> 44);
  return label != 0 ? label : 1;
}

void prepare_v6(std::uint8_t* ip, const Tuple& tuple, std::uint8_t protocol) {
  store(ip, __builtin_bswap32(0x6000'0000u | flow_label(tuple, protocol)));
  ip[6] = protocol;
  ip[7] = kHops;
  store(ip + 8, tuple.local.high);
  store(ip + 16, tuple.local.low);
  store(ip + 24, tuple.remote.high);
  store(ip + 32, tuple.remote.low);
}

}  // namespace

IpWriter::IpWriter(const Tuple& tuple, std::uint8_t protocol) : v6_(tuple.remote.is_v6()) {
  const Sum fixed = pseudo_header(tuple.local, tuple.remote, protocol, 0);
  addresses_and_protocol_ = fixed.folded();
  if (v6_) {
    prepare_v6(header_.data(), tuple, protocol);
    return;
  }
  prepare_v4(header_.data(), tuple, protocol);
  Sum s;
  s.add(std::span(header_).first(20));
  header_sum_ = s.folded();
}

}  // namespace surety
