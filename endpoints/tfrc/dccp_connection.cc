// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/dccp_connection.h"

#include <algorithm>
#include <array>
#include <bit>

#include "conditioners/rng.h"

namespace surety::endpoints {

using dccp::Features;
using dccp::OptionReader;
using dccp::ResetCode;
using dccp::SequenceSpace;
using dccp::Type;

namespace {

constexpr std::size_t kMostOptions = 256;

std::uint64_t initial_sequence(std::uint64_t seed) {
  Rng rng(seed);
  const std::uint64_t high = rng.next();
  return (high << 32 | rng.next()) % dccp::kSequenceModulus;
}

// Options that are implemented, and so may be marked Mandatory.
bool understood(std::uint8_t type) {
  constexpr std::array<std::uint8_t, 8> kAll{dccp::kSlowReceiver,  dccp::kNdpCount,    dccp::kTimestamp,
                                             dccp::kTimestampEcho, dccp::kElapsedTime, dccp::kLossEventRate,
                                             dccp::kLossIntervals, dccp::kReceiveRate};
  return std::ranges::find(kAll, type) != kAll.end();
}

bool is_feature_option(std::uint8_t type) {
  return type >= dccp::kChangeL && type <= dccp::kConfirmR;
}

}  // namespace

DccpConnection::DccpConnection(dccp::Role role, const Tuple& tuple, dccp::PacketWriter::UdpPorts udp,
                               std::uint64_t window, std::uint8_t dscp, std::uint64_t seed)
    : sequence_(initial_sequence(seed)),
      role_(role),
      dscp_(dscp),
      writer_(tuple, udp),
      features_(role, window) {
  if (role == dccp::Role::client) sequence_.set_local_window(window);
}

FlowState DccpConnection::state() const {
  using S = FlowState;
  constexpr std::array kStates{S::idle, S::connecting, S::connecting, S::open,
                               S::open, S::closing,    S::closing,    S::closed};
  return kStates[static_cast<std::size_t>(phase_)];
}

void DccpConnection::send_sync(std::uint64_t ack, Time now) {
  if (!limit_.permit(SyncLimit::Kind::invalid, now)) return;
  sync_ack_number_ = ack;
  pending_ |= kSync;
}

void DccpConnection::finish(Failure why) {
  phase_ = Phase::closed;
  failure_ = why;
  pending_ = 0;
  repetition_.stop();
}

void DccpConnection::abort(ResetCode code, Failure why, std::uint8_t data) {
  finish(why);
  reset_code_ = code;
  reset_data_ = data;
  pending_ = kReset;
}

void DccpConnection::repeat(std::uint8_t what, Duration interval, Time now) {
  repetition_.begin(what, interval, now);
  pending_ |= what;
}

bool DccpConnection::on_timer(Time now) {
  const std::uint8_t again = repetition_.expire(now);
  pending_ |= again;
  return again != 0;
}

Refusal DccpConnection::check(const dccp::Packet& p, std::uint64_t sequence, std::uint64_t ack, Time now) {
  const SequenceSpace::Check result = sequence_.check(p.type, sequence, ack);
  if (result == SequenceSpace::Check::valid) return Refusal::none;
  const bool sync = p.type == Type::sync || p.type == Type::sync_ack;
  // Two ends that answer Syncs by Syncs would never stop (step 5).
  if (!sync) send_sync(p.type == Type::reset ? sequence_.gsr() : p.sequence, now);
  if (p.type == Type::reset) return Refusal::dccp_reset;
  return result == SequenceSpace::Check::sequence ? Refusal::dccp_sequence : Refusal::dccp_ack;
}

// Step 7: what this end never gets, or not any more.
Refusal DccpConnection::unexpected(const dccp::Packet& p, std::uint64_t sequence, Time now) {
  const bool server = role_ == dccp::Role::server,
             opening = p.type == Type::request || p.type == Type::response;
  const bool wrong_way = p.type == (server ? Type::response : Type::request) ||
                         (server && p.type == Type::close_req) ||
                         (phase_ == Phase::respond && p.type == Type::data);
  const bool late = opening && phase_ >= Phase::open;
  if (!wrong_way && !late) return Refusal::none;
  if (wrong_way || sequence >= osr_) send_sync(p.sequence, now);
  return Refusal::state;
}

// After the end: a packet of the connection shows that the peer has not seen our Reset.
Refusal DccpConnection::admit_late(const dccp::Packet& p, std::uint64_t sequence, std::uint64_t ack,
                                   Time now) {
  if (p.type == Type::reset || reset_code_ == ResetCode::unspecified) return Refusal::closed;
  if (sequence_.check(p.type, sequence, ack) != SequenceSpace::Check::valid) return Refusal::closed;
  sequence_.accept(p.type, sequence, ack);
  if (limit_.permit(SyncLimit::Kind::invalid, now)) pending_ = kReset;
  // A repeated Close is what is to be expected, and may open nothing new at a host.
  return p.type == Type::close ? Refusal::none : Refusal::closed;
}

Refusal DccpConnection::on_reset(const dccp::Packet& p) {
  // No Connection: the Reset that answered an earlier Close was lost, and the peer has forgotten us since.
  const bool orderly = phase_ == Phase::closing &&
                       (p.reset_code == ResetCode::closed || p.reset_code == ResetCode::no_connection);
  finish(orderly ? Failure::none : Failure::reset);
  return Refusal::none;
}

Refusal DccpConnection::admit(const dccp::Packet& p, Time now) {
  const std::uint64_t sequence = sequence_.received(p.sequence);
  const std::uint64_t ack = dccp::has_ack(p.type) ? sequence_.acknowledged(p.ack) : 0;
  if (phase_ == Phase::closed) return admit_late(p, sequence, ack, now);
  if (const Refusal r = check(p, sequence, ack, now); r != Refusal::none) return r;
  sequence_.accept(p.type, sequence, ack);
  if (const Refusal r = unexpected(p, sequence, now); r != Refusal::none) return r;
  heard_ = now;
  if (p.type == Type::reset) return on_reset(p);
  if (p.type != Type::data) {
    if (const Refusal r = negotiate(p); r != Refusal::none) return r;
  }
  if (osr_ == 0 && p.type != Type::request && p.type != Type::response) osr_ = sequence;
  if (p.type == Type::close) {  // step 14
    abort(ResetCode::closed, Failure::none);
    return Refusal::none;
  }
  if (p.type == Type::sync) {
    if (!limit_.permit(SyncLimit::Kind::sync, now)) return Refusal::dccp_sync;
    sync_ack_number_ = p.sequence;
    pending_ |= kSyncAck;
  }
  return Refusal::none;
}

Refusal DccpConnection::negotiate(const dccp::Packet& p) {
  if (p.options.empty()) return Refusal::none;
  const Failure why = phase_ < Phase::partopen ? Failure::refused : Failure::reset;
  OptionReader reader(p.options);
  for (dccp::Option o; reader.next(o);) {
    Features::Outcome outcome = Features::Outcome::done;
    if (is_feature_option(o.type))
      outcome = features_.on_option(o);
    else if (o.mandatory && !understood(o.type))
      outcome = Features::Outcome::mandatory;
    if (outcome == Features::Outcome::done) continue;
    const bool mandatory = outcome == Features::Outcome::mandatory;
    abort(mandatory ? ResetCode::mandatory_error : ResetCode::option_error, why, o.type);
    return mandatory ? Refusal::dccp_mandatory : Refusal::dccp_feature;
  }
  if (reader.end() == OptionReader::End::mandatory) {
    abort(ResetCode::option_error, why, dccp::kMandatory);
    return Refusal::dccp_mandatory;
  }
  if (features_.remote_window() != dccp::kDefaultWindow)
    sequence_.set_remote_window(features_.remote_window());
  // A Response says its Confirms itself.
  if (features_.confirms_pending() && phase_ != Phase::respond && phase_ != Phase::request) pending_ |= kAck;
  return Refusal::none;
}

void DccpConnection::write_packet(Slot& slot, dccp::Packet& p, std::span<const std::uint8_t> more) {
  std::uint8_t options[kMostOptions];
  dccp::OptionWriter to(options);
  const bool negotiates = p.type != Type::reset && p.type != Type::close && p.type != Type::close_req;
  if (negotiates) features_.write(to, p.type == Type::response);
  to.raw(more);
  const std::size_t length = to.finish();
  p.sequence = sequence_.next();
  p.service_code = service_code_;
  writer_.write(slot, p, std::span(options).first(length), dscp_);
}

void DccpConnection::send_stray_reset(const dccp::Packet& p, Time now) {
  if (!limit_.permit(SyncLimit::Kind::invalid, now)) return;
  stray_sequence_ = p.ack + 1;
  sync_ack_number_ = p.sequence;
  pending_ |= kReset;
}

void DccpConnection::write_stray_reset(Slot& slot) {
  dccp::Packet p;
  p.type = Type::reset;
  p.reset_code = ResetCode::packet_error;
  p.sequence = stray_sequence_;
  p.ack = sync_ack_number_;
  writer_.write(slot, p, {}, dscp_);
}

void DccpConnection::write_control(Slot& slot) {
  // In the order of Pending's bits: a Reset before all.
  constexpr std::array kTypes{Type::reset,    Type::sync, Type::sync_ack, Type::request,
                              Type::response, Type::ack,  Type::close,    Type::close_req};
  dccp::Packet p;
  p.type = kTypes[static_cast<std::size_t>(std::countr_zero(pending_))];
  pending_ = static_cast<std::uint8_t>(pending_ & (pending_ - 1));
  const bool resets = p.type == Type::reset, syncs = p.type == Type::sync || p.type == Type::sync_ack;
  if (resets && phase_ != Phase::closed) return write_stray_reset(slot);
  p.ccval = ccval_;
  p.ack = syncs ? sync_ack_number_ : sequence_.gsr();
  if (resets) {
    p.reset_code = reset_code_;
    p.reset_data = reset_data_;
  }
  write_packet(slot, p);
}

}  // namespace surety::endpoints
