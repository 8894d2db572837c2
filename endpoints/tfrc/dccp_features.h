// SPDX-License-Identifier: BSD-3-Clause
// DCCP feature negotiation (RFC 4340 6, RFC 4342 8.4), as far as a CCID 3 flow in one direction needs it.
//
// The sender's Request proposes, with Mandatory, CCID 3 for its half-connection, announces its Sequence
// Window and requests Loss Event Rate options; the receiver confirms in its Response. Other changes that a
// peer proposes are answered as the RFC demands (our only value, or an empty Confirm for unknown features),
// but have no effect: no `Ack Vector` options, no short sequence numbers. Congestion marks need no option:
// an end understands them unless it declares itself ECN Incapable (RFC 4340 12.1), which ours never do.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "endpoints/tfrc/dccp_sequence.h"
#include "endpoints/tfrc/wire_dccp.h"

namespace surety::endpoints::dccp {

// Feature numbers (RFC 4340 6.4, RFC 4342 8).
enum Feature : std::uint8_t {
  kCcid = 1,
  kAllowShortSequence = 2,
  kSequenceWindow = 3,
  kEcnIncapable = 4,
  kAckRatio = 5,
  kSendAckVector = 6,
  kSendNdpCount = 7,
  kMinimumChecksumCoverage = 8,
  kCheckDataChecksum = 9,
  kSendLossEventRate = 192
};

inline constexpr std::uint8_t kCcid3 = 3;

// End of the connection: the client sends data, the server receives it.
enum class Role : std::uint8_t { client, server };

class Features {
 public:
  // `window`: the client's Sequence Window.
  Features(Role role, std::uint64_t window) : window_(window), role_(role) {}

  // Result of one option. Both failures end the connection (RFC 4340 6.6.8, 5.8.2): `mandatory` with
  // Mandatory Error, `failed` with Option Error.
  enum class Outcome : std::uint8_t { done, mandatory, failed };
  // A Change or Confirm option of a packet that is no Data packet.
  Outcome on_option(const Option& o);

  // Changes not confirmed yet and Confirms not sent yet. The latter are forgotten unless `keep`: a Response
  // says them again whenever it is repeated.
  void write(OptionWriter& to, bool keep = false);
  static constexpr std::size_t kMostBytes = 96;  // the most that write() needs
  void forget() { replies_length_ = 0; }
  bool confirms_pending() const { return replies_length_ > 0; }

  // The data's half-connection runs CCID 3.
  bool ccid_agreed() const { return ccid_agreed_; }
  // True if the receiver has confirmed to send Loss Event Rate options.
  bool send_loss_event_rate() const { return send_loss_event_rate_; }
  // The other end does not look at congestion marks.
  bool remote_ecn_incapable() const { return remote_ecn_incapable_; }
  // Sequence Window that the other end announced.
  std::uint64_t remote_window() const { return remote_window_; }

 private:
  Outcome on_change(const Option& o);
  Outcome on_confirm(const Option& o);
  Outcome on_ccid(const Option& o, bool local);
  Outcome on_sequence_window(const Option& o);
  Outcome agree(const Option& o, std::uint8_t first, std::uint8_t second, std::uint8_t& chosen);
  Outcome refuse(const Option& o);
  void reply(const Option& o, std::span<const std::uint8_t> value);

  std::array<std::uint8_t, 64> replies_{};
  std::uint64_t window_, remote_window_ = kDefaultWindow;
  std::uint8_t replies_length_ = 0;
  Role role_;
  bool ccid_agreed_ = false, window_confirmed_ = false, rate_confirmed_ = false,
       send_loss_event_rate_ = false, remote_ecn_incapable_ = false;
};

}  // namespace surety::endpoints::dccp
