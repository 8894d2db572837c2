// Any bytes as a configuration: parse() answers with a Config or with errors, never throws, and its places
// are in the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace surety::config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto result = parse(text, "fuzz.yaml");
  const auto lines =
      1 + std::count(text.begin(), text.end(), '\n') + std::count(text.begin(), text.end(), '\r');
  bool error = false;
  for (const auto& d : result.diagnostics) {
    error |= d.severity == Diagnostic::Severity::error;
    if (d.line < 1 || d.column < 1 || d.line > lines + 1 || d.message.empty() || d.format().empty())
      std::abort();
  }
  if (result.ok() == error) std::abort();
  return 0;
}
