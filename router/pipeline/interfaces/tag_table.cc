// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/interfaces/tag_table.h"

namespace surety {

void TagTable::add(std::uint16_t protocol, std::uint16_t outer, std::uint16_t inner,
                   InterfaceIndex interface) {
  Outer& o = outer_[outer];
  if (inner == 0) {
    o.one = interface;
    o.one_protocol = protocol;
    return;
  }
  if (o.count == 0) {
    o.begin = static_cast<std::uint32_t>(inner_.size());
    o.first = inner;
    o.two_protocol = protocol;
  }
  o.count = static_cast<std::uint16_t>(inner - o.first + 1);
  inner_.resize(o.begin + o.count, kNoInterface);
  inner_.back() = interface;
}

}  // namespace surety
