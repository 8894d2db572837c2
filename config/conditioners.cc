// SPDX-License-Identifier: BSD-3-Clause
// Readers of the conditioners' keys.
#include "config/conditioners.h"

#include <type_traits>

#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

constexpr std::uint32_t kMaxBuffer = 65535;
constexpr Duration kMaxDelay = std::chrono::seconds(1);
constexpr Bytes kMaxPacket{9216};
// Defaults of a service. TCP wastes tokens where the bucket holds less than about 100 ms of the rate.
constexpr Duration kBucket = std::chrono::milliseconds(100), kOutBucket = std::chrono::milliseconds(20),
                   kDelay = std::chrono::milliseconds(20);
constexpr Dscp kAf11 = 10, kAf12 = 12;  // RFC 2597

using Places = Draft::ServicePlaces;

// Unit of a token, and the packet length for a depth in packets.
struct Tokens {
  TokenUnit unit = TokenUnit::bytes;
  Bytes packet = kDefaultNominalPacket;
};

Tokens read_tokens(MapReader& map, Problems& problems) {
  Tokens t;
  map.read_word("tokens", t.unit,
                {{"bytes", TokenUnit::bytes}, {"packets", TokenUnit::packets}, {"ticks", TokenUnit::ticks}});
  if (map.read("packet", t.packet) && t.packet > kMaxPacket) {
    problems.error(map.at("packet"), "a packet is at most {} B", kMaxPacket.count());
  }
  return t;
}

// Bytes that `rate` brings in `time`.
Bytes brought(Rate rate, Duration time) {
  return Bytes(static_cast<std::uint64_t>(static_cast<double>(rate.bits_per_second()) / 8e9 *
                                          static_cast<double>(time.count())));
}

// A bucket's depth; its mark is kept for the comparison with the ports' MTU. Without the key: what the rate
// brings in `time`, and at least two packets.
Depth read_bucket(MapReader& map, std::string_view key, const Tokens& tokens, Rate rate, Duration time,
                  Places& places, Problems& problems) {
  Depth depth;
  if (!map.find(key))
    return Depth::bytes(std::clamp(brought(rate, time), 2 * tokens.packet, kMaxBucketDepth).count());
  if (!map.read(key, depth)) return depth;
  const Bytes bytes = depth.bytes(tokens.packet);
  if (bytes > kMaxBucketDepth || depth.count > kMaxBucketDepth.count())
    problems.error(map.at(key), "a bucket holds at most 1 GB");
  if (tokens.unit == TokenUnit::bytes) places.buckets.emplace_back(map.at(key), bytes);
  return depth;
}

Bytes read_burst(MapReader& map, std::string_view key, bool may_be_zero, Places& places, Problems& problems) {
  Bytes burst;
  const Node* n = map.require(key);
  if (!n) return burst;
  const bool zero = may_be_zero && n->kind == Node::Kind::scalar && parse_bytes(n->text).value == Bytes(0);
  if (zero || !read_value(*n, burst, problems)) return burst;
  if (burst > kMaxBucketDepth) problems.error(n->mark, "a burst is at most 1 GB");
  places.buckets.emplace_back(n->mark, burst);
  return burst;
}

TokenBucketParams read_one_bucket(MapReader& map, Service& s, Places& places, Problems& problems) {
  map.required("rate", s.committed);
  const Tokens tokens = read_tokens(map, problems);
  const Depth depth = read_bucket(map, "bucket", tokens, s.committed, kBucket, places, problems);
  return {s.committed, depth, tokens.unit, tokens.packet};
}

// --- one read() for each conditioner

void read(None&, MapReader&, Service&, Places&, Problems&) {}

void read(TokenBucketMarker& m, MapReader& map, Service& s, Places& places, Problems& problems) {
  m.bucket = read_one_bucket(map, s, places, problems);
}

void read(Police& p, MapReader& map, Service& s, Places& places, Problems& problems) {
  p.bucket = read_one_bucket(map, s, places, problems);
  s.drop_red = true;
}

// `fixed` is a band without width, in which nothing can move.
bool read_fixed(MapReader& map, CsaParams& alpha, Problems& problems) {
  if (!map.read("fixed", alpha.max)) return false;
  alpha.min = alpha.max;
  for (const auto* key : {"min", "max", "step", "control"}) {
    if (map.find(key)) problems.error(map.at(key), "a `fixed` alpha has no `{}`", key);
  }
  return true;
}

// validate_rates.cc replaces `auto` by a number once all committed rates are read.
void read_max(MapReader& map, CsaParams& alpha, Places& places, Problems& problems) {
  const Node* n = map.find("max");
  const auto is = [&](std::string_view word) {
    return n && n->kind == Node::Kind::scalar && n->text == word;
  };
  alpha.auto_max = is("auto");
  if (alpha.auto_max) {
    places.auto_max = Places::AutoMax{.at = n->mark, .packet = {}};
    return;
  }
  if (is("unlimited")) {
    alpha.max = Ratio::unlimited();
    if (alpha.control != AlphaControl::search)
      problems.error(n->mark, "`max: unlimited` needs `control: search`");
    return;
  }
  map.read("max", alpha.max);
  if (alpha.min > alpha.max) {
    problems.error(map.at("min"), "`min` {:g} is above `max` {:g}", alpha.min.value(), alpha.max.value());
  }
}

void read_band(MapReader& map, CsaParams& alpha, Places& places, Problems& problems) {
  map.read_word("control", alpha.control,
                {{"search", AlphaControl::search},
                 {"paper", AlphaControl::paper},
                 {"periodic", AlphaControl::periodic}});
  if (alpha.control != AlphaControl::search) alpha.max = CsaParams().max;  // the paper's
  map.read("min", alpha.min);
  read_max(map, alpha, places, problems);
  if (map.read("step", alpha.step) && alpha.step == Ratio{}) {
    problems.error(map.at("step"), "`step` must be at least 0.000001");
  }
}

