// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/iperf3_sink.h"

#include <algorithm>
#include <new>

namespace surety::endpoints {

Iperf3Connection::Iperf3Connection(const SinkParams& params, const Tuple& tuple, const IpPacket& syn,
                                   Time now, std::uint64_t seed, Iperf3Session& session)
    : TcpReceiver(params, tuple, syn, now, seed), session_(&session) {
  read_bytes(true);
}

Iperf3Connection::~Iperf3Connection() {
  leave();
}

void Iperf3Connection::leave() {
  if (role_ == Role::control && session_->is_for(cookie_)) session_->end();
  if (role_ == Role::stream) session_->remove(*this);
  role_ = Role::none;
  look_ = kNever;
}

Refusal Iperf3Connection::receive(const IpPacket& packet, Time now) {
  const Refusal r = TcpReceiver::receive(packet, now);
  if (state() == FlowState::closed) leave();
  return r;
}

std::size_t Iperf3Connection::poll(Room room, Time now) {
  if (look_ <= now && !session_->is_for(cookie_)) look_ = kNever;  // the session is over
  if (look_ <= now) {
    session_->start_if_complete(now);
    output().set_bytes(session_->output());
    look_ = session_->waits_for_streams() ? now + kLook : kNever;
  }
  const std::size_t n = TcpReceiver::poll(room, now);
  if (state() == FlowState::closed) leave();
  return n;
}

Time Iperf3Connection::next_wakeup() const {
  return std::min(TcpReceiver::next_wakeup(), look_);
}

bool Iperf3Connection::may_be_silent(Time now) const {
  return role_ == Role::control && session_->streams_heard_since(now - kSilence);
}

void Iperf3Connection::on_bytes(std::span<const std::uint8_t> bytes, Time now) {
  if (role_ == Role::unknown) {
    const std::size_t n = std::min(bytes.size(), Iperf3Session::kCookie - cookie_length_);
    std::copy_n(bytes.begin(), n, cookie_.begin() + cookie_length_);
    cookie_length_ = static_cast<std::uint8_t>(cookie_length_ + n);
    if (cookie_length_ < Iperf3Session::kCookie) return;
    take_role(now);
    bytes = bytes.subspan(n);
  }
  if (role_ != Role::control || !session_->is_for(cookie_)) return;
  session_->on_control(bytes, now);
  if (!session_->busy()) {  // the session is over: the peer closes
    look_ = kNever;
    return;
  }
  output().set_bytes(session_->output());
  if (session_->waits_for_streams()) look_ = now;
}

void Iperf3Connection::take_role(Time now) {
  static constexpr std::uint8_t kBusy[] = {Iperf3Session::kAccessDenied};
  if (session_->is_for(cookie_)) {
    role_ = session_->add(*this) ? Role::stream : Role::none;
    read_bytes(false);
  } else if (!session_->busy()) {
    role_ = Role::control;
    session_->begin(cookie_);
  } else {
    role_ = Role::none;
    output().set_bytes(kBusy);
    close(now);
  }
}

Engine* Iperf3Acceptor::accept(void* room, const Tuple& tuple, const IpPacket& first, Time now,
                               Refusal& refusal) {
  refusal = TcpAcceptor::check_syn(first);
  if (refusal != Refusal::none) return nullptr;
  const std::uint64_t seed = std::uint64_t{rng_.next()} << 32 | rng_.next();
  return new (room) Iperf3Connection(*params_, tuple, first, now, seed, session_);
}

}  // namespace surety::endpoints
