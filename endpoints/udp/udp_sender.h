// SPDX-License-Identifier: BSD-3-Clause
// A UDP sender: a constant bit rate, always or on and off, with sequence numbers and sending times.
//
// Sends whole packets of UdpParams::common.packet bytes from Schedule::start on while the time is before
// Schedule::stop, or until total_payload bytes of UDP payload have left (the last packet is shorter, but
// never below the 16-byte header). The sink's reports count what arrived; after the last packet the sender
// waits kLinger for the last report (`closing`), less if everything is accounted for. A packet that its slot
// cannot hold ends the flow: Failure::refused.
#pragma once

#include <cstdint>

#include "conditioners/units.h"
#include "endpoints/engine/engine.h"
#include "endpoints/engine/marker.h"
#include "endpoints/udp/udp_params.h"
#include "endpoints/udp/wire_udp.h"
#include "router/pipeline/wire/ip_writer.h"

namespace surety::endpoints {

// When the packets of a constant bit rate may leave, always or on and off.
//
// Exact in integers: packet n (from 0) leaves at start + ceil(n * packet / rate) ns of *on* time, however
// many there were before; so no interval that begins at the start ever holds more than the rate gives. The
// clock of the rate stops while the source is off: on average it sends rate * on / (on + off), whatever the
// length of a phase. A sender that comes more than kMaxLateness late does not catch up: the schedule
// continues from there.
class Cbr {
 public:
  static constexpr Duration kMaxLateness = std::chrono::milliseconds(100);

  // `rate` is not zero, `packet` at most 64 KiB. `off` zero: always on; else `on` is not zero.
  // Begins at `start`, on.
  Cbr(Bytes packet, Rate rate, Duration on, Duration off, Time start);

  Time next_send() const { return next_; }
  // The packet of next_send() has left at `now` >= next_send().
  void on_sent(Time now) {
    if (now - next_ > kMaxLateness) [[unlikely]] {
      resume(now);
      if (next_ > now) return;
    }
    // next_ is the ceiling of the exact time; excess_ is what it exceeds it by, in 1/rate ns.
    next_ += step_;
    if (excess_ >= remainder_) {
      excess_ -= remainder_;
    } else {
      excess_ += rate_ - remainder_;
      next_ += Duration(1);
    }
    if (next_ >= phase_end_) [[unlikely]]
      skip_off();
  }

 private:
  void skip_off();        // next_ has run beyond the on phase
  void resume(Time now);  // restarts at `now`, or at the next on phase

  Time next_;
  Time phase_end_ = kNever;  // end of the on phase that next_ is in
  std::uint64_t excess_ = 0;
  Duration step_;  // packet / rate = step_ + remainder_ / rate_ ns
  std::uint64_t remainder_, rate_;
  Duration on_, off_;
};
static_assert(sizeof(Cbr) == 64);

class UdpSender final : public Engine {
 public:
  static constexpr Duration kLinger = std::chrono::seconds(3);

  // `params` outlives the flow; common.packet holds at least the headers.
  UdpSender(const UdpParams& params, const Tuple& tuple, const Schedule& schedule);

  // Takes reports. Refusals: those of wire_udp.h; state: data, or counters that go back or claim more than
  // was sent; duplicate: a report not newer than the last; closed.
  Refusal receive(const IpPacket& packet, Time now) override;
  std::size_t poll(Room room, Time now) override;
  Time next_wakeup() const override;
  void close(Time now) override;
  FlowState state() const override { return state_; }
  Failure failure() const override { return failure_; }
  // received_*, payload_bytes, lost, duplicates and reordered as last reported.
  void read(FlowReading& out) const override;

 private:
  bool build(Slot& slot, Time now);
  void finish(Time now);
  bool believable(const udp::ReceiverReport& r) const;

  const UdpParams* params_;
  Cbr cbr_;
  std::uint32_t payload_;  // payload of a full packet
  std::uint32_t sequence_ = 0;
  std::uint64_t remaining_;  // payload to send; as good as without end where the parameters say none
  HostMarker marker_;
  IpWriter ip_;
  Tuple tuple_;
  Time stop_;
  FlowState state_ = FlowState::idle;
  Failure failure_ = Failure::none;
  bool reported_ = false;
  std::uint32_t report_number_ = 0;
  Time linger_end_ = kNever;
  udp::ReceiverReport report_;
};
static_assert(sizeof(UdpSender) <= kEngineBytes);

}  // namespace surety::endpoints
