// SPDX-License-Identifier: BSD-3-Clause
// Who may read the metrics and how they travel: what the files of `metrics: {tls, password_file}` hold.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"

namespace surety {

struct MetricsAccess {
  using Digest = std::array<std::uint8_t, 32>;  // of `USER:PASSWORD`, which itself is not kept

  std::string certificate{}, key{};  // PEM; empty: HTTP
  std::optional<Digest> login{};     // none: nobody is asked
  bool console = true;               // pages too, where there are any

  static Digest digest_of(std::string_view login);
  friend bool operator==(const MetricsAccess&, const MetricsAccess&) = default;
};

// Throws std::runtime_error, a line `file:line:column: error: message` for each thing that is wrong: files
// that cannot be read or that others may read, a certificate and a key that are none or do not belong
// together, no `USER:PASSWORD`. No message shows what a file holds.
MetricsAccess load_metrics_access(const config::Metrics& metrics);

}  // namespace surety
