// SPDX-License-Identifier: BSD-3-Clause
// How the keys of each conditioner are read.
#include "config/conditioners.h"

#include <fmt/format.h>

#include <type_traits>

#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

constexpr std::uint32_t kMaxBuffer = 65535;
constexpr Bytes kMaxPacket{9216};

using Places = Draft::ServicePlaces;

// What a token stands for, and the packet that a depth in packets stands for.
struct Tokens {
  TokenUnit unit = TokenUnit::bytes;
  Bytes packet = kDefaultNominalPacket;
};

Tokens read_tokens(MapReader& map, Problems& problems) {
  Tokens t;
  map.read_word("tokens", t.unit, {{"bytes", TokenUnit::bytes}, {"packets", TokenUnit::packets}});
  if (map.read("packet", t.packet) && t.packet > kMaxPacket) {
    problems.error(map.at("packet"), fmt::format("a packet is at most {} B", kMaxPacket.count()));
  }
  return t;
}

// A bucket's depth, and where it stands, for the comparison with the ports' MTU.
Depth read_bucket(MapReader& map, std::string_view key, const Tokens& tokens, Places& places,
                  Problems& problems) {
  Depth depth;
  if (!map.required(key, depth)) return depth;
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
  return {s.committed, read_bucket(map, "bucket", tokens, places, problems), tokens.unit, tokens.packet};
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
    if (map.find(key)) problems.error(map.at(key), fmt::format("a `fixed` alpha has no `{}`", key));
  }
  return true;
}

// `auto` becomes a number once all is known that is sold (validate_rates.cc).
void read_max(MapReader& map, CsaParams& alpha, Places& places, Problems& problems) {
  const Node* n = map.find("max");
  alpha.auto_max = n && n->kind == Node::Kind::scalar && n->text == "auto";
  if (alpha.auto_max) {
    places.auto_max = Places::AutoMax{.at = n->mark, .packet = {}};
    return;
  }
  map.read("max", alpha.max);
  if (alpha.min > alpha.max) {
    problems.error(map.at("min"),
                   fmt::format("`min` {:g} is above `max` {:g}", alpha.min.value(), alpha.max.value()));
  }
}

void read_band(MapReader& map, CsaParams& alpha, Places& places, Problems& problems) {
  map.read_word("control", alpha.control,
                {{"search", AlphaControl::search},
                 {"paper", AlphaControl::paper},
                 {"periodic", AlphaControl::periodic}});
  const CsaParams papers;  // whose band goes with their control, and their step with a `max` like theirs
  if (alpha.control != AlphaControl::search) alpha.max = papers.max;
  if (alpha.control != AlphaControl::search || map.find("max")) alpha.step = papers.step;
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

void read(Csa& csa, MapReader& map, Service& s, Places& places, Problems& problems) {
  map.required("rate", s.committed);
  const Tokens tokens = read_tokens(map, problems);
  const Depth in = read_bucket(map, "in_bucket", tokens, places, problems);
  const Depth out = read_bucket(map, "out_bucket", tokens, places, problems);
  csa.bucket.in = {s.committed, in, tokens.unit, tokens.packet};
  csa.bucket.out = {s.committed, out, tokens.unit, tokens.packet};
  if (const Node* n = map.find("buffer")) {
    read_packets(n, 1, kMaxBuffer, csa.bucket.buffer, problems);
    places.buffer = n->mark;
  }
  if (const Node* n = map.find("alpha")) read_alpha(*n, csa.alpha, places, problems);
  if (places.auto_max) places.auto_max->packet = tokens.packet;
}

void read(SrTcm& m, MapReader& map, Service& s, Places& places, Problems& problems) {
  map.required("rate", s.committed);
  m.cir = s.committed;
  m.cbs = read_burst(map, "committed_burst", false, places, problems);
  m.ebs = read_burst(map, "excess_burst", true, places, problems);
}

void read(TrTcm& m, MapReader& map, Service& s, Places& places, Problems& problems) {
  const bool rate = map.required("rate", s.committed);
  const bool peak = map.required("peak", m.pir);
  m.cir = s.committed;
  m.cbs = read_burst(map, "committed_burst", false, places, problems);
  m.pbs = read_burst(map, "peak_burst", false, places, problems);
  map.read("rfc4115", m.rfc4115);
  if (rate && peak && m.pir < m.cir) problems.error(map.at("peak"), "`peak` is below `rate`");
  if (rate && peak && m.rfc4115 && m.pir == m.cir) {
    problems.error(map.at("peak"),
                   "RFC 4115 needs a `peak` above `rate`: their difference is its excess rate");
  }
}

template <class... C>
bool read_one_of(std::type_identity<std::variant<C...>>, MapReader& map, Service& s, Places& places,
                 Problems& problems) {
  map.require("conditioner");
  if (!map.read_word("conditioner", s.conditioner, {{C::kWord, Conditioner(C{})}...})) return false;
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
