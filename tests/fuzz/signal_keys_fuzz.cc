// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a key file: keys or errors, never both; keys are as promised; and no message shows a word of
// the file that could be of a key.
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "router/pipeline/signals/signal_keys.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// The masked source line is the second one of a message: no hexadecimal digit is left in it outside of the
// vocabulary.
void check_masked(const std::string& message) {
  const auto begin = message.find('\n');
  if (begin == message.npos) return;
  std::string line = message.substr(begin, message.find('\n', begin + 1) - begin);
  for (const std::string_view word : {"routers", "keys", "key", "id"})
    for (std::size_t at; (at = line.find(word)) != line.npos;) line.erase(at, word.size());
  for (const char c : line) require(!std::isxdigit(static_cast<unsigned char>(c)));
}

void check_keys(const surety::SignalKeys& all, const std::vector<surety::SignalKey>& keys,
                std::uint32_t router) {
  require(keys.size() <= 2);
  for (const auto& key : keys) require(all.find(router, key.id) == &key && !key.secret.zero());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto result = surety::parse_signal_keys(text, "k");
  require(result.ok() == !(result.keys.keys.empty() && result.keys.routers.empty()) &&
          result.warnings.empty());
  check_keys(result.keys, result.keys.keys, 0);
  for (const auto& [router, keys] : result.keys.routers) {
    require(router != 0 && !keys.empty());
    check_keys(result.keys, keys, router);
  }
  for (const auto& e : result.errors) {
    require(e.starts_with("k:"));
    check_masked(e);
  }
  return 0;
}
