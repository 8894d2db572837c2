// SPDX-License-Identifier: BSD-3-Clause
// The outcome of parse() in words, so that tables of cases read like the specification.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "router/pipeline/wire/headers.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety::frames {

inline ParseContext our_context() {
  ParseContext context;
  context.mac = kOurMac;
  context.port = 3;
  return context;
}

inline std::string words(const ParseOutcome& outcome) {
  if (outcome.drop != DropReason::none) return "drop " + std::string(info(outcome.drop).name);
  if (outcome.punt == PuntReason::none) return "forward";
  return "punt " + std::string(kPuntReasonInfo[static_cast<std::size_t>(outcome.punt)].name);
}

// Parses a copy that ends where the frame ends, so that a sanitizer sees the first byte read beyond it.
inline ParseOutcome parse_exact(const Octets& frame, ParsedPacket& out,
                                const ParseContext& context = our_context()) {
  const auto copy = std::make_unique<std::uint8_t[]>(frame.size());
  std::copy(frame.begin(), frame.end(), copy.get());
  return parse({copy.get(), frame.size()}, context, out);
}

inline std::string verdict(const Octets& frame, const ParseContext& context = our_context()) {
  ParsedPacket out;
  return words(parse_exact(frame, out, context));
}

struct Case {
  const char* name;
  Octets frame;
  const char* verdict;
};

inline void expect_verdicts(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(verdict(c.frame), c.verdict) << c.name;
}

}  // namespace surety::frames
