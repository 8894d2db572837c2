// SPDX-License-Identifier: BSD-3-Clause
// The keys that congestion signals are signed with: at most two, so that a key can be
// changed while routers run.
//
// A key file is YAML and should be readable by its owner only:
//
//   keys:      # the first one signs, all are accepted
//     - {id: 2, key: 5f0b6a4c9d3e21780011223344556677}
//     - {id: 1, key: 00112233445566778899aabbccddeeff}
//
// To change it: add the new key as the second one on every router; put it first on every router; remove the
// old one. A running router reads its file again upon SIGHUP.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace surety {

struct SignalKey {
  std::uint8_t id = 0;
  std::array<std::uint8_t, 16> bytes{};
  friend bool operator==(const SignalKey&, const SignalKey&) = default;
};

struct SignalKeys {
  std::vector<SignalKey> keys;  // one or two; the first one signs
  const SignalKey* find(std::uint8_t id) const;
  friend bool operator==(const SignalKeys&, const SignalKeys&) = default;
};

struct SignalKeysResult {
  SignalKeys keys;
  std::vector<std::string> errors;    // `file:line:column: message`, the source line, a caret
  std::vector<std::string> warnings;  // others may read the file
  bool ok() const { return errors.empty(); }
};

SignalKeysResult parse_signal_keys(const std::string& text, const std::string& file);
SignalKeysResult load_signal_keys(const std::string& file);

}  // namespace surety
