// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/command_line.h"

#include <gmock/gmock.h>

#include <array>

namespace surety {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Words = std::vector<std::string>;

class CommandLine : public testing::Test {
 protected:
  CommandLine() {
    app_.set_help_flag("-h,--help", "help");
    auto* show = app_.add_subcommand("show", "Tables");
    show->set_help_flag();
    show->add_option("what", what_, "which")->required();
    show->add_option("where", where_, "rows");
    show->add_option("--name", name_, "router");
    show->add_option("--format", format_, "how")->check(CLI::IsMember({"text", "csv"}))->default_str("text");
    show->add_flag("--json", json_, "for programs");
    show->add_option("--watch", watch_, "again")->expected(0, 9);
    app_.add_subcommand("secret", "of nobody's")->group("");
    app_.add_subcommand("stop", "End");
  }
  Words complete(const Words& words) {
    return completions(app_, words, [&](const Unknown& unknown) -> std::optional<Words> {
      asked_ = unknown;
      if (unknown.name == "where") return std::nullopt;
      return Words{"ports", "queues"};
    });
  }

  CLI::App app_{"a program", "program"};
  std::string what_, name_, format_;
  Words where_, watch_;
  bool json_ = false;
  Unknown asked_;
};

TEST_F(CommandLine, OffersCommandsWithWhatTheyDoAndNothingHidden) {
  EXPECT_THAT(complete({""}), ElementsAre("show\tTables", "stop\tEnd"));
  EXPECT_THAT(complete({"sh"}), ElementsAre("show\tTables"));
  EXPECT_THAT(complete({"se"}), IsEmpty());
}

TEST_F(CommandLine, OffersOptionsOfTheCommandThatItIsIn) {
  EXPECT_THAT(complete({"-"}), ElementsAre("-h\thelp", "--help\thelp"));
  EXPECT_THAT(complete({"show", "--j"}), ElementsAre("--json\tfor programs"));
  EXPECT_THAT(complete({"stop", "--j"}), IsEmpty());
}

TEST_F(CommandLine, AsksForWhatOnlyRunningProgramsKnow) {
  EXPECT_THAT(complete({"show", "--name", "edge1", "--json", "q"}), ElementsAre("queues"));
  EXPECT_EQ(asked_.command, "show");
  EXPECT_EQ(asked_.name, "what");
  EXPECT_EQ(asked_.word, "q");
  EXPECT_EQ(asked_.given.at("--name"), "edge1");
  complete({"show", "ports", "--name", ""});
  EXPECT_EQ(asked_.name, "--name");
  EXPECT_THAT(asked_.before, ElementsAre("ports"));
}

TEST_F(CommandLine, AnOptionThatNeedsNoValueTakesNone) {
  complete({"show", "ports", "--watch", "x"});
  EXPECT_EQ(asked_.name, "where");
}

TEST_F(CommandLine, WhatNobodyKnowsMayBeAFile) {
  EXPECT_THAT(complete({"show", "ports", "x", "y"}), ElementsAre(":files"));
  EXPECT_THAT(complete({"stop", "y"}), IsEmpty());
}

TEST_F(CommandLine, OffersWordsThatAreAllThereAre) {
  EXPECT_THAT(complete({"show", "--format", ""}), ElementsAre("text", "csv"));
}

TEST_F(CommandLine, SaysAllOfItAsJson) {
  const auto line = command_line_json(app_);
  EXPECT_EQ(line["name"], "program");
  ASSERT_EQ(line["commands"].size(), 2);
  const auto& show = line["commands"][0];
  EXPECT_EQ(show["positionals"][0]["names"], nlohmann::ordered_json({"what"}));
  EXPECT_EQ(show["positionals"][0]["required"], true);
  EXPECT_EQ(show["positionals"][1]["many"], true);
  EXPECT_EQ(show["options"][1]["default"], "text");
  EXPECT_FALSE(show["options"][2].contains("type"));  // a flag
}

TEST_F(CommandLine, AnswersOnlyWhatProgramsAsk) {
  EXPECT_EQ(answer_programs(app_, 2, std::array{"program", "show"}.data()), std::nullopt);
  EXPECT_EQ(answer_programs(app_, 1, std::array{"program"}.data()), std::nullopt);
  EXPECT_EQ(answer_programs(app_, 2, std::array{"program", "shwo"}.data()), 2);
  testing::internal::CaptureStdout();
  EXPECT_EQ(answer_programs(app_, 3, std::array{"program", "complete", "st"}.data()), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "stop\tEnd\n");
}

}  // namespace
}  // namespace surety
