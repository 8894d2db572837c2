// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/iperf3_sink.h"

#include <gmock/gmock.h>

#include <list>
#include <string>

#include "tests/unit/endpoints/tcp/scripted_sender.h"

namespace surety::endpoints {
namespace {

using namespace literals;

const std::string kCookie = "abcdefghijklmnopqrstuvwxyz2345672345" + std::string(1, '\0');
constexpr char kParamExchange = 9, kCreateStreams = 10, kTestStart = 1, kTestRunning = 2, kTestEnd = 4,
               kExchangeResults = 13, kDisplayResults = 14, kIperfDone = 16;

std::string framed(const std::string& json) {
  std::string s(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) s[i] = static_cast<char>(json.size() >> (24 - 8 * i));
  return s + json;
}

// One connection of an iperf3 client: what it says, and everything that it has heard so far.
class Client {
 public:
  Client(Acceptor& acceptor, Time& now) : now_(now) {
    tcp::Segment syn = segment("", tcp::kSyn);
    syn.sequence = kIsn;
    Refusal refusal = Refusal::state;
    engine_ = acceptor.accept(room_, tuple_, crafted(syn, reversed(tuple_)).packet, now_, refusal);
    EXPECT_EQ(refusal, Refusal::none);
    listen();
    give(segment("", tcp::kAck));
  }
  ~Client() { engine_->~Engine(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // What the server answers, at once.
  std::string say(const std::string& bytes) {
    give(segment(bytes, tcp::kAck | tcp::kPsh));
    sent_ += static_cast<std::uint32_t>(bytes.size());
    return listen();
  }
  std::string listen() {
    std::string out;
    for (const Heard& h : polled(*engine_, now_)) {
      if (h.has(tcp::kSyn)) heard_ = h.sequence + 1;
      if (h.bytes.empty() || h.sequence != heard_) continue;
      out.append(h.bytes.begin(), h.bytes.end());
      heard_ += static_cast<std::uint32_t>(h.bytes.size());
    }
    if (!out.empty()) give(segment("", tcp::kAck));
    return out;
  }
  void close() {
    give(segment("", tcp::kFin | tcp::kAck));
    for (const Heard& h : polled(*engine_, now_))
      if (h.has(tcp::kFin)) heard_ = h.sequence + 1;
    ++sent_;
    give(segment("", tcp::kAck));
  }
  const Engine& engine() const { return *engine_; }

 private:
  tcp::Segment segment(const std::string& bytes, int flags) {
    bytes_.assign(bytes.begin(), bytes.end());
    tcp::Segment s;
    s.source_port = kThere;
    s.destination_port = kHere;
    s.sequence = kIsn + 1 + sent_;
    s.ack = heard_;
    s.flags = static_cast<std::uint8_t>(flags);
    s.window = 65535;
    s.mss = 1460;
    if ((flags & tcp::kSyn) == 0) s.mss.reset();
    s.payload = bytes_;
    return s;
  }
  void give(const tcp::Segment& s) { engine_->receive(crafted(s, reversed(tuple_)).packet, now_); }

  Time& now_;
  Tuple tuple_ = sink_tuple();
  Octets bytes_;
  std::uint32_t sent_ = 0, heard_ = 0;
  Engine* engine_ = nullptr;
  alignas(64) std::uint8_t room_[kEngineBytes];
};

class Iperf3Sink : public testing::Test {
 protected:
  Client& connect() { return clients_.emplace_back(acceptor, now); }
  // A control connection whose parameters are accepted.
  Client& control(const std::string& parameters) {
    Client& c = connect();
    EXPECT_EQ(c.say(kCookie), std::string{kParamExchange});
    EXPECT_EQ(c.say(framed(parameters)), std::string{kCreateStreams});
    return c;
  }

  SinkParams params;
  Iperf3Acceptor acceptor{params, 1};
  Time now{std::chrono::seconds(10)};
  std::list<Client> clients_;
};

constexpr const char* kOneStream = R"({"tcp":true,"omit":0,"time":1,"parallel":1,"len":131072})";
constexpr const char* kTwoStreams = R"({"tcp":true,"omit":0,"time":1,"parallel":2,"len":131072})";
const std::string kUnimplemented{'\xfe', 0, 0, 0, 13, 0, 0, 0, 0};

TEST_F(Iperf3Sink, ATestRunsToItsEnd) {
  Client& c = control(kTwoStreams);
  Client& first = connect();
  EXPECT_EQ(first.say(kCookie), "");
  now += 10ms;
  EXPECT_EQ(c.listen(), "") << "one stream is still missing";
  Client& second = connect();
  second.say(kCookie);
  now += 10ms;
  EXPECT_EQ(c.listen(), (std::string{kTestStart, kTestRunning}));
  first.say(std::string(1000, 'x'));
  first.say(std::string(500, 'y'));
  second.say(std::string(300, 'z'));
  now += 2500ms;
  EXPECT_EQ(c.say(std::string{kTestEnd}), std::string{kExchangeResults});
  const std::string ours =
      R"({"cpu_util_total":0,"cpu_util_user":0,"cpu_util_system":0,"sender_has_retransmits":-1,"streams":[)"
      R"({"id":1,"bytes":1500,"retransmits":-1,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":2.500000},)"
      R"({"id":3,"bytes":300,"retransmits":-1,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":2.500000}]})";
  EXPECT_EQ(c.say(framed(R"({"cpu_util_total":1,"streams":[{"id":1,"bytes":9},{"id":3,"bytes":9}]})")),
            framed(ours) + kDisplayResults);
  EXPECT_EQ(c.say(std::string{kIperfDone}), "");
  c.close();
  EXPECT_EQ(c.engine().state(), FlowState::closed);
  control(kOneStream);  // and there may be another
}

