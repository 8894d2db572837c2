// SPDX-License-Identifier: BSD-3-Clause
// Asked by the real client, and by whoever means harm, over the real socket.
#include "router/operate/observe/telemetry_server.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <memory>
#include <optional>

#include "router/operate/observe/telemetry_client.h"
#include "tests/unit/router/operate/observe/fake_router.h"
#include "tests/unit/router/operate/observe/sample_reading.h"

namespace surety {
namespace {

class TelemetryServerTest : public testing::Test {
 protected:
  TelemetryServerTest() { std::filesystem::create_directories(socket_.parent_path()); }

  std::unique_ptr<TelemetryServer> serve(std::function<Reading()> read = test::sample_reading) {
    return std::make_unique<TelemetryServer>(socket_, std::move(read));
  }
  Json ask(std::string_view table) { return TelemetryClient({directory_.path()}).table(table, "edge1"); }
  Fd connect() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_.string().copy(address.sun_path, sizeof address.sun_path - 1);
    Fd s(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
    const timeval patience{60, 0};
    ::setsockopt(s.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (::connect(s.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return Fd();
    return s;
  }
  // Empty: hung up.
  static std::string hear(const Fd& s) {
    std::string message(1 << 16, '\0');
    const ssize_t n = ::recv(s.get(), message.data(), message.size(), 0);
    message.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return message;
  }
  static std::string ask(const Fd& s, const std::string& request) {
    return ::send(s.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0 ? "" : hear(s);
  }

  const test::RuntimeDirectory directory_;
  const std::filesystem::path socket_ = directory_.path() / "dpdk" / "surety-edge1" / kTelemetrySocket;
};

TEST_F(TelemetryServerTest, HandsOutEveryTable) {
  const auto server = serve();
  for (const std::string_view name : kTables)
    EXPECT_EQ(ask(name).dump(), table(test::sample_reading(), name).dump()) << name;
  EXPECT_EQ(ask("sold"), ask("commitments")) << "an alias";
}

TEST_F(TelemetryServerTest, HandsOutTablesOfNoReading) {
  int made = 0;
  const TelemetryServer server(socket_, test::sample_reading,
                               {{"events",
                                 [&] {
                                   return ++made, Json({{{"number", 1U}}, {{"number", 2U}}});
                                 }},
                                {"routes", [] { return Json(); }}});
  EXPECT_EQ(ask("events"), Json({{{"number", 1U}}, {{"number", 2U}}}));
  EXPECT_EQ(made, 1);
  EXPECT_THROW(ask("routes"), std::runtime_error) << "there are none now";
  EXPECT_THROW(ask("neighbors"), std::runtime_error);
  const Fd s = connect();
  EXPECT_EQ(Json::parse(hear(s))["network_namespace"], network_namespace());
  EXPECT_EQ(Json::parse(ask(s, "/"))["/"].back(), "/surety/routes");
}

TEST_F(TelemetryServerTest, HandsOutALongTableFromOneReading) {
  int readings = 0;
  Reading reading = test::sample_reading();
  reading.ports.resize(kMaxPorts, reading.ports[0]);
  const auto server = serve([&] {
    ++readings;
    return reading;
  });
  EXPECT_EQ(ask("drops"), table(reading, "drops"));
  EXPECT_EQ(readings, 1);
  EXPECT_EQ(ask("domains"), table(reading, "domains"));
  EXPECT_EQ(readings, 2);
}

TEST_F(TelemetryServerTest, HandsOutAsMuchAtOnceAsWhoAsksHasRoomFor) {
  Reading reading = test::sample_reading();
  reading.services.resize(2'000, reading.services[0]);
  const auto server = serve([&] { return reading; });
  const Fd s = connect();
  hear(s);
  const auto rows = [&](const std::string& request) {
    return Json::parse(ask(s, request))["/surety/services"]["rows"].size();
  };
  EXPECT_LT(ask(s, "/surety/services").size(), 16384u) << "as it greets";
  const std::size_t few = rows("/surety/services,0"), many = rows("/surety/services,0,60000");
  EXPECT_GT(many, 3 * few);
  EXPECT_LT(many, 5 * few);
  EXPECT_GT(ask("services").size(), 1'999u) << "pages of the largest size";
}

TEST_F(TelemetryServerTest, GreetsAndListsAsTheProtocolHasIt) {
  const auto server = serve();
  const Fd s = connect();
  EXPECT_EQ(Json::parse(hear(s))["pid"], getpid());
  const Json names = Json::parse(ask(s, "/"))["/"];
  EXPECT_EQ(names.size(), kTables.size() + 1);
  EXPECT_EQ(names[1], "/surety/router");
}

// The second one ends a process that has DPDK's telemetry.
TEST_F(TelemetryServerTest, KnowsNoCommandsButItsOwn) {
  const auto server = serve();
  const Fd s = connect();
  hear(s);
  EXPECT_EQ(ask(s, "/eal/params"), R"({"/eal/params":null})");
  EXPECT_EQ(ask(s, "/eal/memzone_info,99999"), R"({"/eal/memzone_info":null})");
  EXPECT_EQ(ask(s, "/surety"), R"({"/surety":null})");
  EXPECT_EQ(ask(s, "/surety/routers"), R"({"/surety/routers":null})");
  EXPECT_EQ(ask(s, "/surety/ports,x"), R"({"/surety/ports":null})");
  EXPECT_EQ(ask(s, "/surety/ports,-1"), R"({"/surety/ports":null})");
  EXPECT_EQ(ask(s, "/surety/ports,"), R"({"/surety/ports":null})");
  EXPECT_EQ(ask(s, "/surety/ports,0,"), R"({"/surety/ports":null})");
  EXPECT_EQ(ask(s, "/surety/ports,0,9,9"), R"({"/surety/ports":null})");
  EXPECT_EQ(ask(s, "\xff\"\n"), "{\"\\ufffd\\\"\\n\":null}");
  EXPECT_EQ(ask(s, std::string(TelemetryServer::kMaxRequest, '/')).size(), TelemetryServer::kMaxRequest + 9);
  EXPECT_EQ(ask(s, std::string(TelemetryServer::kMaxRequest + 1, '/')), "") << "hangs up";
  EXPECT_NO_THROW(ask("router"));
}

TEST_F(TelemetryServerTest, GivesOtherCommandsWhatStandsBehindTheComma) {
  Fd taken;
  const TelemetryServer server(
      socket_, test::sample_reading, {},
      {{"echo",
        [](std::string_view said, Fd&) {
          return Json{{"said", said}};
        }},
       {"fail", [](std::string_view, Fd&) -> Json { throw std::runtime_error("no such packet"); }},
       {"take", [&](std::string_view, Fd& s) { return taken = std::move(s), Json(); }}});
  const TelemetryClient client({directory_.path()});
  EXPECT_EQ(client.ask("echo", "lan0 source=10.1.0.1, and more", "edge1")["said"],
            "lan0 source=10.1.0.1, and more");
  EXPECT_EQ(client.ask("echo", "", "edge1")["said"], "");
  EXPECT_THAT([&] { client.ask("fail", "", "edge1"); },
              testing::ThrowsMessage<std::runtime_error>("no such packet"));
  EXPECT_THAT(
      [&] { client.ask("none", "", "edge1"); },
      testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("does not support /surety/none")));
  EXPECT_EQ(client.ask("echo", std::string(960, 'x'), "edge1")["said"].get<std::string>().size(), 960u);
  EXPECT_THAT([&] { client.ask("echo", std::string(961, 'x'), "edge1"); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("too long")));
  const Fd s = connect();
  hear(s);
  EXPECT_EQ(Json::parse(ask(s, "/"))["/"].back(), "/surety/take");
  ::send(s.get(), "/surety/take", 12, 0);
  while (client.ask("echo", "", "edge1").empty() || !taken) {  // from another thread, but answered after it
  }
  ::send(taken.get(), "mine", 4, 0);
  EXPECT_EQ(hear(s), "mine");
}

TEST_F(TelemetryServerTest, WaitsForNobodyWhoDoesNotRead) {
  const auto server = serve();
  const Fd s = connect();
  bool taken = true;
  for (int i = 0; taken && i < 100'000; ++i) taken = ::send(s.get(), "/surety/drops", 13, MSG_NOSIGNAL) > 0;
  EXPECT_FALSE(taken) << "hangs up";
  EXPECT_NO_THROW(ask("router"));
}

TEST_F(TelemetryServerTest, HasRoomForANewcomerWhoeverElseIsThere) {
  const auto server = serve();
  std::vector<Fd> silent;
  for (std::size_t i = 0; i < 3 * TelemetryServer::kMaxClients; ++i)
    EXPECT_NE(hear(silent.emplace_back(connect())), "");
  EXPECT_NO_THROW(ask("router"));
  EXPECT_EQ(hear(silent.front()), "") << "gave way";
  EXPECT_NE(ask(silent.back(), "/"), "") << "had no need to";
}

TEST_F(TelemetryServerTest, HearsOnlyRootAndItsOwnUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs another user";
  const auto server = serve();
  struct stat file {};
  ASSERT_EQ(::stat(socket_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  ASSERT_EQ(::chmod(socket_.c_str(), 0666), 0);
  ASSERT_EQ(seteuid(65534), 0);
  const Fd s = connect();
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_TRUE(s);
  EXPECT_EQ(hear(s), "") << "hangs up without a word";
}

TEST_F(TelemetryServerTest, TakesThePlaceOfADeadOneAndLeavesNothingBehind) {
  close(test::bind_router(directory_, "edge1"));
  auto server = serve();
  EXPECT_NO_THROW(ask("router"));
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(TelemetryServerTest, SaysWhereItCannotListen) {
  std::filesystem::remove(socket_.parent_path());
  EXPECT_THAT([this] { serve(); }, testing::ThrowsMessage<std::system_error>(
                                       testing::StartsWith("cannot listen at " + socket_.string())));
}

Json numbered(unsigned n) {
  Json rows = Json::array();
  for (unsigned i = 0; i < n; ++i) rows.push_back({{"n", i}});  // {"n":0}: 7 bytes, 8 with its comma
  return rows;
}

Json page(const Json& rows, std::size_t offset, std::size_t bytes = kPageBytes) {
  return Json::parse(TablePages(rows).page(offset, bytes));
}

TEST(Page, HoldsAWholeSmallTable) {
  EXPECT_EQ(page(numbered(2), 0), Json::parse(R"({"total": 2, "offset": 0, "rows": [{"n": 0}, {"n": 1}]})"));
}

TEST(Page, TellsWhereTheNextOneStarts) {
  EXPECT_EQ(page(numbered(5), 1, 16),
            Json::parse(R"({"total": 5, "offset": 1, "next": 3, "rows": [{"n": 1}, {"n": 2}]})"));
  EXPECT_EQ(page(numbered(5), 3, 16),
            Json::parse(R"({"total": 5, "offset": 3, "rows": [{"n": 3}, {"n": 4}]})"));
  EXPECT_EQ(page(numbered(5), 3, 15)["next"], 4);
}

TEST(Page, HasOneRowEvenIfThatIsTooLarge) {
  EXPECT_EQ(page(numbered(3), 1, 1),
            Json::parse(R"({"total": 3, "offset": 1, "next": 2, "rows": [{"n": 1}]})"));
}

TEST(Page, IsEmptyBeyondTheEnd) {
  EXPECT_EQ(page(numbered(0), 0), Json::parse(R"({"total": 0, "offset": 0, "rows": []})"));
  EXPECT_EQ(page(numbered(3), 7), Json::parse(R"({"total": 3, "offset": 7, "rows": []})"));
}

}  // namespace
}  // namespace surety
