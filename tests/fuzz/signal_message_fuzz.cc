// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a congestion signal: reading stays within them, says why it refuses, and nothing that was not
// signed is believed, by itself or by a gate that already knows senders.
//
// The first byte says how to help the fuzzer, which guesses neither checksums nor MACs.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "router/pipeline/signals/signal_gate.h"
#include "tests/unit/router/pipeline/signals/signal_packets.h"

namespace {

using namespace surety;
using signals::Octets;

constexpr UnixTime kWall(std::chrono::milliseconds(1'700'000'000'123));

void require(bool holds) {
  if (!holds) std::abort();
}

enum Help : std::uint8_t { kRepair = 1, kSign = 2, kFromOneOfOurs = 4 };

Octets good(bool v6) {
  return signals::packet(signals::message(v6), signals::key(1));
}

// But for what routers on the way change and the checksums.
bool same_where_it_counts(const Octets& a, const Octets& b) {
  if (a.size() != b.size() || a[0] >> 4 != b[0] >> 4) return false;
  const std::size_t header = signals::header_of(b), addresses = header == 40 ? 8 : 12;
  for (std::size_t i = addresses; i < a.size(); ++i) {
    const std::size_t in_message = i - header;
    const bool checksum = i >= header && (in_message / 2 == 1 || in_message / 2 == 69);
    if (a[i] != b[i] && !checksum) return false;
  }
  return true;
}

// The bytes laid over a good packet, at a place that they name.
Octets over_good_packet(std::span<const std::uint8_t> data, bool v6) {
  Octets ip = good(v6);
  if (data.empty()) return ip;
  const std::size_t at = data[0] % ip.size();
  const auto rest = data.subspan(1);
  if (at + rest.size() > ip.size()) ip.resize(at + rest.size());
  std::copy(rest.begin(), rest.end(), ip.begin() + static_cast<std::ptrdiff_t>(at));
  return ip;
}

bool repairable(const Octets& ip) {
  return !ip.empty() && ip.size() >= signals::header_of(ip) + 140 && ip.size() % 2 == 0;
}

// What a holder of the key would have written with the fields of this packet.
bool sign(Octets& ip) {
  SignalMessage m;
  if (read_signal(ip, m) != SignalResult::applied) return false;
  ip = signals::packet(m, signals::key(1));
  return true;
}

void check_form(const Octets& ip) {
  const signals::Tight tight(ip);
  SignalMessage m;
  const SignalResult result = read_signal(tight, m);
  require(result == SignalResult::applied || result == SignalResult::malformed ||
          result == SignalResult::checksum || result == SignalResult::version);
  const bool v6 = !ip.empty() && ip[0] >> 4 == 6;
  if (ip.size() >= (v6 ? 40u : 20u)) {
    const signals::Tight icmp(std::span(ip).subspan(v6 ? 40 : 20));
    const bool ours = is_signal(icmp, v6);
    require(ours || result != SignalResult::applied);
  }
  if (result != SignalResult::applied) return;
  require(m.from.is_v6() == v6 && m.to.is_v6() == v6 && m.source.is_v6() == v6 &&
          m.destination.is_v6() == v6 && m.dscp < 64);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::uint8_t help = data[0];
  const std::span<const std::uint8_t> rest(data + 1, size - 1);
  Octets ip =
      help & kFromOneOfOurs ? over_good_packet(rest, (help & 8) != 0) : Octets(rest.begin(), rest.end());
  if (help & kRepair && repairable(ip)) signals::repair(ip);
  check_form(ip);
  const bool is_signed = help & kSign && sign(ip);
  const bool untouched = same_where_it_counts(ip, good(false)) || same_where_it_counts(ip, good(true));

  const SignalKeys keys{{signals::key(1), signals::key(2, 100)}};
  SignalGate gate({}, 0x0a090005, keys);
  CongestionSignal out;
  const SignalResult first = gate.judge(signals::Tight(ip), Time{}, kWall, out);
  require(first != SignalResult::applied || is_signed || untouched);
  require(gate.senders().size() == (first == SignalResult::applied ? 1 : 0));
  const SignalResult second = gate.judge(signals::Tight(ip), Time{}, kWall, out);
  require(first == SignalResult::applied ? second == SignalResult::replayed : second == first);
  // Everybody else is still heard.
  SignalMessage other = signals::message();
  other.from = signals::v4(10, 9, 0, 77);
  other.router = 0x0a09004d;
  const SignalResult honest = gate.judge(signals::packet(other, signals::key(2, 100)), Time{}, kWall, out);
  require(honest == SignalResult::applied ||
          (first == SignalResult::applied && honest == SignalResult::replayed));
  return 0;
}