void read_alpha(const Node& node, CsaParams& alpha, Places& places, Problems& problems) {
  MapReader map(node, "`alpha`", problems);
  if (!read_fixed(map, alpha, problems)) read_band(map, alpha, places, problems);
  map.read("t1", alpha.t1);
  map.read("t2", alpha.t2);
  if (alpha.t1 >= alpha.t2) problems.error(map.at("t1"), "`t1` must be shorter than `t2`");
}

// A number of packets, or a time: the bytes that the rate brings in it.
void read_buffer(const Node* node, EnhancedTokenBucketParams& bucket, Rate rate, Problems& problems) {
  const bool scalar = node && node->kind == Node::Kind::scalar;
  if (scalar && parse_packets(node->text).value) {
    read_packets(node, 1, kMaxBuffer, bucket.buffer, problems);
    return;
  }
  Duration delay = kDelay;
  if (node && (!scalar || !parse_duration(node->text).value))
    return problems.error(node->mark,
                          "a buffer is a time like `20 ms`, or a number of packets like `100 packets`");
  if (node && !read_value(*node, delay, problems)) return;
  if (node && delay > kMaxDelay) return problems.error(node->mark, "a buffer delays by at most 1 s");
  constexpr std::uint64_t kUsualPacket = 500;  // bytes: so many packets, if they are small
  const std::uint64_t bytes = brought(rate, delay).count();
  bucket.buffer_bytes =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes, 1, kMaxBucketDepth.count()));
  bucket.buffer = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / kUsualPacket, 16, kMaxBuffer));
}

void read(Csa& csa, MapReader& map, Service& s, Places& places, Problems& problems) {
  map.required("rate", s.committed);
  const Tokens tokens = read_tokens(map, problems);
  const Depth in = read_bucket(map, "in_bucket", tokens, s.committed, kBucket, places, problems);
  const Depth out = read_bucket(map, "out_bucket", tokens, s.committed, kOutBucket, places, problems);
  csa.bucket.in = {s.committed, in, tokens.unit, tokens.packet};
  csa.bucket.out = {s.committed, out, tokens.unit, tokens.packet};
  const Node* const buffer = map.find("buffer");
  read_buffer(buffer, csa.bucket, s.committed, problems);
  if (buffer) places.buffer = buffer->mark;
  if (const Node* n = map.find("alpha")) read_alpha(*n, csa.alpha, places, problems);
  bool out_from_backlog = false;
  if (map.read("out_from_backlog", out_from_backlog) && out_from_backlog &&
      (csa.alpha.control != AlphaControl::search || csa.alpha.min >= csa.alpha.max))
    problems.error(map.at("out_from_backlog"),
                   "`out_from_backlog` needs `control: search`, and `min` below `max`");
  csa.bucket.set_out_from_backlog(out_from_backlog);
  if (places.auto_max) places.auto_max->packet = tokens.packet;
}

void read(SrTcm& m, MapReader& map, Service& s, Places& places, Problems& problems) {
  map.required("rate", s.committed);
  m.cir = s.committed;
  m.cbs = read_burst(map, "committed_burst", false, places, problems);
  m.ebs = read_burst(map, "excess_burst", true, places, problems);
  map.read("color_aware", s.color_aware);
}

void read(TrTcm& m, MapReader& map, Service& s, Places& places, Problems& problems) {
  const bool rate = map.required("rate", s.committed);
  const bool peak = map.required("peak", m.pir);
  m.cir = s.committed;
  m.cbs = read_burst(map, "committed_burst", false, places, problems);
  m.pbs = read_burst(map, "peak_burst", false, places, problems);
  map.read("rfc4115", m.rfc4115);
  map.read("color_aware", s.color_aware);
  if (rate && peak && m.pir < m.cir) problems.error(map.at("peak"), "`peak` is below `rate`");
  if (rate && peak && m.rfc4115 && m.pir == m.cir) {
    problems.error(map.at("peak"),
                   "RFC 4115 needs a `peak` above `rate`: their difference is its excess rate");
  }
}

template <class... C>
bool read_one_of(std::type_identity<std::variant<C...>>, MapReader& map, Service& s, Places& places,
                 Problems& problems) {
  if (!map.find("conditioner")) {
    s.conditioner = Csa{};
    s.mark_in = kAf11;
    s.mark_out = kAf12;
  } else if (!map.read_word("conditioner", s.conditioner, {{C::kWord, Conditioner(C{})}...})) {
    return false;
  }
  std::visit([&](auto& c) { read(c, map, s, places, problems); }, s.conditioner);
  return true;
}

}  // namespace

bool read_conditioner(MapReader& map, Service& s, Draft::ServicePlaces& places, Problems& problems) {
  return read_one_of(std::type_identity<Conditioner>{}, map, s, places, problems);
}

Bytes committed_bucket(const Conditioner& conditioner) {
  const auto depth = [](const TokenBucketParams& p) {
    return Bytes(static_cast<std::uint64_t>(p.depth() / kCreditPerByte));
  };
  struct {
    decltype(depth)& of;
    Bytes operator()(const Csa& c) const { return of(c.bucket.in); }
    Bytes operator()(const TokenBucketMarker& c) const { return of(c.bucket); }
    Bytes operator()(const Police& c) const { return of(c.bucket); }
    Bytes operator()(const SrTcm& c) const { return c.cbs; }
    Bytes operator()(const TrTcm& c) const { return c.cbs; }
    Bytes operator()(const None&) const { return Bytes(0); }
  } bucket{depth};
  return std::visit(bucket, conditioner);
}

}  // namespace surety::config
