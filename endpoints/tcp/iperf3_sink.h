// SPDX-License-Identifier: BSD-3-Clause
// A TCP sink for Linux's iperf3: `iperf3 -c` runs to its end against it (iperf3_session.h says which tests).
//
// A connection identifies its test by a cookie of 37 bytes: the first is the test's control connection, later
// ones with the same cookie are its streams, and one with another cookie gets "access denied".
#pragma once

#include <memory>

#include "endpoints/tcp/iperf3_session.h"
#include "endpoints/tcp/tcp_receiver.h"

namespace surety::endpoints {

class Iperf3Connection final : public TcpReceiver, private Iperf3Session::Stream {
 public:
  // Interval at which the control connection checks that the streams are there: it gets no event for it.
  static constexpr Duration kLook = std::chrono::milliseconds(10);

  Iperf3Connection(const SinkParams& params, const Tuple& tuple, const IpPacket& syn, Time now,
                   std::uint64_t seed, Iperf3Session& session);
  ~Iperf3Connection() override;
  Iperf3Connection(const Iperf3Connection&) = delete;  // the session keeps its address
  Iperf3Connection& operator=(const Iperf3Connection&) = delete;

  Refusal receive(const IpPacket& packet, Time now) override;
  std::size_t poll(Room room, Time now) override;
  Time next_wakeup() const override;

 private:
  enum class Role : std::uint8_t { unknown, control, stream, none };

  void on_bytes(std::span<const std::uint8_t> bytes, Time now) override;
  bool may_be_silent(Time now) const override;
  std::uint64_t test_bytes() const override { return delivered() - Iperf3Session::kCookie; }
  Time last_heard() const override { return heard(); }
  void take_role(Time now);
  void leave();  // removes a closed connection from its test

  Iperf3Session* session_;
  Time look_ = kNever;
  Role role_ = Role::unknown;
  std::uint8_t cookie_length_ = 0;
  Iperf3Session::Cookie cookie_{};
};
static_assert(sizeof(Iperf3Connection) <= kEngineBytes);

class Iperf3Acceptor final : public Acceptor {
 public:
  Iperf3Acceptor(const SinkParams& params, std::uint64_t seed) : params_(&params), rng_(seed) {}
  Engine* accept(void* room, const Tuple& tuple, const IpPacket& first, Time now, Refusal& refusal) override;

 private:
  const SinkParams* params_;
  Rng rng_;
  Iperf3Session session_;
};

}  // namespace surety::endpoints
