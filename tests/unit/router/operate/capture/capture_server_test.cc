// SPDX-License-Identifier: BSD-3-Clause
// Both ends of a capture over a real socket; the worker is the test.
#include "router/operate/capture/capture_server.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <atomic>
#include <thread>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace test;

struct CaptureServerTest : testing::Test {
  CaptureServerTest() {
    request.what = "port lan";
    request.wish.ports = 1;
    connect();
  }
  void connect() {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    client = Fd(ends[0]);
    servers_end = Fd(ends[1]);
    const timeval patience{20, 0};
    ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  CaptureServer::Router router() {
    return {.workers = 1,
            .set_tap = [this](std::size_t, CaptureTap* t) { return tap.store(t), answers.load(); },
            .now = [this] { return Time(Duration(now.load())); },
            .time_of_day =
                [](Time t) {
                  return UnixTime(std::chrono::seconds(1000)) +
                         std::chrono::duration_cast<std::chrono::milliseconds>(t.time_since_epoch());
                }};
  }
  void begin() { server->begin(request, {"lan", "wan"}, servers_end); }
  std::string hear() {
    std::string message(1 << 17, '\0');
    const ssize_t n = ::recv(client.get(), message.data(), message.size(), 0);
    message.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return message;
  }
  Json hear_json() { return Json::parse(hear(), nullptr, false).value("/surety/capture", Json::object()); }
  void wait_for_tap(bool on) {
    while ((tap.load() != nullptr) != on) std::this_thread::yield();
  }
  void pass(std::size_t packets) {
    for (std::size_t i = 0; i < packets; ++i) {
      rte_mbuf* m = to_mbuf(udp_frame());
      tap.load()->frames({&m, 1}, 0, pcapng::Direction::inbound);
      rte_pktmbuf_free(m);
    }
  }

  CaptureRequest request;
  Fd client, servers_end;
  std::atomic<CaptureTap*> tap{nullptr};
  std::atomic<bool> answers{true};
  std::atomic<std::int64_t> now{5'000'000};
  std::unique_ptr<CaptureServer> server = std::make_unique<CaptureServer>(router());
};

TEST_F(CaptureServerTest, BringsPacketsWithTheTimeOfDayUntilItIsStopped) {
  begin();
  const Json head = hear_json();
  EXPECT_EQ(head["capturing"], "port lan");
  EXPECT_EQ(head["ports"], (Json{"lan", "wan"}));
  EXPECT_EQ(head["reasons"].size(), kDropReasons);
  wait_for_tap(true);
  tap.load()->at(Time(Duration(5'000'007)));
  pass(1);
  const std::string batch = hear();
  ASSERT_EQ(batch.size(), 1 + sizeof(CapturedPacket) + 114);
  EXPECT_EQ(batch[0], kCapturedPackets);
  CapturedPacket p;
  std::memcpy(&p, batch.data() + 1, sizeof p);
  EXPECT_EQ(p.time, 1000'005'000'007);
  ::send(client.get(), kStopCapture.data(), kStopCapture.size(), 0);
  const Json end = hear_json();
  EXPECT_EQ(end["ended"], "stopped");
  EXPECT_EQ(end["packets"], 1);
  EXPECT_EQ(tap.load(), nullptr);
  EXPECT_EQ(hear(), "");
}

TEST_F(CaptureServerTest, EndsInTimeAndCountsWhatWasBeyondTheRate) {
  request.time = std::chrono::seconds(2);
  request.wish.rate = 20;
  begin();
  hear_json();
  wait_for_tap(true);
  pass(5);
  now += 2'000'000'000;
  Json end;
  while (!end.contains("ended")) {
    const std::string message = hear();
    ASSERT_NE(message, "");
    if (message.front() == '{') end = Json::parse(message)["/surety/capture"];
  }
  EXPECT_EQ(end["ended"], "time");
  EXPECT_EQ(end["packets"], 2);
  EXPECT_EQ(end["beyond_rate"], 3);
}

TEST_F(CaptureServerTest, ASecondOneIsRefusedAndKeepsItsSocket) {
  begin();
  hear_json();
  Fd first = std::move(client);
  connect();
  EXPECT_THAT([this] { begin(); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("port lan runs")));
  EXPECT_TRUE(servers_end);
  first = Fd();  // goes away
  wait_for_tap(false);
  for (bool refused = true; refused;) try {
      begin();
      refused = false;
    } catch (const std::runtime_error&) {  // not over yet
    }
  EXPECT_EQ(hear_json()["capturing"], "port lan");
}

TEST_F(CaptureServerTest, AClientThatDoesNotReadCostsPacketsAndNothingElse) {
  request.wish.rate = 100'000;
  begin();
  wait_for_tap(true);
  for (int i = 0; i < 100 && tap.load()->no_room() == 0; ++i) {
    now += 100'000'000;
    tap.load()->at(Time(Duration(now.load())));
    pass(5'000);
  }
  EXPECT_GT(tap.load()->no_room(), 0u);
  client = Fd();
  wait_for_tap(false);
}

TEST_F(CaptureServerTest, EndsWithTheRouterOrAReload) {
  begin();
  hear_json();
  wait_for_tap(true);
  server->interrupt();
  EXPECT_THAT(std::string(hear_json()["ended"]), testing::HasSubstr("reload"));
  connect();
  for (bool refused = true; refused;) try {
      begin();
      refused = false;
    } catch (const std::runtime_error&) {
    }
  hear_json();
  wait_for_tap(true);
  server.reset();
  EXPECT_THAT(std::string(hear_json()["ended"]), testing::HasSubstr("router stops"));
  EXPECT_EQ(tap.load(), nullptr);
}

}  // namespace
}  // namespace surety
