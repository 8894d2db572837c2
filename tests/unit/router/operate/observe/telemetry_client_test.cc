// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/telemetry_client.h"

#include <gmock/gmock.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "router/operate/observe/telemetry_server.h"
#include "router/process/this_process.h"
#include "tests/unit/router/operate/observe/fake_router.h"
#include "tests/unit/router/operate/observe/sample_reading.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using test::FakeRouter;

// "/surety/drops,40,131072" answered as telemetry_server.h says, with pages of `bytes`.
std::string answer(const std::string& request, const Reading& reading, std::size_t bytes) {
  const std::size_t comma = request.find(',');
  const std::string command = request.substr(0, comma);
  const Json rows = table(reading, command.substr(std::string("/surety/").size()));
  return "{\"" + command + "\":" + TablePages(rows).page(std::stoul(request.substr(comma + 1)), bytes) + '}';
}

FakeRouter::Answer honest(std::size_t bytes = kPageBytes, const std::string& name = "edge1") {
  return [=](const std::string& request) {
    Reading reading = test::sample_reading();
    reading.router_name = name;
    return answer(request, reading, bytes);
  };
}
FakeRouter::Answer always(const std::string& text) {
  return [text](const std::string&) { return text; };
}

class TelemetryClientTest : public testing::Test {
 protected:
  Json ask(const std::string& table, const std::optional<std::string>& router = {}) {
    return TelemetryClient({directory_.path()}).table(table, router);
  }
  std::string error(const std::optional<std::string>& router = {}) {
    try {
      ask("router", router);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "no error";
  }
  std::string path(const std::string& name) {
    return directory_.path() / "dpdk" / ("surety-" + name) / kTelemetrySocket;
  }

  test::RuntimeDirectory directory_;
};

TEST_F(TelemetryClientTest, ReadsEveryTableOfTheOnlyRouter) {
  const FakeRouter router(directory_, "edge1", honest());
  for (const std::string_view name : kTables)
    EXPECT_EQ(ask(std::string(name)), table(test::sample_reading(), name)) << name;
}

TEST_F(TelemetryClientTest, FollowsPagesToTheEnd) {
  std::atomic<int> requests = 0;
  const FakeRouter router(directory_, "edge1", [&, answer = honest(1000)](const std::string& request) {
    ++requests;
    return answer(request);
  });
  EXPECT_EQ(ask("drops"), table(test::sample_reading(), "drops"));
  EXPECT_GT(requests, 5);
}

// A lab's live run that is told to stop was told that a router does not answer.
TEST_F(TelemetryClientTest, ASignalMeanwhileChangesNothing) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, &before);
  const FakeRouter router(directory_, "edge1",
                          [asks = pthread_self(), answer = honest()](const std::string& request) {
                            for (int i = 0; i < 5; ++i) {
                              std::this_thread::sleep_for(5ms);  // it waits for us by then
                              pthread_kill(asks, SIGUSR1);
                            }
                            return answer(request);
                          });
  EXPECT_EQ(ask("domains"), table(test::sample_reading(), "domains"));
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(TelemetryClientTest, TellsRoutersApartByName) {
  const FakeRouter one(directory_, "edge1", honest(kPageBytes, "edge1"));
  const FakeRouter two(directory_, "edge2", honest(kPageBytes, "edge2"));
  EXPECT_EQ(ask("router", "edge1").at(0)["name"], "edge1");
  EXPECT_EQ(ask("router", "edge2").at(0)["name"], "edge2");
  EXPECT_EQ(error(), "2 routers are running: choose one of edge1, edge2 with --name");
}

TEST_F(TelemetryClientTest, NamesThoseThatRun) {
  EXPECT_THAT(TelemetryClient({directory_.path()}).running(), testing::IsEmpty());
  const FakeRouter two(directory_, "edge2", honest(kPageBytes, "edge2"));
  const FakeRouter one(directory_, "edge1", honest(kPageBytes, "edge1"));
  EXPECT_THAT(TelemetryClient({directory_.path()}).running(), testing::ElementsAre("edge1", "edge2"));
}

TEST_F(TelemetryClientTest, OfSeveralMeansTheOneOfItsNetworkNamespace) {
  const std::uint64_t own = network_namespace();
  const FakeRouter one(directory_, "edge1", honest(kPageBytes, "edge1"), own + 1);
  const FakeRouter two(directory_, "edge2", honest(kPageBytes, "edge2"), own);
  EXPECT_EQ(ask("router").at(0)["name"], "edge2");
  EXPECT_EQ(ask("router", "edge1").at(0)["name"], "edge1") << "a name says more";
  const FakeRouter three(directory_, "edge3", honest(kPageBytes, "edge3"), own);
  EXPECT_EQ(error(), "2 routers are running: choose one of edge2, edge3 with --name");
}

