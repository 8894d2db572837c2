// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/hierarchy/share_params.h"

#include <algorithm>
#include <cassert>

#include "aqm/class_scheduler.h"

namespace surety {

namespace {

std::int32_t quantum_of(std::uint32_t weight, std::uint32_t unit) {
  constexpr std::uint64_t kMost = 1'000'000'000;  // deficits are 32 bits
  return static_cast<std::int32_t>(std::min(std::uint64_t{weight} * unit, kMost));
}

}  // namespace

ShareParams::ShareParams(const PortShaperParams& shaper, std::uint32_t weight)
    : bucket_(bucket_params(shaper.rate, shaper.burst)),
      overhead_(shaper.overhead),
      weight_(std::clamp(weight, 1u, kMaxWeight)),
      inverse_((1u << 31) / weight_),
      limited_(shaper.rate.has_value()) {}

InterfaceParams::Class::Class(const ClassParams& params, std::uint32_t unit, std::uint32_t chunks)
    : QueueRules(params.queue),
      // The first chunk may be partly empty: some of its packets have left.
      share(chunks, params.queue.limit / Chunk::kPackets + 2),
      quantum(quantum_of(params.weight, unit)),
      capped(params.cap.has_value()),
      cap(bucket_params(params.cap, default_burst(params.cap.value_or(Rate{})))) {}

InterfaceParams::InterfaceParams(const PortShaperParams& shaper, std::uint32_t weight,
                                 std::span<const ClassParams> classes, std::uint32_t part)
    : ShareParams(shaper, weight) {
  assert(!classes.empty() && classes.size() <= kMaxClasses);
  const std::uint32_t unit = ClassScheduler::quantum_unit(classes, shaper.overhead);
  classes_.reserve(classes.size());
  for (const ClassParams& c : classes) {
    if (c.strict) strict_ |= std::uint64_t{1} << classes_.size();
    const std::uint32_t packets = std::min(part, c.queue.limit);
    classes_.emplace_back(c, unit, (packets + Chunk::kPackets - 1) / Chunk::kPackets);
  }
}

}  // namespace surety
