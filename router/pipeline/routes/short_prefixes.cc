// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/short_prefixes.h"

namespace surety {

std::uint32_t ShortPrefixes::node_of(const Prefix& prefix) {
  const std::uint8_t* const bytes = prefix.address.data();
  const std::uint32_t bits = std::uint32_t{bytes[0]} << 8 | bytes[1];
  return (1u << prefix.length) | bits >> (kBits - prefix.length);
}

// Half a megabyte that most routers do without.
void ShortPrefixes::make() {
  nodes_ = std::make_unique<std::array<Node, 2 << kBits>>();
  slots_ = std::make_unique<Slots>();
  published_.store(slots_.get(), std::memory_order_release);
}

void ShortPrefixes::set(const Prefix& prefix, std::uint32_t value) {
  if (!slots_) make();
  const std::uint32_t node = node_of(prefix);
  (*nodes_)[node] = {value, true};
  fill(node, value);
}

bool ShortPrefixes::remove(const Prefix& prefix) {
  const std::uint32_t node = node_of(prefix);
  if (!nodes_ || !(*nodes_)[node].used) return false;
  (*nodes_)[node] = {};
  std::uint32_t above = node;
  while (above > 0 && !(*nodes_)[above].used) above /= 2;
  fill(node, (*nodes_)[above].value);
  return true;
}

// `value`: the next shorter prefix's.
void ShortPrefixes::fill(std::uint32_t node, std::uint32_t value) {
  const Node& n = (*nodes_)[node];
  if (n.used) value = n.value;
  if (node >= 1u << kBits) {
    slots_->values_[node - (1u << kBits)].store(value, std::memory_order_relaxed);
    return;
  }
  fill(2 * node, value);
  fill(2 * node + 1, value);
}

}  // namespace surety
