// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a configuration, of a router and of endpoints: the parser answers with a configuration or with
// errors, never throws, and its places are in the text. What it sells can be said.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/parse.h"
#include "config/sold.h"
#include "endpoints/config/endpoints.h"

namespace {

using surety::config::Diagnostic;

template <class Result>
void check(const Result& result, std::string_view text) {
  const auto lines =
      1 + std::count(text.begin(), text.end(), '\n') + std::count(text.begin(), text.end(), '\r');
  bool error = false;
  for (const auto& d : result.diagnostics) {
    error |= d.severity == Diagnostic::Severity::error;
    if (d.line < 1 || d.column < 1 || d.line > lines + 1 || d.message.empty() || d.format().empty())
      std::abort();
  }
  if (result.ok() == error) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto router = surety::config::parse(text, "fuzz.yaml");
  check(router, text);
  if (router.ok()) surety::config::sold(*router.config);
  check(surety::config::parse_endpoints(text, "fuzz.yaml"), text);
  return 0;
}
