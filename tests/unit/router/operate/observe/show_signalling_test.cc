// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/unit/router/operate/observe/sample_reading.h"

namespace surety {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string shown(const SignallingReading& signalling, bool all = false) {
  Reading r;
  r.signalling = signalling;
  return render_signalling(table(r, "signalling"), all);
}

TEST(ShowSignalling, BothSides) {
  EXPECT_EQ(shown(test::sample_signalling()),
            "Mode: act\n"
            "\n"
            "Queues of this router that signal:\n"
            "PORT  QUEUE    SENT  LIMITED  LOST\n"
            "wan0  assured     7        2     1\n"
            "\n"
            "Queues of other routers whose signals arrived:\n"
            "ROUTER     PORT  QUEUE  SIGNALS    LAST\n"
            "192.0.2.2     1      0        6  250 ms\n"
            "\n"
            "Signals received, by result:\n"
            "RESULT   SIGNALS  MEANING\n"
            "applied        6  sets alpha of its path\n"
            "forged         1  its MAC does not match the key\n"
            "\n"
            "Paths that signals throttle:\n"
            "PATH         DOMAIN        ALPHA  APPLIED\n"
            "10.9.0.0/24  wan0/assured   0.12      0.1\n");
}

TEST(ShowSignalling, ObserveSaysThatNothingIsApplied) {
  SignallingReading s = test::sample_signalling();
  s.mode = "observe";
  s.paths[0].applied_alpha = 0.4;
  const std::string text = shown(s);
  EXPECT_THAT(text, StartsWith("Mode: observe (computed and shown; nothing is applied)\n"));
  EXPECT_THAT(text, EndsWith("\nPaths that signals would throttle:\n"
                             "PATH         DOMAIN        ALPHA  APPLIED\n"
                             "10.9.0.0/24  wan0/assured   0.12      0.4\n"));
}

TEST(ShowSignalling, ResultsThatNeverHappenedOnDemand) {
  const SignallingReading s = test::sample_signalling();
  EXPECT_THAT(shown(s), Not(HasSubstr("stale")));
  const std::string some = shown(s), all = shown(s, true);
  EXPECT_THAT(all, HasSubstr("\nstale                0  its time differs by more than max_age"));
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n') - std::count(some.begin(), some.end(), '\n'),
            static_cast<std::ptrdiff_t>(kSignalResults) - 2);
}

TEST(ShowSignalling, OffHasEmptyTables) {
  SignallingReading s;
  s.mode = "off";
  EXPECT_THAT(shown(s), StartsWith("Mode: off\n\nQueues of this router that signal:\n"
                                   "PORT  QUEUE  SENT  LIMITED  LOST\n(none)\n"));
}

TEST(ShowSignalling, OfARouterThatSendsNoRows) {
  EXPECT_THAT(render_signalling(Json::array(), false), StartsWith("Mode: -\n"));
}

}  // namespace
}  // namespace surety
