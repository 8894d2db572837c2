// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/hidden_key.h"

#include <sodium.h>

#include <new>

namespace surety {

namespace {

// The pad is never freed: objects that live as long as the process need it until its end to reveal their
// keys.
const HiddenKey::Plain& pad() {
  static const HiddenKey::Plain* const made = [] {
    void* const memory = sodium_init() < 0 ? nullptr : sodium_malloc(sizeof(HiddenKey::Plain));
    if (!memory) throw std::bad_alloc();
    randombytes_buf(memory, sizeof(HiddenKey::Plain));
    return static_cast<const HiddenKey::Plain*>(memory);
  }();
  return *made;
}

HiddenKey::Plain mask(const HiddenKey::Plain& plain) {
  const HiddenKey::Plain& with = pad();
  HiddenKey::Plain out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = plain[i] ^ with[i];
  return out;
}

}  // namespace

HiddenKey::HiddenKey(const Plain& plain) : masked_(mask(plain)) {}

HiddenKey::Plain HiddenKey::reveal() const {
  return mask(masked_);
}

}  // namespace surety
