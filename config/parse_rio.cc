// SPDX-License-Identifier: BSD-3-Clause
// A class's `rio`.
#include <algorithm>

#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

constexpr double kLeastWeight = 0.0001;      // Floyd and Jacobson 1993, section 6: 0.001 is low already
constexpr double kMaxThreshold = 1'000'000;  // packets, as a queue's limit

bool read_threshold(const Node* node, double& out, Problems& problems) {
  const auto n =
      node ? value_of(*node, "a number of packets like `20`", parse_number, problems) : std::nullopt;
  if (n && *n > kMaxThreshold)
    problems.error(node->mark, "{} is too large; a threshold is at most {} packets", quote(node->text),
                   kMaxThreshold);
  if (n) out = *n;
  return n.has_value();
}

// min == max is allowed: a threshold without randomness.
// Returns whether it could be read.
bool read_red(const Node& node, std::string what, RedParams& red, Problems& problems) {
  MapReader map(node, std::move(what), problems);
  const bool min = read_threshold(map.require("min"), red.min, problems);
  const bool max = read_threshold(map.require("max"), red.max, problems);
  if (min && max && red.min > red.max) {
    problems.error(map.at("min"), "`min` {} is above `max` {}", red.min, red.max);
  }
  const bool pmax = map.required("pmax", red.pmax);
  if (pmax && red.pmax == Probability(0)) {
    problems.error(map.at("pmax"), "`pmax` must be more than 0 and at most 1");
  }
  return min && max && pmax;
}

// True if the curve of `red` is below that of `out` at any average. Both are straight up to their `max`.
bool drops_later(const RedParams& red, const RedParams& out) {
  if (red.min > out.min || red.max > out.max) return true;
  const double width = out.max - out.min, part = width > 0 ? (red.max - out.min) / width : 0;
  return red.max > red.min && red.pmax.value() < out.pmax.value() * part;
}

}  // namespace

void read_rio(const Node& node, RioParams& rio, Problems& problems) {
  MapReader map(node, "`rio`", problems);
  Probability weight(rio.weight);
  if (map.read("average", weight) && weight == Probability(0)) {
    problems.error(map.at("average"),
                   "`average` must be more than 0 and at most 1: the weight of a new sample");
  }
  rio.weight = weight.value();
  if (rio.weight > 0 && rio.weight < kLeastWeight)
    problems.warning(
        map.at("average"),
        "the average follows a queue after {:.0f} packets, too late to drop early; the default is `0.002`",
        1 / rio.weight);
  const Node* const in = map.require("in");
  const Node* const out = map.require("out");
  const bool of_in = in && read_red(*in, "`in` of `rio`", rio.in, problems);
  const bool of_out = out && read_red(*out, "`out` of `rio`", rio.out, problems);
  if (of_in && of_out && (rio.out.min > rio.in.min || rio.out.max > rio.in.max))
    problems.warning(
        out->mark, "OUT packets are dropped later than IN ones: `out` has a higher `min` or `max` than `in`");
  if (const Node* const red = map.find("red")) {
    const bool of_red = read_red(*red, "`red` of `rio`", rio.red.emplace(), problems);
    if (of_out && of_red && drops_later(*rio.red, rio.out))
      problems.error(
          red->mark,
          "red packets are dropped later than OUT ones: `red` must have at most the `min` and `max` "
          "of `out`, and at least its probability (RFC 2597)");
  }
  map.read("ecn", rio.ecn);
  map.read("mean_packet", rio.mean_packet);
  map.read("count_arriving", rio.count_arriving);
  map.read("idle_decay", rio.idle_decay);
}

// Nested thresholds on the queue itself: OUT packets may take 20 % of the room, and IN packets are dropped
// only when the queue is full. An average that follows slowly would let a flood of OUT packets fill the queue
// before it rises, and would drop OUT packets into an empty queue before it falls.
RioParams derived_rio(std::uint32_t limit) {
  RioParams rio;
  rio.weight = 1;
  rio.in = {1.0 * limit, 1.0 * limit, Probability(1)};
  rio.out = {0.1 * limit, 0.2 * limit, Probability(0.1)};
  return rio;
}

}  // namespace surety::config
