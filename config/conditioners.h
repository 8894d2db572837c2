// SPDX-License-Identifier: BSD-3-Clause
// The conditioners that a service may name, each with its parameters; conditioners.cc reads their YAML.
//
// Each has the word that names it, and the number of colours of its packets (IN; OUT; red) that `mark` may
// give a DSCP.
#pragma once

#include <string_view>
#include <variant>

#include "conditioners/params.h"
#include "conditioners/units.h"

namespace surety::config {

struct None {
  static constexpr std::string_view kWord = "none";
  static constexpr int kColours = 1;
};
struct Csa {
  static constexpr std::string_view kWord = "csa";
  static constexpr int kColours = 2;
  EnhancedTokenBucketParams bucket;
  // A customer alone may use the link; alpha falls when its queue is congested (conditioners/README.md).
  CsaParams alpha{.max = Ratio::unlimited(), .step = Ratio::of(0.02), .control = AlphaControl::search};
};
struct TokenBucketMarker {
  static constexpr std::string_view kWord = "token-bucket";
  static constexpr int kColours = 2;
  TokenBucketParams bucket;  // beyond it: OUT
};
struct SrTcm {  // RFC 2697
  static constexpr std::string_view kWord = "srtcm";
  static constexpr int kColours = 3;
  Rate cir;
  Bytes cbs, ebs;
};
struct TrTcm {  // RFC 2698, or RFC 4115 with EIR = pir - cir and EBS = pbs
  static constexpr std::string_view kWord = "trtcm";
  static constexpr int kColours = 3;
  Rate cir, pir;
  Bytes cbs, pbs;
  bool rfc4115 = false;
};
struct Police {
  static constexpr std::string_view kWord = "police";
  static constexpr int kColours = 1;
  TokenBucketParams bucket;  // beyond it: drop `police`
};

using Conditioner = std::variant<Csa, TokenBucketMarker, SrTcm, TrTcm, Police, None>;

// Depth of the bucket that the committed rate fills; 0 for None.
Bytes committed_bucket(const Conditioner& conditioner);

}  // namespace surety::config
