// SPDX-License-Identifier: BSD-3-Clause
// DCCP sequence numbers: 48-bit arithmetic and the validity windows of RFC 4340 7.
//
// On the wire a number has 48 bits; here it is extended to 64, so that it never wraps and comparing is `<`.
#pragma once

#include <algorithm>
#include <cstdint>

#include "endpoints/tfrc/wire_dccp.h"

namespace surety::endpoints::dccp {

inline constexpr std::uint64_t kSequenceModulus = std::uint64_t{1} << 48;
// Sequence Window (RFC 4340 7.5.2): the value of a new connection, and what may be negotiated.
inline constexpr std::uint64_t kDefaultWindow = 100, kMinWindow = 32,
                               kMaxWindow = (std::uint64_t{1} << 46) - 1;

// The extended number nearest to `reference` that ends with the 48 bits of `wire`.
constexpr std::uint64_t extend(std::uint64_t reference, std::uint64_t wire) {
  const auto difference = static_cast<std::int64_t>((wire - reference) << 16) >> 16;
  return reference + static_cast<std::uint64_t>(difference);
}

// One end's sequence state of both directions; GSS, GSR, GAR, ISS and ISR are RFC 4340's.
class SequenceSpace {
 public:
  // Numbers are kept one modulus up, so that a distance never leads below zero.
  explicit SequenceSpace(std::uint64_t iss)
      : gss_(kSequenceModulus + iss % kSequenceModulus - 1), gar_(gss_ + 1), iss_(gss_ + 1) {}

  std::uint64_t next() { return ++gss_; }  // number of the packet that is sent now
  std::uint64_t gss() const { return gss_; }
  std::uint64_t gsr() const { return gsr_; }
  std::uint64_t isr() const { return isr_; }

  // The peer's first packet (steps 3 and 4 of RFC 4340 8.5).
  void synchronise(std::uint64_t wire_isr) { gsr_ = isr_ = kSequenceModulus + wire_isr; }

  std::uint64_t received(std::uint64_t wire) const { return extend(gsr_, wire); }
  std::uint64_t acknowledged(std::uint64_t wire) const { return extend(gss_, wire); }

  // Sequence Window of the peer bounds what we receive, ours what is acknowledged to us (7.5.1).
  void set_remote_window(std::uint64_t w) { remote_window_ = w; }
  void set_local_window(std::uint64_t w) { local_window_ = w; }

  std::uint64_t swl() const { return std::max(gsr_ + 1 - remote_window_ / 4, isr_); }
  std::uint64_t swh() const { return gsr_ + remote_window_ - remote_window_ / 4; }
  std::uint64_t awl() const { return std::max(gss_ + 1 - local_window_, iss_); }
  std::uint64_t awh() const { return gss_; }
  bool acknowledges_ours(std::uint64_t ack) const { return awl() <= ack && ack <= awh(); }

  enum class Check : std::uint8_t { valid, sequence, acknowledgement };
  // The table of 7.5.3; extended numbers.
  Check check(Type type, std::uint64_t sequence, std::uint64_t ack) const {
    const bool ends = type == Type::close_req || type == Type::close || type == Type::reset;
    const bool sync = type == Type::sync || type == Type::sync_ack;
    if (sequence < (ends ? gsr_ + 1 : swl()) || (!sync && sequence > swh())) return Check::sequence;
    if (has_ack(type) && (ack < (ends ? gar_ : awl()) || ack > awh())) return Check::acknowledgement;
    return Check::valid;
  }

  // A packet that has passed (steps 5 and 6): a Sync does not move GAR.
  void accept(Type type, std::uint64_t sequence, std::uint64_t ack) {
    gsr_ = std::max(gsr_, sequence);
    if (has_ack(type) && type != Type::sync) gar_ = std::max(gar_, ack);
  }

 private:
  std::uint64_t gss_, gsr_ = kSequenceModulus, isr_ = kSequenceModulus;
  std::uint64_t remote_window_ = kDefaultWindow, local_window_ = kDefaultWindow;
  std::uint64_t gar_, iss_;
};

}  // namespace surety::endpoints::dccp
