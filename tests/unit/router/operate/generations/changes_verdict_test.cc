// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/changes.h"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

namespace surety {
namespace {

using config::Change;
using config::Diagnostic;
using testing::ElementsAre;

TEST(Verdict, HasErrorsAndWarningsWithoutNotes) {
  std::vector<Diagnostic> all(3);
  all[0].severity = Diagnostic::Severity::note;
  all[1].severity = Diagnostic::Severity::warning;
  all[2].severity = Diagnostic::Severity::error;
  const Json verdict = verdict_of(all);
  EXPECT_EQ(verdict.at("warnings"), Json::array({all[1].format()}));
  EXPECT_EQ(verdict.at("errors"), Json::array({all[2].format()}));
  EXPECT_TRUE(has_errors(verdict));
  EXPECT_FALSE(has_errors(verdict_of({all[0], all[1]})));
}

// `count` changes, of which the last two take a restart.
Json changes(std::size_t count) {
  std::vector<Change> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i].what = std::to_string(i);
    all[i].takes = i + 2 < count ? Change::Takes::at_once : Change::Takes::restart;
  }
  return in_json(all);
}

// They decide whether a router can adopt the configuration.
TEST(Verdict, ALongListIsCutButNeverWhatTakesARestart) {
  const Json all = verdict_of({}, changes(kMostChanges));
  EXPECT_EQ(all.at("changes").size(), kMostChanges);
  EXPECT_FALSE(all.contains("left_out"));
  const Json cut = verdict_of({}, changes(kMostChanges + 3));
  EXPECT_EQ(cut.at("left_out"), 3);
  ASSERT_EQ(cut.at("changes").size(), kMostChanges);
  EXPECT_EQ(cut.at("changes").back().at("what"), "197") << "the others in their order";
  EXPECT_THAT(what_takes_a_restart(cut), ElementsAre("201", "202"));
}

TEST(Verdict, ChangesAreALineEach) {
  Json verdict = verdict_of(
      {}, in_json({{"gold", Change::Takes::at_once, "alice"}, {"workers", Change::Takes::restart, ""}}));
  verdict["left_out"] = 7;
  std::ostringstream out;
  print_changes(verdict, out);
  EXPECT_EQ(out.str(), "gold; affects alice\nworkers; takes a restart\nand 7 more changes\n");
  EXPECT_EQ(words_of(verdict), Json::array({"gold", "workers"}));
}

TEST(Verdict, ProblemsHaveTheNamesThatTheAuthorGave) {
  Json verdict = verdict_of({});
  verdict["errors"] = {"/etc/a.yaml:1: see /etc/b.yaml", "two\n"};
  verdict["warnings"] = {"first"};
  std::ostringstream err;
  print_problems(verdict, {{"/etc/", "new/"}, {"new/a.yaml", "mine.yaml"}}, err);
  EXPECT_EQ(err.str(), "first\nmine.yaml:1: see new/b.yaml\ntwo\n");
}

}  // namespace
}  // namespace surety
