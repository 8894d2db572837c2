// SPDX-License-Identifier: BSD-3-Clause
// Any bytes at all, as DCCP: the decoder stays within them, and both engines, in any state, answer what is
// hostile without a crash, and with packets that are good themselves.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "endpoints/tfrc/dccp_receiver.h"
#include "endpoints/tfrc/dccp_sender.h"

namespace {

using namespace surety;
using namespace surety::endpoints;

void require(bool holds) {
  if (!holds) std::abort();
}

Tuple tuple() {
  return {IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2), 40000, 5001};
}
Tuple reversed(const Tuple& t) {
  return {t.remote, t.local, t.remote_port, t.local_port};
}
IpPacket view(std::span<const std::uint8_t> dccp, const Tuple& from) {
  IpPacket p;
  p.source = from.local;
  p.destination = from.remote;
  p.payload = dccp;
  p.length = static_cast<std::uint16_t>(20 + dccp.size());
  p.protocol = dccp::kProtocol;
  return p;
}

// The fuzzer cannot guess a checksum.
void fix_checksum(std::span<std::uint8_t> d, const Tuple& from) {
  if (d.size() < 12) return;
  const std::size_t words = d[5] & 15u;
  const std::size_t covered = words == 0 ? d.size() : std::size_t{d[4]} * 4 + 4 * (words - 1);
  if (covered > d.size() || covered < 8) return;
  d[6] = d[7] = 0;
  Sum s = pseudo_header(view(d, from));
  s.add(d.first(covered));
  store(d.data() + 6, s.checksum_field());
}

void check_decoder(const IpPacket& ip) {
  dccp::Packet p;
  if (dccp::read(ip, p) != Refusal::none) return;
  require(p.sequence < dccp::kSequenceModulus && p.ack < dccp::kSequenceModulus);
  require(p.payload.data() + p.payload.size() == ip.payload.data() + ip.payload.size());
  std::size_t bytes = 0;
  dccp::OptionReader r(p.options);
  for (dccp::Option o; r.next(o);) bytes += 1 + o.data.size();
  require(bytes <= p.options.size());
  const dccp::Feedback f = dccp::read_feedback(p.options);
  const double rate = dccp::loss_event_rate(f);
  require(rate >= 0 && rate <= 1);
}

// Some of what an engine has to send; each packet readable by the other end. A peer that feigns a round-trip
// time of a microsecond gets many at once: not all of them matter here.
std::vector<std::vector<std::uint8_t>> drain(Engine& e, Time now, const Tuple& from) {
  std::vector<std::vector<std::uint8_t>> all;
  std::array<std::uint8_t, 2048> bytes;
  while (all.size() < 16 && e.next_wakeup() <= now) {
    Slot s{bytes.data(), bytes.size(), 0};
    if (e.poll({&s, 1}, now) == 0) break;
    require(s.length >= 36 && s.length <= bytes.size());
    all.emplace_back(bytes.begin() + 20, bytes.begin() + s.length);
    dccp::Packet p;
    require(dccp::read(view(all.back(), from), p) == Refusal::none);
  }
  return all;
}

struct Pair {
  Pair() {
    params.common.packet = Bytes(500);
    params.tfrc.segment = Bytes(500);
    sender.emplace(params, tuple(), Schedule{}, 1);
  }
  ~Pair() {
    if (receiver != nullptr) receiver->~Engine();
  }
  void to_receiver(std::span<const std::uint8_t> d) {
    const IpPacket p = view(d, tuple());
    Refusal r = Refusal::none;
    if (receiver == nullptr) receiver = acceptor.accept(room, reversed(tuple()), p, now, r);
    if (receiver != nullptr) receiver->receive(p, now);
  }
  void exchange() {
    for (const auto& d : drain(*sender, now, tuple())) to_receiver(d);
    if (receiver == nullptr) return;
    for (const auto& d : drain(*receiver, now, reversed(tuple())))
      sender->receive(view(d, reversed(tuple())), now);
  }

  DccpParams params;
  SinkParams sink;
  std::optional<DccpSender> sender;
  DccpAcceptor acceptor{sink, 2};
  alignas(64) std::byte room[kEngineBytes];
  Engine* receiver = nullptr;
  Time now{};
};

// Hostile bytes are useless while they miss the window: `near` puts the real next numbers into them.
void aim(std::span<std::uint8_t> d, const std::vector<std::uint8_t>& model, std::uint8_t near) {
  if (d.size() < 24 || model.size() < 24) return;
  std::memcpy(d.data(), model.data(), 4);
  if ((near & 1) != 0) std::memcpy(d.data() + 10, model.data() + 10, 6);
  if ((near & 2) != 0) d[15] = static_cast<std::uint8_t>(d[15] + near / 8);
  if ((near & 4) != 0) std::memcpy(d.data() + 18, model.data() + 18, 6);
}

}  // namespace

// Records: {what, near, time, length, bytes...}.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Pair pair;
  std::vector<std::uint8_t> last_there, last_back;
  for (int i = 0; i < 64 && size >= 4; ++i) {
    const std::uint8_t what = data[0], near = data[1];
    pair.now += Duration(std::int64_t{1} << (data[2] % 38));
    const std::size_t length = std::min<std::size_t>(data[3], size - 4);
    const auto bytes = std::make_unique<std::uint8_t[]>(length);  // ends where the packet ends
    std::copy_n(data + 4, length, bytes.get());
    data += 4 + length;
    size -= 4 + length;
    const std::span<std::uint8_t> packet(bytes.get(), length);
    const bool to_receiver = (what & 1) != 0;
    for (auto& d : drain(*pair.sender, pair.now, tuple())) {
      last_there = d;
      if ((what & 8) == 0) pair.to_receiver(d);
    }
    if (pair.receiver != nullptr)
      for (auto& d : drain(*pair.receiver, pair.now, reversed(tuple()))) {
        last_back = d;
        if ((what & 16) == 0) pair.sender->receive(view(d, reversed(tuple())), pair.now);
      }
    aim(packet, to_receiver ? last_there : last_back, near);
    const Tuple from = to_receiver ? tuple() : reversed(tuple());
    if ((what & 2) == 0) fix_checksum(packet, from);
    check_decoder(view(packet, from));
    if (to_receiver)
      pair.to_receiver(packet);
    else
      pair.sender->receive(view(packet, from), pair.now);
    if ((what & 4) != 0) pair.sender->close(pair.now);
    if ((what & 32) != 0 && pair.receiver != nullptr) pair.receiver->close(pair.now);
    pair.exchange();
    FlowReading r;
    pair.sender->read(r);
    if (pair.receiver != nullptr) pair.receiver->read(r);
  }
  return 0;
}