TEST_F(TelemetryClientTest, NamesTheSocketsOfRoutersWithOneName) {
  const test::RuntimeDirectory other;
  const FakeRouter one(directory_, "edge1", honest());
  const FakeRouter two(other, "edge1", honest());
  const auto in_other = other.path() / "dpdk" / "surety-edge1" / kTelemetrySocket;
  EXPECT_THAT(
      [&] {
        TelemetryClient({directory_.path(), other.path()}).table("router", "edge1");
      },
      testing::ThrowsMessage<std::runtime_error>("2 routers have that name: stop all but one of " +
                                                 path("edge1") + ", " + in_other.string()));
}

TEST_F(TelemetryClientTest, LooksIntoADirectoryOnceWhateverItIsCalled) {
  const FakeRouter router(directory_, "edge1", honest());
  const auto again = directory_.path() / "again";
  std::filesystem::create_directory_symlink(directory_.path(), again);
  EXPECT_NO_THROW(TelemetryClient({directory_.path(), again}).table("domains", {}));
}

TEST_F(TelemetryClientTest, SaysThatNoneIsRunning) {
  EXPECT_EQ(error(), "no router is running: start one with `surety run`");
  EXPECT_EQ(error("edge1"), "no router called edge1 is running: start it with `surety run`");
}

TEST_F(TelemetryClientTest, OverlooksSocketsOfTheDeadAndOfOtherPrograms) {
  close(test::bind_router(directory_, "dead"));
  std::filesystem::create_directories(directory_.path() / "dpdk" / "rte");
  EXPECT_EQ(error(), "no router is running: start one with `surety run`");
  const FakeRouter router(directory_, "edge1", honest());
  EXPECT_NO_THROW(ask("domains"));
}

TEST_F(TelemetryClientTest, SaysWhenPermissionIsMissing) {
  const FakeRouter router(directory_, "edge1", honest());
  const std::string folder = std::filesystem::path(path("edge1")).parent_path();
  chmod(folder.c_str(), 0);
  const uid_t user = geteuid();
  ASSERT_EQ(seteuid(user == 0 ? 65534 : user), 0);  // nothing is forbidden to root
  const std::string got = error();
  ASSERT_EQ(seteuid(user), 0);
  chmod(folder.c_str(), 0700);
  EXPECT_EQ(got, "permission denied for " + folder + ": run as root or as the router's user");
}

TEST_F(TelemetryClientTest, SaysWhenTheRouterHangsUp) {
  const FakeRouter router(directory_, "edge1", always(""));
  EXPECT_EQ(error(), "router edge1 does not answer: look at its log, or restart it");
}

TEST_F(TelemetryClientTest, GivesUpOnARouterThatHangs) {
  const int listener = test::bind_router(directory_, "edge1");
  listen(listener, 1);  // connects, but nobody will ever greet
  EXPECT_THAT([this] { TelemetryClient({directory_.path()}, 1ms).table("router", {}); },
              testing::ThrowsMessage<std::runtime_error>(
                  "router edge1 does not answer: look at its log, or restart it"));
  close(listener);
}

TEST_F(TelemetryClientTest, SaysWhenTheRouterDoesNotKnowTheTable) {
  const FakeRouter router(directory_, "edge1", always(R"({"/surety/router":null})"));
  EXPECT_EQ(
      error(),
      "router edge1 does not support /surety/router: try again if it has just started, else it is another "
      "version of surety");
}

TEST_F(TelemetryClientTest, RefusesAnswersThatMakeNoSense) {
  const std::string strange = "router edge1 gave an invalid answer: is it another version of surety?";
  for (const char* text :
       {R"(not json)", R"([])", R"({"/other":{}})", R"({"/surety/router":7})", R"({"/surety/router":{}})",
        R"({"/surety/router":{"rows":{}}})", R"({"/surety/router":{"rows":[1]}})",
        R"({"/surety/router":{"rows":[],"next":0}})", R"({"/surety/router":{"rows":[],"next":"x"}})"}) {
    const FakeRouter router(directory_, "edge1", always(text));
    EXPECT_EQ(error(), strange) << text;
    std::filesystem::remove(path("edge1"));
  }
}

TEST(RuntimeDirectories, StartWithTheOneOfTheEnvironment) {
  setenv("RUNTIME_DIRECTORY", "/run/mine", 1);
  EXPECT_EQ(runtime_directories().front(), "/run/mine");
  unsetenv("RUNTIME_DIRECTORY");
  EXPECT_EQ(runtime_directories().front(), "/var/run");
}

}  // namespace
}  // namespace surety
