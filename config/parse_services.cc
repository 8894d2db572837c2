// SPDX-License-Identifier: BSD-3-Clause
// Section `services`: what a rule gives a flow.
#include <fmt/format.h>

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

// `fixed` is a band without width, in which nothing can move.
bool read_fixed(MapReader& map, CsaParams& alpha, Problems& problems) {
  if (!map.read("fixed", alpha.max)) return false;
  alpha.min = alpha.max;
  for (const auto* key : {"min", "max", "step", "control"}) {
    if (map.find(key)) problems.error(map.at(key), fmt::format("a `fixed` alpha has no `{}`", key));
  }
  return true;
}

void read_band(MapReader& map, CsaParams& alpha, Problems& problems) {
  map.read_word("control", alpha.control, {{"search", AlphaControl::search}, {"paper", AlphaControl::paper}});
  map.read("min", alpha.min);
  map.read("max", alpha.max);
  if (map.read("step", alpha.step) && alpha.step == Ratio{}) {
    problems.error(map.at("step"), "`step` must be at least 0.000001");
  }
  if (alpha.min > alpha.max) {
    problems.error(map.at("min"),
                   fmt::format("`min` {:g} is above `max` {:g}", alpha.min.value(), alpha.max.value()));
  }
}

void read_alpha(const Node& node, CsaParams& alpha, Problems& problems) {
  MapReader map(node, "`alpha`", problems);
  if (!read_fixed(map, alpha, problems)) read_band(map, alpha, problems);
  map.read("t1", alpha.t1);
  map.read("t2", alpha.t2);
  if (alpha.t1 >= alpha.t2) problems.error(map.at("t1"), "`t1` must be shorter than `t2`");
}

Csa read_csa(MapReader& map, Service& s, Places& places, Problems& problems) {
  Csa csa;
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
  if (const Node* n = map.find("alpha")) read_alpha(*n, csa.alpha, problems);
  return csa;
}

SrTcm read_srtcm(MapReader& map, Service& s, Places& places, Problems& problems) {
  SrTcm m;
  map.required("rate", s.committed);
  m.cir = s.committed;
  m.cbs = read_burst(map, "committed_burst", false, places, problems);
  m.ebs = read_burst(map, "excess_burst", true, places, problems);
  return m;
}

TrTcm read_trtcm(MapReader& map, Service& s, Places& places, Problems& problems) {
  TrTcm m;
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
  return m;
}

void read_colour(MapReader& mark, std::string_view key, std::optional<Dscp>& out, Problems& problems) {
  Dscp d = 0;
  const Node* n = mark.find(key);
  if (n && read_dscp(*n, d, problems)) out = d;
}

void read_mark(const Node& node, Service& s, int colours, Problems& problems) {
  MapReader mark(node, colours == 1 ? "`mark` of a service without OUT packets" : "`mark`", problems);
  read_colour(mark, "in", s.mark_in, problems);
  if (colours > 1) read_colour(mark, "out", s.mark_out, problems);
  if (colours < 3) return;
  const Node* red = mark.find("red");
  s.drop_red = red && red->kind == Node::Kind::scalar && red->text == "drop";
  if (!s.drop_red) read_colour(mark, "red", s.mark_red, problems);
}

enum class Kind : std::uint8_t { none, csa, token_bucket, srtcm, trtcm, police };

int colours_of(Kind kind) {
  switch (kind) {
    case Kind::csa:
    case Kind::token_bucket:
      return 2;
    case Kind::srtcm:
    case Kind::trtcm:
      return 3;
    default:
      return 1;
  }
}

void read_conditioner(Kind kind, MapReader& map, Service& s, Places& places, Problems& problems) {
  switch (kind) {
    case Kind::csa:
      s.conditioner = read_csa(map, s, places, problems);
      break;
    case Kind::token_bucket:
      s.conditioner = TokenBucketMarker{read_one_bucket(map, s, places, problems)};
      break;
    case Kind::srtcm:
      s.conditioner = read_srtcm(map, s, places, problems);
      break;
    case Kind::trtcm:
      s.conditioner = read_trtcm(map, s, places, problems);
      break;
    case Kind::police:
      s.conditioner = Police{read_one_bucket(map, s, places, problems)};
      break;
    case Kind::none:
      break;
  }
}

// The conditioner decides which keys there may be, so it is looked up before the map's reader is made.
std::string what_of(const Node& node) {
  for (const auto& [key, value] : node.entries) {
    if (key->text == "conditioner" && value->kind == Node::Kind::scalar)
      return "a service with conditioner " + quote(value->text);
  }
  return "a service";
}

void read_service(const Node& node, Service& s, Places& places, Problems& problems) {
  Kind kind = Kind::none;
  MapReader map(node, what_of(node), problems);
  map.require("conditioner");
  const bool known = map.read_word("conditioner", kind,
                                   {{"csa", Kind::csa},
                                    {"token-bucket", Kind::token_bucket},
                                    {"srtcm", Kind::srtcm},
                                    {"trtcm", Kind::trtcm},
                                    {"police", Kind::police},
                                    {"none", Kind::none}});
  if (!known) {
    map.ignore_the_rest();
    return;
  }
  read_conditioner(kind, map, s, places, problems);
  if (const Node* n = map.find("mark")) read_mark(*n, s, colours_of(kind), problems);
}

}  // namespace

void read_services(const Node& node, Draft& draft) {
  for_each_named(node, "service", draft.problems,
                 [&](const std::string& name, const Node& key, const Node& value) {
                   auto& service = draft.config.services.emplace_back();
                   service.name = name;
                   Places places{.name = key.mark, .buckets = {}, .buffer = {}};
                   read_service(value, service, places, draft.problems);
                   draft.service_places.push_back(std::move(places));
                 });
}

}  // namespace surety::config
