// SPDX-License-Identifier: BSD-3-Clause
// Any frames at all, to what answers on a link in place of a kernel (responder.h) and to what tells senders
// of packets that cannot go on (icmp_error.h): nothing crashes, every frame is counted once, the table stays
// within its ceiling and on its subnets, and nothing but whole, small frames goes out. The input is a
// sequence of {16-bit length, shape, bytes}; of most shapes the harness puts right what a fuzzer cannot
// guess: addresses, lengths, checksums.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "config/address.h"
#include "router/daemon/linux/icmp_error.h"
#include "router/daemon/linux/responder.h"
#include "router/pipeline/wire/checksum.h"

namespace {

using namespace surety;

constexpr MacAddress kMac{{2, 0, 0, 0, 0, 1}};
constexpr std::size_t kNeighbors = 8, kFrame = 14 + 1500;

void require(bool holds) {
  if (!holds) std::abort();
}

enum Shape : std::uint8_t { raw, arp, echo4, discovery };

// The rest is the fuzzer's.
void put_right(std::vector<std::uint8_t>& frame, Shape shape) {
  if (shape == raw || frame.size() < 14 + 60) return;
  std::copy(kMac.begin(), kMac.end(), frame.begin());
  std::uint8_t* const l3 = &frame[14];
  const std::size_t size = frame.size() - 14;
  if (shape == arp) {
    store(&frame[12], swap16(0x0806));
    store(l3, __builtin_bswap64(0x0001'0800'0604'0001));
    l3[7] = static_cast<std::uint8_t>(1 + (l3[7] & 1));
    l3[14] = l3[24] = 10;
    l3[15] = l3[16] = l3[25] = l3[26] = 0;
    if ((l3[27] & 1) == 0) l3[27] = 254;
  } else if (shape == echo4) {
    store(&frame[12], swap16(0x0800));
    l3[0] = 0x45;
    store(l3 + 2, swap16(static_cast<std::uint16_t>(size)));
    l3[6] = l3[7] = l3[10] = l3[11] = 0;
    l3[9] = 1;
    store(l3 + 16, swap16(0x0a00));
    store(l3 + 18, swap16(0x00fe));
    Sum header, icmp;
    header.add({l3, 20});
    store(l3 + 10, header.checksum_field());
    l3[20] = 8;
    l3[21] = l3[22] = l3[23] = 0;
    icmp.add({l3 + 20, size - 20});
    store(l3 + 22, icmp.checksum_field());
  } else {
    store(&frame[12], swap16(0x86dd));
    l3[0] = 0x60;
    store(l3 + 4, swap16(static_cast<std::uint16_t>(size - 40)));
    l3[6] = 58;
    l3[7] = 255;
    l3[40] = static_cast<std::uint8_t>(135 + (l3[40] & 1));
    l3[41] = l3[42] = l3[43] = 0;
    auto s = pseudo_header(IpAddress::v6(l3 + 8), IpAddress::v6(l3 + 24), 58,
                           static_cast<std::uint32_t>(size - 40));
    s.add({l3 + 40, size - 40});
    store(l3 + 42, s.checksum_field());
  }
}

struct Bed {
  PortAddresses addresses{
      {parse_prefix("10.0.0.254/24").value(), parse_prefix("2001:db8::fe/64").value()}, {}, kMac};
  Responder responder{kMac, addresses, 1500, Time{}, 1, Responder::Answers::all, kNeighbors};
  IcmpErrors errors{1, Time{}};
  std::vector<std::uint8_t> room = std::vector<std::uint8_t>(kFrame);
  Time now{};

  Slot slot() { return {room.data(), static_cast<std::uint32_t>(room.size()), 0}; }

  void receive(std::span<const std::uint8_t> frame) {
    require(responder.receive(frame, now) != ResponderResult::none);
    ParsedPacket p;
    const ParseOutcome outcome = parse(frame, {.mac = kMac}, p);
    if (outcome.drop != DropReason::none || outcome.punt == PuntReason::arp ||
        outcome.punt == PuntReason::control)
      return;
    const IpAddress to = ip_packet(frame, p).destination;
    if (p.ttl > 1 && addresses.on_link(to)) responder.hold(to, frame.subspan(p.l3_offset, p.length), 0, now);
    Slot out = slot();
    for (const auto problem : {IcmpProblem::time_exceeded, IcmpProblem::too_big,
                               IcmpProblem::host_unreachable, IcmpProblem::source_refused}) {
      errors.report(problem, 1280, frame, p.l3_offset, 0, kMac, addresses, out, now);
      require(out.length == 0 || (out.length >= 14 + 28 && out.length <= IcmpErrors::kLargest));
    }
  }

  void send() {
    while (const auto change = responder.next_change()) {
      require(addresses.on_link(change->address));
      responder.release(*change);
    }
    for (Slot out = slot(); responder.poll({&out, 1}, now) == 1; out = slot()) {
      require(out.length >= 14 + 28 && out.length <= kFrame);
      require(std::equal(kMac.begin(), kMac.end(), room.begin() + 6));
    }
    require(responder.neighbors().size() <= kNeighbors && responder.next_wakeup() > now);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bed bed;
  std::uint64_t frames = 0;
  while (size >= 3) {
    const std::size_t length = std::min<std::size_t>(load<std::uint16_t>(data) % 1600, size - 3);
    const auto shape = static_cast<Shape>(data[2] & 3);
    const auto pause = std::chrono::milliseconds(100 * (data[2] >> 2));
    std::vector<std::uint8_t> frame(data + 3, data + 3 + length);
    data += 3 + length;
    size -= 3 + length;
    put_right(frame, shape);
    bed.receive(frame);
    bed.send();
    bed.now += pause;
    bed.send();
    ++frames;
  }
  const auto& results = bed.responder.results();
  require(std::accumulate(results.begin(), results.end(), std::uint64_t{0}) == frames);
  return 0;
}
