// SPDX-License-Identifier: BSD-3-Clause
// The server's side of iperf3's control protocol, for one test at a time in which the client sends over TCP:
// what `iperf3 -c` needs to run to its end against our sink. Bytes in, bytes out; the TCP is iperf3_sink.h's.
//
// A test: cookie; PARAM_EXCHANGE, their parameters (JSON); CREATE_STREAMS, a connection with the same cookie
// for each stream; TEST_START, TEST_RUNNING; their TEST_END; EXCHANGE_RESULTS, their results and ours (JSON);
// DISPLAY_RESULTS; their IPERF_DONE. States are single bytes, JSON has its length before it (4 bytes,
// network order). As documented by iperf3's source (iperf_api.h); checked with 3.12.
//
// Refused with SERVER_ERROR: UDP, SCTP, reverse and bidirectional tests, more streams than kStreams, messages
// longer than kMessage.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "conditioners/units.h"

namespace surety::endpoints {

class Iperf3Session {
 public:
  static constexpr std::size_t kCookie = 37;  // 36 letters and a zero
  using Cookie = std::array<std::uint8_t, kCookie>;
  static constexpr std::size_t kStreams = 128;  // iperf3's MAX_STREAMS
  static constexpr std::size_t kMessage = 32 * 1024;
  static constexpr std::uint8_t kAccessDenied = 0xff;  // answer to a client while a test is running

  // A connection that carries a test's bytes, as the session sees it.
  struct Stream {
    virtual ~Stream() = default;
    virtual std::uint64_t test_bytes() const = 0;
    virtual Time last_heard() const = 0;
  };

  Iperf3Session();

  bool busy() const { return phase_ != Phase::idle; }
  bool is_for(const Cookie& cookie) const { return busy() && cookie == cookie_; }

  // The control connection.
  void begin(const Cookie& cookie);
  void on_control(std::span<const std::uint8_t> bytes, Time now);
  std::span<const std::uint8_t> output() const {
    return std::span(output_).first(said_);
  }  // everything so far
  bool waits_for_streams() const { return phase_ == Phase::streams; }
  void start_if_complete(Time now);  // once every stream is there
  // A stream had data since `since`: the control connection is silent because the test runs.
  bool streams_heard_since(Time since) const;
  void end();  // the control connection has gone

  // False: more than were announced.
  bool add(const Stream& stream);
  void remove(const Stream& stream);  // keeps its count

 private:
  enum class Phase : std::uint8_t { idle, parameters, streams, running, results, display, failed };
  struct Slot {
    const Stream* stream = nullptr;
    std::uint64_t bytes = 0;  // bytes of a closed stream
  };

  void on_state(std::uint8_t state, Time now);
  std::size_t take_message(std::span<const std::uint8_t> bytes);  // returns the bytes used
  void on_parameters();
  void on_results();
  void say(std::uint8_t state);
  void say(std::string_view text);
  void fail();
  void write_results();
  std::string_view message() const { return {message_.data(), message_.size()}; }

  Phase phase_ = Phase::idle;
  Cookie cookie_{};
  std::size_t streams_ = 0, announced_ = 0;
  std::array<Slot, kStreams> slots_{};
  Time started_{}, ended_{};
  std::uint32_t length_ = 0, length_bytes_ = 0;  // length of the incoming message
  std::vector<char> message_;                    // never grows beyond what is reserved
  std::vector<std::uint8_t> output_;             // fixed size: connections hold spans of it
  std::size_t said_ = 0;
};

}  // namespace surety::endpoints
