// SPDX-License-Identifier: BSD-3-Clause
// The keys that sign congestion signals: at most two of each router, so that a key can be changed while
// routers run.
//
// A key file is YAML and should be readable by its owner only:
//
//   keys:      # the first one signs, all are accepted
//     - {id: 2, key: 5f0b6a4c9d3e21780011223344556677}
//     - {id: 1, key: 00112233445566778899aabbccddeeff}
//
// To change it: add the new key as the second one on every router; put it first on every router; remove the
// old one. A running router reads its file again on SIGHUP.
//
// `keys` are valid for every router without keys of its own, so the file of one router is enough to sign for
// all. A router under `routers` has its own keys, and only these are valid for it:
//
//   routers:
//     192.0.2.1: [{id: 1, key: 8899aabbccddeeff0011223344556677}]
//     192.0.2.2: [{id: 1, key: 00112233445566778899aabbccddeeff}]
//
// The file of such a router needs no other key; the borders' files have those of all routers that signal.
// During the transition the common key is the second in each list.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/config.h"

namespace surety {

// A key that is not readable in a memory dump of the process.

// Stored as exclusive-or with a pad of the process, random and in memory that is locked and excluded from
// core dumps (sodium_malloc), so that copies may be anywhere.
class HiddenKey {
 public:
  using Plain = std::array<std::uint8_t, 16>;

  HiddenKey() : HiddenKey(Plain{}) {}
  explicit HiddenKey(const Plain& plain);
  Plain reveal() const;  // the caller must wipe the result
  bool zero() const { return *this == HiddenKey(); }
  friend bool operator==(const HiddenKey&, const HiddenKey&) = default;

 private:
  Plain masked_;
};

struct SignalKey {
  std::uint8_t id = 0;
  HiddenKey secret;
  friend bool operator==(const SignalKey&, const SignalKey&) = default;
};

struct SignalKeys {
  static constexpr std::size_t kMaxRouters = 4096;
  std::vector<SignalKey>
      keys;  // for routers without keys of their own: none, one or two; the first one signs
  std::map<std::uint32_t, std::vector<SignalKey>> routers{};  // indexed by id, one or two each

  const std::vector<SignalKey>& of(std::uint32_t router) const;
  const SignalKey* find(std::uint32_t router, std::uint8_t id) const;
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
// The keys of a router with signalling. A core router without a key of its own is an error: it signs signals.
SignalKeysResult load_signal_keys(const config::Config& config);

}  // namespace surety