TEST_F(Iperf3Sink, MessagesMayComeOneByteAtATime) {
  Client& c = connect();
  std::string heard;
  for (const char b : kCookie + framed(kOneStream)) heard += c.say(std::string(1, b));
  EXPECT_EQ(heard, (std::string{kParamExchange, kCreateStreams}));
}

TEST_F(Iperf3Sink, AStreamThatClosedEarlyKeepsItsCount) {
  Client& c = control(kOneStream);
  Client& stream = connect();
  stream.say(kCookie + "12345");
  now += 10ms;
  c.listen();
  stream.close();
  EXPECT_EQ(stream.engine().state(), FlowState::closed);
  c.say(std::string{kTestEnd});
  EXPECT_THAT(c.say(framed("{}")), testing::HasSubstr(R"("bytes":5,)"));
}

TEST_F(Iperf3Sink, OneTestAtATime) {
  Client& c = control(kOneStream);
  Client& other = connect();
  EXPECT_EQ(other.say("B" + kCookie.substr(1)), "\xff") << "ACCESS_DENIED";
  EXPECT_EQ(other.engine().state(), FlowState::closing);
  c.close();  // without a word
  EXPECT_EQ(connect().say("B" + kCookie.substr(1)), std::string{kParamExchange});
}

TEST_F(Iperf3Sink, RefusesTestsThatItCannotDo) {
  for (const char* parameters :
       {R"({"udp":true,"parallel":1})", R"({"tcp":true,"parallel":1,"reverse":true})",
        R"({"tcp":true,"parallel":1,"bidirectional":1})", R"({"tcp":true,"parallel":129})",
        R"({"tcp":true,"parallel":0})", "not JSON"}) {
    Client& c = connect();
    c.say(kCookie);
    EXPECT_EQ(c.say(framed(parameters)), kUnimplemented) << parameters;
    c.close();
  }
}

TEST_F(Iperf3Sink, RefusesMessagesOfAbsurdLength) {
  for (const std::string& length :
       {std::string("\xff\xff\xff\xff"), std::string("\0\0\x80\1", 4), std::string(4, '\0')}) {
    Client& c = connect();
    c.say(kCookie);
    EXPECT_EQ(c.say(length + std::string(500, '{')), kUnimplemented);
    c.close();
  }
}

TEST_F(Iperf3Sink, AStreamTooManyIsNotCounted) {
  Client& c = control(kOneStream);
  connect().say(kCookie + "123");
  connect().say(kCookie + "45678");
  now += 10ms;
  c.listen();
  c.say(std::string{kTestEnd});
  const std::string results = c.say(framed("{}"));
  EXPECT_THAT(results, testing::HasSubstr(R"("bytes":3,)"));
  EXPECT_THAT(results, testing::Not(testing::HasSubstr(R"("bytes":5,)")));
}

TEST_F(Iperf3Sink, ControlMayBeSilentWhileItsStreamsAreNot) {
  Client& c = control(kOneStream);
  Client& stream = connect();
  stream.say(kCookie);
  now += 10ms;
  c.listen();
  for (int minutes = 0; minutes < 12; minutes += 4) {
    now += 4min;
    stream.say("more");
    c.listen();
  }
  EXPECT_EQ(c.engine().state(), FlowState::open);
  now += 11min;
  c.listen();
  EXPECT_EQ(c.engine().failure(), Failure::timeout);
}

}  // namespace
}  // namespace surety::endpoints
