// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/iperf3_session.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace surety::endpoints {

namespace {

// iperf_api.h.
enum State : std::uint8_t {
  kTestStart = 1,
  kTestRunning = 2,
  kTestEnd = 4,
  kParamExchange = 9,
  kCreateStreams = 10,
  kClientTerminate = 12,
  kExchangeResults = 13,
  kDisplayResults = 14,
  kIperfDone = 16,
  kServerError = 0xfe,
};
constexpr std::uint8_t kUnimplemented = 13;  // IEUNIMP: "an option is not implemented yet"

// The text behind `"key":`; empty: no such key. JSON is only looked at, never understood: iperf3 writes it
// flat and without spaces, and a wrong reading costs a test, no more.
std::string_view value_of(std::string_view json, std::string_view key) {
  for (std::size_t at = json.find(key); at != std::string_view::npos; at = json.find(key, at + 1)) {
    const std::size_t end = at + key.size();
    if (at == 0 || json[at - 1] != '"' || json.substr(end, 2) != "\":") continue;
    const auto value = json.substr(end + 2);
    return value.substr(std::min(value.find_first_not_of(" \t\n"), value.size()));
  }
  return {};
}
std::uint32_t number_of(std::string_view json, std::string_view key, std::uint32_t otherwise) {
  const auto v = value_of(json, key);
  std::uint32_t n = otherwise;
  std::from_chars(v.data(), v.data() + v.size(), n);
  return n;
}
bool is_set(std::string_view json, std::string_view key) {
  const auto v = value_of(json, key);
  return v.starts_with("true") || v.starts_with("1");
}

}  // namespace

Iperf3Session::Iperf3Session() : output_(kMessage) {
  message_.reserve(kMessage);
}

void Iperf3Session::begin(const Cookie& cookie) {
  end();
  cookie_ = cookie;
  phase_ = Phase::parameters;
  say(kParamExchange);
}

void Iperf3Session::end() {
  phase_ = Phase::idle;
  streams_ = announced_ = 0;
  slots_ = {};
  length_bytes_ = length_ = 0;
  message_.clear();
  said_ = 0;
}

void Iperf3Session::on_control(std::span<const std::uint8_t> bytes, Time now) {
  while (!bytes.empty()) {
    if (phase_ == Phase::parameters || phase_ == Phase::results) {
      bytes = bytes.subspan(take_message(bytes));
    } else {
      on_state(bytes[0], now);
      bytes = bytes.subspan(1);
    }
  }
}

std::size_t Iperf3Session::take_message(std::span<const std::uint8_t> bytes) {
  if (length_bytes_ < 4) {
    length_ = length_ << 8 | bytes[0];
    if (++length_bytes_ == 4 && (length_ == 0 || length_ > kMessage)) fail();
    return 1;
  }
  const std::size_t n = std::min(bytes.size(), length_ - message_.size());
  message_.insert(message_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
  if (message_.size() < length_) return n;
  if (phase_ == Phase::parameters)
    on_parameters();
  else
    on_results();
  message_.clear();
  length_ = length_bytes_ = 0;
  return n;
}

void Iperf3Session::on_parameters() {
  const auto json = message();
  announced_ = number_of(json, "parallel", 1);
  const bool forward = is_set(json, "tcp") && !is_set(json, "reverse") && !is_set(json, "bidirectional");
  if (!forward || announced_ == 0 || announced_ > kStreams) return fail();
  phase_ = Phase::streams;
  say(kCreateStreams);
}

bool Iperf3Session::add(const Stream& stream) {
  if (phase_ != Phase::streams || streams_ == announced_) return false;
  slots_[streams_++] = {&stream, 0};
  return true;
}

void Iperf3Session::remove(const Stream& stream) {
  for (Slot& s : std::span(slots_).first(streams_))
    if (s.stream == &stream) s = {nullptr, stream.test_bytes()};
}

bool Iperf3Session::streams_heard_since(Time since) const {
  return std::ranges::any_of(std::span(slots_).first(streams_),
                             [&](const Slot& s) { return s.stream && s.stream->last_heard() > since; });
}

void Iperf3Session::start_if_complete(Time now) {
  if (phase_ != Phase::streams || streams_ < announced_) return;
  started_ = now;
  phase_ = Phase::running;
  say(kTestStart);
  say(kTestRunning);
}

void Iperf3Session::on_state(std::uint8_t state, Time now) {
  if (state == kTestEnd && phase_ == Phase::running) {
    ended_ = now;
    phase_ = Phase::results;
    say(kExchangeResults);
  } else if (state == kClientTerminate || state == kIperfDone) {
    end();
  }
}

void Iperf3Session::on_results() {
  write_results();
  phase_ = Phase::display;
  say(kDisplayResults);
}

// Our streams take the client's numbers for them, in its order: it looks its own up by them.
void Iperf3Session::write_results() {
  const std::size_t length_at = said_;
  say(std::string_view("\0\0\0\0", 4));
  say(R"({"cpu_util_total":0,"cpu_util_user":0,"cpu_util_system":0,"sender_has_retransmits":-1,"streams":[)");
  std::string_view theirs = value_of(message(), "streams");
  for (std::size_t i = 0; i < streams_; ++i) {
    theirs = value_of(theirs, "id");
    std::uint32_t id = 0;
    std::from_chars(theirs.data(), theirs.data() + theirs.size(), id);
    const std::uint64_t bytes = slots_[i].stream ? slots_[i].stream->test_bytes() : slots_[i].bytes;
    char text[200];
    const int n = std::snprintf(text, sizeof text,
                                R"(%s{"id":%u,"bytes":%llu,"retransmits":-1,"jitter":0,"errors":0,)"
                                R"("packets":0,"start_time":0,"end_time":%.6f})",
                                i == 0 ? "" : ",", id, static_cast<unsigned long long>(bytes),
                                seconds(ended_ - started_));
    say({text, static_cast<std::size_t>(n)});
  }
  say("]}");
  const auto length = static_cast<std::uint32_t>(said_ - length_at - 4);
  for (std::size_t i = 0; i < 4; ++i)
    output_[length_at + i] = static_cast<std::uint8_t>(length >> (24 - 8 * i));
}

// Two numbers follow: which error of iperf3's, and errno.
void Iperf3Session::fail() {
  phase_ = Phase::failed;
  say(kServerError);
  say(std::string_view("\0\0\0", 3));
  say(kUnimplemented);
  say(std::string_view("\0\0\0\0", 4));
}

// output_ has room for all of a test: at most kStreams lines of less than 200 bytes.
void Iperf3Session::say(std::string_view text) {
  std::copy(text.begin(), text.end(), output_.begin() + static_cast<std::ptrdiff_t>(said_));
  said_ += text.size();
}
void Iperf3Session::say(std::uint8_t state) {
  output_[said_++] = state;
}

}  // namespace surety::endpoints
