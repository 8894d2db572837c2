// SPDX-License-Identifier: BSD-3-Clause
// Access to the metrics: the content of the files of `metrics: {tls, password_file}`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"

namespace surety {

struct MetricsAccess {
  using Digest = std::array<std::uint8_t, 32>;  // BLAKE2b of `USER:PASSWORD`, which is not stored

  std::string certificate{}, key{};  // PEM; empty: HTTP
  std::optional<Digest> login{};     // nullopt: no password
  bool console = true;               // serves pages, too, if there are any

  static Digest digest_of(std::string_view login);
  friend bool operator==(const MetricsAccess&, const MetricsAccess&) = default;
};

// Throws std::runtime_error, a line `file:line:column: error: message` for each error: files that cannot be
// read or that others may read, an invalid certificate or key or ones that do not match, no `USER:PASSWORD`.
// No message shows the content of a file.
MetricsAccess load_metrics_access(const config::Metrics& metrics);

}  // namespace surety
