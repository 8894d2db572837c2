// SPDX-License-Identifier: BSD-3-Clause
// Any segments at all, in any order, to both ends of our TCP: what they answer decodes, acknowledgements
// never go backwards nor beyond what was sent, and nothing is sent without end.
//
// Input: a byte that chooses the engine, then records of {pause, length, that many bytes of segment}.
// Sequence and acknowledgement numbers count from where the engine is, and the checksum is made good: a
// fuzzer guesses neither.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "endpoints/tcp/iperf3_sink.h"
#include "endpoints/tcp/tcp_receiver.h"
#include "endpoints/tcp/tcp_sender.h"

namespace {

using namespace surety;
using namespace surety::endpoints;

constexpr std::uint8_t kTcp = 6;

void require(bool holds) {
  if (!holds) std::abort();
}

const Tuple& tuple() {
  static const Tuple t{IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2), 5001, 40000};
  return t;
}

// A segment for the engine, on the heap to its exact length.
struct Packet {
  std::unique_ptr<std::uint8_t[]> bytes;
  IpPacket ip;
  explicit Packet(std::span<const std::uint8_t> segment)
      : bytes(std::make_unique<std::uint8_t[]>(segment.size())) {
    if (!segment.empty()) std::memcpy(bytes.get(), segment.data(), segment.size());
    ip.source = tuple().remote;
    ip.destination = tuple().local;
    ip.protocol = kTcp;
    ip.payload = {bytes.get(), segment.size()};
    ip.length = static_cast<std::uint16_t>(20 + segment.size());
  }
  void add32(std::size_t at, std::uint32_t n) {
    store(bytes.get() + at, __builtin_bswap32(load_be32(bytes.get() + at) + n));
  }
  void fix_checksum() {
    store(bytes.get() + 16, std::uint16_t{0});
    Sum sum = pseudo_header(ip);
    sum.add(ip.payload);
    store(bytes.get() + 16, sum.checksum_field());
  }
};

void read_any_bytes(std::span<const std::uint8_t> segment) {
  Packet p(segment);
  tcp::Segment s;
  if (segment.size() >= 20) p.fix_checksum();
  if (tcp::read(p.ip, s) != Refusal::none) return;
  require(s.payload.size() + 20 <= segment.size());
  require(s.payload.empty() || s.payload.data() + s.payload.size() == p.bytes.get() + segment.size());
  require(!s.window_scale || *s.window_scale <= 14);
  require(s.sack.count <= tcp::Blocks::kMost);
}

class Session {
 public:
  Session(Engine& engine, std::uint32_t sequence) : engine_(engine), sequence_(sequence) {}

  void poll() {
    for (int n = 0;; ++n) {
      require(n < 10'000);
      std::uint8_t out[1500];
      Slot slot{out, sizeof out, 0};
      if (engine_.poll({&slot, 1}, now_) == 0) break;
      require(slot.length >= 40 && slot.length <= sizeof out);
      heard({out + 20, slot.length - 20});
    }
    require(engine_.next_wakeup() > now_);
  }

  void give(std::span<const std::uint8_t> segment, Duration pause) {
    now_ += pause;
    if (engine_.next_wakeup() <= now_) poll();
    Packet p(segment);
    if (segment.size() >= 20) {
      p.add32(4, sequence_);
      p.add32(8, acknowledges_);
      p.fix_checksum();
    }
    FlowReading before, after;
    engine_.read(before);
    engine_.receive(p.ip, now_);
    engine_.read(after);
    require(after.payload_bytes >= before.payload_bytes);
    poll();
  }

 private:
  void heard(std::span<const std::uint8_t> bytes) {
    IpPacket ip;
    ip.source = tuple().local;
    ip.destination = tuple().remote;
    ip.protocol = kTcp;
    ip.payload = bytes;
    tcp::Segment s;
    require(tcp::read(ip, s) == Refusal::none);
    if (s.has(tcp::kRst)) return;
    if (s.has(tcp::kSyn)) acknowledges_ = s.sequence + 1;
    if (!s.has(tcp::kAck)) return;
    require(!acked_ || !tcp::before(s.ack, last_ack_));
    acked_ = true;
    last_ack_ = s.ack;
    sequence_ = s.ack;  // where the next record counts from
  }

  Engine& engine_;
  std::uint32_t sequence_, acknowledges_ = 0, last_ack_ = 0;
  bool acked_ = false;
  Time now_{std::chrono::seconds(1)};
};

void run(Session& session, std::span<const std::uint8_t> input) {
  session.poll();
  while (input.size() >= 2) {
    const Duration pause = std::chrono::milliseconds(input[0] * input[0]);
    const std::size_t length = std::min<std::size_t>(input[1], input.size() - 2);
    session.give(input.subspan(2, length), pause);
    input = input.subspan(2 + length);
  }
}

void run_sink(std::uint8_t choice, std::span<const std::uint8_t> input) {
  tcp::Segment syn;
  syn.source_port = tuple().remote_port;
  syn.destination_port = tuple().local_port;
  syn.sequence = 0xffff'ff00;
  syn.flags = tcp::kSyn;
  if ((choice & 4) != 0) syn.timestamps = tcp::Timestamps{1, 0};
  if ((choice & 8) != 0) syn.window_scale = 7;
  syn.sack_permitted = (choice & 64) != 0;
  if ((choice & 128) != 0) syn.flags |= tcp::kEce | tcp::kCwr;
  std::uint8_t bytes[100];
  Slot slot{bytes, sizeof bytes, 0};
  const Tuple theirs{tuple().remote, tuple().local, tuple().remote_port, tuple().local_port};
  tcp::write(syn, IpWriter(theirs, kTcp), 0, slot);
  const Packet first({bytes + 20, slot.length - 20});

  SinkParams params;
  params.ack = (choice & 16) != 0 ? AckPolicy::every : AckPolicy::delayed;
  if ((choice & 32) != 0) params.window = Bytes(300);
  TcpAcceptor plain(params, 1);
  Iperf3Acceptor iperf3(params, 1);
  Acceptor& acceptor = (choice & 2) != 0 ? static_cast<Acceptor&>(iperf3) : plain;
  alignas(64) std::uint8_t room[kEngineBytes];
  Refusal refusal;
  Engine* const e = acceptor.accept(room, tuple(), first.ip, Time(std::chrono::seconds(1)), refusal);
  require(e != nullptr);
  Session session(*e, syn.sequence + 1);
  run(session, input);
  e->~Engine();
}

void run_sender(std::uint8_t choice, std::span<const std::uint8_t> input) {
  TcpParams params;
  params.flavour = static_cast<TcpFlavour>(choice / 2 % kCongestionControls.size());
  params.reserved = Rate::bits_per_second(1'000'000);
  params.timestamps = (choice & 8) != 0;
  params.window = Bytes(20'000);
  params.sack = (choice & 32) != 0;
  params.common.total_payload = (choice & 16) != 0 ? 10'000 : 0;
  TcpSender sender(params, tuple(), Schedule{}, 1);
  Session session(sender, 0x1234'5678);
  run(session, input);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> input(data, size);
  read_any_bytes(input);
  if (input.empty()) return 0;
  if ((input[0] & 1) != 0)
    run_sender(input[0], input.subspan(1));
  else
    run_sink(input[0], input.subspan(1));
  return 0;
}
