// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/hand_over.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <map>

namespace surety {
namespace {

// A T as it is sent, the bytes that nothing is written to as "..".
template <class T>
std::string sent(auto&& write) {
  alignas(T) std::array<std::array<unsigned char, sizeof(T)>, 2> memory;
  memory[0].fill(0);
  memory[1].fill(0xff);
  for (auto& m : memory) write(*reinterpret_cast<T*>(m.data()));
  std::string text;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    text += memory[0][i] == memory[1][i] ? fmt::format("{:02x}", memory[0][i]) : "..";
  return text;
}

const IpAddress kAddress{0x0102030405060708, 0x090a0b0c0d0e0f10};

void write_key(ContractState& s) {
  s.key.rest = 0x1112131415161718;
  s.key.address = {0x21, 0x22, 0x23, 0x24};
  s.key.dscp = 0x2e;
  s.key.v6 = true;
  s.rule = 0x3132;
  s.service = 0x3334;
  s.interface = 0x35;
  s.shared = true;
}

std::string of_a_bucket() {
  const TokenBucketParams params(Rate::bits_per_second(8000), Depth::bytes(1500));
  return sent<ContractState>([&](ContractState& s) {
    write_key(s);
    s.state.csa.in.reset(params, Time(Duration(0x4142)));
    s.state.csa.out.reset(params, Time(Duration(0x4344)));
    s.state.csa.held = 0x45;
    s.state.csa.out_backlog =
        0;  // it was the highest byte of `held`, which was 0, and which the reader clears
    s.state.csa.domain = 0x46;
    s.state.csa.note = 0x47;
  });
}

std::string of_a_meter() {
  return sent<ContractState>([](ContractState& s) {
    write_key(s);
    for (std::uint64_t i = 0; i < 4; ++i) s.state.meter[i] = 0x51 + i;
  });
}

std::string of_an_address() {
  return sent<ControlState::Address>([](ControlState::Address& a) {
    a.device = 0x61;
    a.address.address = kAddress;
    a.address.length = 64;
  });
}

std::string of_a_station() {
  return sent<ControlState::Neighbor>([](ControlState::Neighbor& s) {
    s.interface = 0x71;
    s.address = kAddress;
    s.mac = {2, 0, 0, 0, 0, 9};
  });
}

// Two processes of different builds read each other's memory by it. Where this fails, something that is sent
// is another one now: raise kHandOverVersion, and put what is sent below, under the new number. What stands
// under an old number was sent by routers that run somewhere: it is never changed.
TEST(HandOver, SendsWhatItsVersionSays) {
  struct Sent {
    std::string bucket, meter, address, station;
  };
  const std::string key =
                        "18171615141312112100000000000000220000000000000023000000000000002400000000000000"
                        "2e01............",
                    rest = "32313433350001..", address = "0807060504030201100f0e0d0c0b0a09";
  const std::map<int, Sent> all{
      {1,
       {key + "00c0bcf7e90a0000424100000000000000c0bcf7e90a000044430000000000004500000046004700" + rest,
        key + "5100000000000000520000000000000053000000000000005400000000000000................" + rest,
        "61000000........" + address + "40..............",
        "7100............" + address + "020000000009...."}}};
  ASSERT_TRUE(all.contains(kHandOverVersion));
  const Sent& now = all.at(kHandOverVersion);
  EXPECT_EQ(of_a_bucket(), now.bucket);
  EXPECT_EQ(of_a_meter(), now.meter);
  EXPECT_EQ(of_an_address(), now.address);
  EXPECT_EQ(of_a_station(), now.station);
}

}  // namespace
}  // namespace surety
