// SPDX-License-Identifier: BSD-3-Clause
// Parameters of a group, and of an interface with its classes.
//
// Made from the configuration by any thread, then immutable, and shared by all that have the same (4,000
// homes have one). The owner keeps them until nothing in a Hierarchy has them any more (HierarchyUpdate).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "aqm/hierarchy/packet_pool.h"
#include "aqm/params.h"
#include "aqm/queue_decision.h"
#include "conditioners/token_bucket.h"

namespace surety {

// Parameters of each child of a port or of a group.
class ShareParams {
 public:
  static constexpr std::uint32_t kMaxWeight = 1u << 20;

  // `weight`: relative to its siblings, 1 .. kMaxWeight, in bytes that include the shaper's overhead.
  ShareParams(const PortShaperParams& shaper, std::uint32_t weight);

  bool limited() const { return limited_; }
  const WireOverhead& overhead() const { return overhead_; }
  const TokenBucketParams& bucket() const { return bucket_; }
  std::uint32_t weight() const { return weight_; }
  // 2^31 / weight.
  std::uint32_t inverse() const { return inverse_; }

 private:
  TokenBucketParams bucket_;
  WireOverhead overhead_;
  std::uint32_t weight_, inverse_;
  bool limited_;
};

using GroupParams = ShareParams;
// Number of a group below a port, the caller's own.
using GroupNumber = std::uint32_t;
inline constexpr GroupNumber kNoGroup = ~GroupNumber{0};  // directly below the port

class InterfaceParams : public ShareParams {
 public:
  struct Class : QueueRules {
    Class(const ClassParams& params, std::uint32_t quantum, std::uint32_t part);
    PoolShare share;
    std::int32_t quantum;  // bytes of the wire; weighted classes
    bool capped;
    TokenBucketParams cap;
  };

  // `part`: packets that each queue has room for in any case; rounded up to chunks.
  InterfaceParams(const PortShaperParams& shaper, std::uint32_t weight, std::span<const ClassParams> classes,
                  std::uint32_t part);

  const std::vector<Class>& classes() const { return classes_; }
  const Class& of(std::size_t class_index) const { return classes_[class_index]; }
  // A bit for each strict class; they are served in the order they are listed.
  std::uint64_t strict() const { return strict_; }
  // True if an interface may change from one to the other: as many classes, strict or not as they were.
  bool same_classes(const InterfaceParams& other) const {
    return classes_.size() == other.classes_.size() && strict_ == other.strict_;
  }

 private:
  std::uint64_t strict_ = 0;
  std::vector<Class> classes_;
};

}  // namespace surety
