// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/losses.h"

#include <new>

namespace surety {

namespace {

template <class F>
void each(Loss& loss, const Loss& other, F f) {
  f(loss.refused_bytes, other.refused_bytes);
  for (std::size_t p = 0; p < kPrecedences; ++p) {
    f(loss.bytes[p], other.bytes[p]);
    f(loss.packets[p], other.packets[p]);
  }
  for (std::size_t r = 0; r < kLossReasons.size(); ++r) f(loss.by_reason[r], other.by_reason[r]);
}

// Single writer, so that a load and a store do: others see one value or the next.
void add_to(std::uint64_t& count, std::uint64_t more) {
  __atomic_store_n(&count, count + more, __ATOMIC_RELAXED);
}

Loss copy(const Loss& row) {
  Loss out;
  each(out, row,
       [](std::uint64_t& to, const std::uint64_t& of) { to = __atomic_load_n(&of, __ATOMIC_RELAXED); });
  return out;
}

}  // namespace

std::uint64_t Loss::at(LossPlace place) const {
  std::uint64_t n = 0;
  for (std::size_t r = 0; r < kLossReasons.size(); ++r)
    if (place_of(kLossReasons[r]) == place) n += by_reason[r];
  return n;
}

Loss& Loss::operator+=(const Loss& other) {
  each(*this, other, [](std::uint64_t& to, std::uint64_t more) { to += more; });
  return *this;
}

Loss& Loss::operator-=(const Loss& other) {
  each(*this, other, [](std::uint64_t& to, std::uint64_t less) { to -= less; });
  return *this;
}

// Zeroes that the kernel gives when they are looked at.
Losses::Table Losses::table(std::size_t rows) {
  auto* const p = static_cast<Loss*>(std::calloc(rows, sizeof(Loss)));
  if (p == nullptr) throw std::bad_alloc();
  return Table(p);
}

void Losses::make_room(std::size_t workers, std::uint32_t flows) {
  flows_.clear();
  for (std::size_t w = 0; w < workers; ++w) flows_.push_back(table(flows));
  capacity_ = flows;
}

void Losses::count(Loss& row, DropReason reason, Precedence precedence, std::uint32_t length) {
  add_to(row.by_reason[kIndexOf[static_cast<std::size_t>(reason)]], 1);
  if (place_of(reason) == LossPlace::conditioner) return add_to(row.refused_bytes, length);
  add_to(row.packets[index(precedence)], 1);
  add_to(row.bytes[index(precedence)], length);
}

void Losses::add(const PacketOwner& owner, DropReason reason, std::uint32_t length) {
  if (!owner.any()) return;
  count(services_[owner.service()], reason, owner.precedence(), length);
  if (Loss* const row = this->row(owner)) count(*row, reason, owner.precedence(), length);
}

Loss Losses::of(std::size_t worker, FlowId flow) const {
  return worker < flows_.size() && flow < capacity_ ? copy(flows_[worker][flow]) : Loss{};
}

Loss Losses::of_service(std::uint16_t service) const {
  return copy(services_[service]);
}

}  // namespace surety
