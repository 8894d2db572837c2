// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show_command.h"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/unit/router/operate/observe/fake_router.h"

namespace surety {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string events(const std::string&) {
  return R"({"/surety/events":{"total":3,"offset":0,"rows":[
    {"number":1,"time":"t1","level":"notice","kind":"start","text":"edge1 forwards"},
    {"number":2,"time":"t2","level":"warning","kind":"link","text":"port \u001b[2J\n: link down"},
    {"number":3,"time":"t3","level":"notice","kind":"link","text":"port wan0: link up"}]}})";
}

class ShowCommand : public testing::Test {
 protected:
  int run(const ShowRequest& request, const ShowAgain& again = {}) {
    out_.str("");
    err_.str("");
    return show(request, TelemetryClient({directory_.path()}), out_, err_, again);
  }
  test::RuntimeDirectory directory_;
  const test::FakeRouter router_{directory_, "edge1", events};
  std::ostringstream out_, err_;
};

TEST_F(ShowCommand, EventsAreALineEachAndTheNewestLast) {
  EXPECT_EQ(run({.what = "events"}), 0);
  EXPECT_EQ(out_.str(),
            "TIME  LEVEL    KIND   EVENT\n"
            "t1    notice   start  edge1 forwards\n"
            "t2    warning  link   port \\x1b[2J\\n: link down\n"
            "t3    notice   link   port wan0: link up\n");
}

TEST_F(ShowCommand, SelectsForPeopleAndPrograms) {
  EXPECT_EQ(run({.what = "events", .selection = {.where = {"kind=link"}, .top = 1}}), 0);
  EXPECT_EQ(out_.str(), "TIME  LEVEL   KIND  EVENT\nt3    notice  link  port wan0: link up\n");
  EXPECT_EQ(run({.what = "events", .json = true, .selection = {.where = {"kind=start"}}}), 0);
  EXPECT_EQ(Json::parse(out_.str()).size(), 1U);
  EXPECT_EQ(Json::parse(out_.str())[0]["number"], 1U);
}

TEST(ShowFlows, SaysWhereFlowsAreThatItDoesNotShow) {
  const test::RuntimeDirectory directory;
  std::string row;
  const test::FakeRouter router{directory, "edge1", [&](const std::string&) {
                                  return R"({"/surety/flows":{"total":1,"offset":0,"rows":[)" + row + "]}}";
                                }};
  const auto shown = [&] {
    std::ostringstream out, err;
    EXPECT_EQ(show({.what = "flows"}, TelemetryClient({directory.path()}), out, err), 0) << err.str();
    return out.str();
  };
  row = R"({"source":"10.1.0.1","destination":"any","protocol":"contract","service":"gold"})";
  EXPECT_THAT(shown(), testing::EndsWith("`surety capture` of their port or customer shows each\n"));
  row = R"({"source":"10.1.0.1:5","destination":"10.2.0.1:6","protocol":"udp","service":"gold"})";
  EXPECT_THAT(shown(), testing::Not(HasSubstr("surety capture")));
}

TEST_F(ShowCommand, AWrongKeyIsOneLineWithThoseThereAre) {
  EXPECT_EQ(run({.what = "events", .selection = {.where = {"kid=link"}}}), 2);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), "surety show events: no key is called `kid`; did you mean `kind`?\n");
}

TEST_F(ShowCommand, AgainAndAgainUntilItEnds) {
  int left = 2;
  const ShowAgain again = [&] { return left-- > 0 ? std::optional(1.0) : std::nullopt; };
  EXPECT_EQ(run({.what = "events", .selection = {.top = 1}}, again), 0);
  const std::string block = "TIME  LEVEL   KIND  EVENT\nt3    notice  link  port wan0: link up\n";
  EXPECT_EQ(out_.str(), block + '\n' + block + '\n' + block);
  left = 1;
  EXPECT_EQ(run({.what = "events", .json = true, .selection = {.top = 1}}, again), 0);
  EXPECT_EQ(std::ranges::count(out_.str(), '\n'), 2) << "a line each";
}

TEST_F(ShowCommand, EndsWhereNobodyReads) {
  int asked = 0;
  const ShowAgain again = [&] {
    ++asked;
    out_.setstate(std::ios::badbit);
    return std::optional(1.0);
  };
  EXPECT_EQ(run({.what = "events"}, again), 0);
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace surety
