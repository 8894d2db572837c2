// SPDX-License-Identifier: BSD-3-Clause
#include "router/signals/signal_sources.h"

#include <sodium.h>

namespace surety {

namespace {

std::uint64_t hash_of(const IpAddress& a, const std::array<std::uint8_t, 16>& secret) {
  std::uint64_t hash = 0;
  static_assert(sizeof hash == crypto_shorthash_BYTES && sizeof secret == crypto_shorthash_KEYBYTES);
  crypto_shorthash(reinterpret_cast<std::uint8_t*>(&hash), reinterpret_cast<const std::uint8_t*>(&a),
                   sizeof a, secret.data());
  return hash | 1;
}

}  // namespace

SignalSources::SignalSources(std::uint32_t per_second, const std::array<std::uint8_t, 16>& secret)
    : limit_(per_second), secret_(secret), sets_(kSets) {}

bool SignalSources::permit(const IpAddress& source, Time now) {
  const std::uint64_t tag = hash_of(source, secret_);
  Set& set = sets_[(tag >> 1) % kSets];
  Entry* room = nullptr;
  for (Entry& e : set) {
    if (e.tag == tag) return limit_.permit(e.bucket, now);
    if (!room && (e.tag == 0 || limit_.is_full(e.bucket, now))) room = &e;
  }
  if (!room) return limit_.permit(set[(tag >> 32) % kWays].bucket, now);
  room->tag = tag;
  limit_.reset(room->bucket, now);
  return limit_.permit(room->bucket, now);
}

}  // namespace surety
