// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/dccp_features.h"

#include <algorithm>

#include "router/pipeline/wire/bytes.h"

namespace surety::endpoints::dccp {

namespace {

constexpr std::uint8_t kNone = 0xff;  // no second choice

// The Confirm that answers a Change: of the other side's letter.
constexpr std::uint8_t confirm_of(std::uint8_t change) {
  return change == kChangeL ? kConfirmR : kConfirmL;
}
// Change R speaks of a feature of ours, Change L of one of the peer's (RFC 4340 6.1).
constexpr bool is_local(const Option& change) {
  return change.type == kChangeR;
}

std::array<std::uint8_t, 6> window_bytes(std::uint64_t w) {
  std::array<std::uint8_t, 6> bytes{};
  for (std::size_t i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(w >> (40 - 8 * i));
  return bytes;
}
std::uint64_t window_value(std::span<const std::uint8_t> six) {
  std::uint64_t w = 0;
  for (const std::uint8_t b : six) w = w << 8 | b;
  return w;
}

bool contains(std::span<const std::uint8_t> list, std::uint8_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

Features::Outcome Features::on_option(const Option& o) {
  if (o.data.empty()) return o.mandatory ? Outcome::mandatory : Outcome::done;
  return o.type == kChangeL || o.type == kChangeR ? on_change(o) : on_confirm(o);
}

Features::Outcome Features::on_change(const Option& o) {
  const bool local = is_local(o);
  std::uint8_t chosen = kNone;
  switch (o.data[0]) {
    case kCcid:
      return on_ccid(o, local);
    case kSequenceWindow:
      return on_sequence_window(o);
    case kEcnIncapable: {
      const Outcome outcome = agree(o, 0, local ? kNone : 1, chosen);
      if (!local && chosen != kNone) remote_ecn_incapable_ = chosen == 1;
      return outcome;
    }
    case kAllowShortSequence:
    case kMinimumChecksumCoverage:
    case kCheckDataChecksum:
      return agree(o, 0, kNone, chosen);
    case kSendAckVector:
    case kSendNdpCount:
      return agree(o, 0, local ? kNone : 1, chosen);
    case kSendLossEventRate: {
      if (role_ == Role::client || !local) return refuse(o);
      const Outcome outcome = agree(o, 1, 0, chosen);
      send_loss_event_rate_ = chosen == 1;
      return outcome;
    }
    default:
      return refuse(o);
  }
}

// Only one direction carries data: what runs in the other one does not matter to us.
Features::Outcome Features::on_ccid(const Option& o, bool local) {
  const bool of_data = local == (role_ == Role::client);
  std::uint8_t chosen = kNone;
  const Outcome outcome = agree(o, kCcid3, of_data ? kNone : std::uint8_t{2}, chosen);
  if (!of_data || outcome != Outcome::done) return outcome;
  ccid_agreed_ = chosen == kCcid3;
  return ccid_agreed_ ? Outcome::done : Outcome::failed;
}

// Non-negotiable: the owner announces, the other end confirms (6.3.2).
Features::Outcome Features::on_sequence_window(const Option& o) {
  if (is_local(o) || o.data.size() != 7) return refuse(o);
  const std::uint64_t w = window_value(o.data.subspan(1));
  if (w < kMinWindow || w > kMaxWindow) return refuse(o);
  remote_window_ = w;
  reply(o, o.data.subspan(1));
  return Outcome::done;
}

// Server-priority reconciliation (6.3.1) with our list of one or two values, the preferred one first.
Features::Outcome Features::agree(const Option& o, std::uint8_t first, std::uint8_t second,
                                  std::uint8_t& chosen) {
  const std::uint8_t mine[] = {first, second};
  const std::span<const std::uint8_t> ours = std::span(mine).first(second == kNone ? 1 : 2),
                                      theirs = o.data.subspan(1);
  if (theirs.empty()) return refuse(o);
  const std::span<const std::uint8_t> servers = role_ == Role::server ? ours : theirs,
                                      clients = role_ == Role::server ? theirs : ours;
  const auto best =
      std::find_if(servers.begin(), servers.end(), [&](std::uint8_t v) { return contains(clients, v); });
  if (best == servers.end()) {
    if (o.mandatory) return Outcome::mandatory;
    // Nothing in common: the feature stays as it is, which is what we confirm.
    const std::uint8_t value[] = {o.data[0] == kCcid ? std::uint8_t{2} : std::uint8_t{0}, first, second};
    reply(o, std::span(value).first(1 + ours.size()));
    return Outcome::done;
  }
  chosen = *best;
  const std::uint8_t value[] = {chosen, first, second};
  reply(o, std::span(value).first(1 + ours.size()));
  return Outcome::done;
}

// An empty Confirm: unknown, or a value that cannot be (6.6.7).
Features::Outcome Features::refuse(const Option& o) {
  if (o.mandatory) return Outcome::mandatory;
  reply(o, {});
  return Outcome::done;
}

// Beyond the room a Change goes unanswered, and the peer repeats it (6.6.3).
void Features::reply(const Option& o, std::span<const std::uint8_t> value) {
  const std::size_t length = 3 + value.size();
  if (replies_length_ + length > replies_.size()) return;
  std::uint8_t* const to = replies_.data() + replies_length_;
  to[0] = confirm_of(o.type);
  to[1] = static_cast<std::uint8_t>(length);
  to[2] = o.data[0];
  std::copy(value.begin(), value.end(), to + 3);
  replies_length_ = static_cast<std::uint8_t>(replies_length_ + length);
}

Features::Outcome Features::on_confirm(const Option& o) {
  if (role_ == Role::server) return o.mandatory ? Outcome::mandatory : Outcome::done;
  const bool empty = o.data.size() == 1;
  switch (o.data[0]) {
    case kCcid:
      if (o.type != kConfirmR) return Outcome::done;
      if (empty || o.data[1] != kCcid3) return Outcome::failed;
      ccid_agreed_ = true;
      return Outcome::done;
    case kSequenceWindow:
      if (o.type == kConfirmR) window_confirmed_ = true;
      return Outcome::done;
    case kSendLossEventRate:
      if (o.type != kConfirmL) return Outcome::done;
      rate_confirmed_ = true;
      send_loss_event_rate_ = !empty && o.data[1] == 1;
      return Outcome::done;
    default:
      return o.mandatory ? Outcome::mandatory : Outcome::done;
  }
}

void Features::write(OptionWriter& to, bool keep) {
  if (role_ == Role::client) {
    if (!ccid_agreed_) {
      to.mandatory();
      to.put(kChangeL, std::array<std::uint8_t, 2>{kCcid, kCcid3});
    }
    if (!window_confirmed_) {
      std::array<std::uint8_t, 7> value{kSequenceWindow};
      std::ranges::copy(window_bytes(window_), value.begin() + 1);
      to.put(kChangeL, value);
    }
    if (!rate_confirmed_) to.put(kChangeR, std::array<std::uint8_t, 2>{kSendLossEventRate, 1});
  }
  to.raw(std::span(replies_).first(replies_length_));
  if (!keep) replies_length_ = 0;
}

}  // namespace surety::endpoints::dccp
