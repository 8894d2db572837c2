// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/papers_run_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace surety::lab {
namespace {

using testing::ElementsAre;

std::string paper(const std::string& name, const std::vector<std::string>& ids) {
  std::string text = "version: 1\npaper: " + name + "\ntitle: t\nexperiments:\n";
  for (const auto& id : ids)
    text += "  - {id: " + id + ", title: T, scenario: s, rows: [{what: w, value: events}]}\n";
  return text;
}
PapersFiles files() {
  return {"d/",
          {{"z.yaml", paper("gtfrc", {"gtfrc-fig2", "gtfrc-fig9"})},
           {"a.yaml", paper("tfrc", {"tfrc-table1"})},
           {"m.yaml", paper("csa", {"csa-table2"})},
           {"b.yaml", paper("own", {"own-1"})},
           {"README.md", "no YAML"},
           {"scenarios/s.yaml", "no paper"}}};
}

struct Loaded {
  std::vector<std::string> ids;  // with their papers
  std::string errors;
};
Loaded load(const PapersFiles& f, const PapersSelection& selection = {}) {
  Loaded out;
  std::ostringstream errors;
  if (const auto papers = load_papers(f, selection, errors)) {
    for (const auto& p : *papers) {
      for (const auto& e : p.experiments) out.ids.push_back(p.name + ":" + e.id);
    }
  }
  out.errors = errors.str();
  return out;
}

TEST(LoadPapers, InTheOrderOfTheDesign) {
  const auto all = load(files());
  EXPECT_THAT(all.ids, ElementsAre("gtfrc:gtfrc-fig2", "gtfrc:gtfrc-fig9", "csa:csa-table2",
                                   "tfrc:tfrc-table1", "own:own-1"));
  EXPECT_EQ(all.errors, "");
}

TEST(LoadPapers, FilesOfOnePaperFollowOneAnother) {
  const PapersFiles f{"d/",
                      {{"csa-b.yaml", paper("csa", {"csa-3"})},
                       {"csa-a.yaml", paper("csa", {"csa-2"})},
                       {"csa.yaml", paper("csa", {"csa-1"})},
                       {"gtfrc.yaml", paper("gtfrc", {"g"})}}};
  EXPECT_THAT(load(f).ids, ElementsAre("gtfrc:g", "csa:csa-1", "csa:csa-2", "csa:csa-3"));
  EXPECT_THAT(load(f, {"csa", ""}).ids, ElementsAre("csa:csa-1", "csa:csa-2", "csa:csa-3"));
}

TEST(LoadPapers, Selects) {
  EXPECT_THAT(load(files(), {"csa", ""}).ids, ElementsAre("csa:csa-table2"));
  EXPECT_THAT(load(files(), {"", "*-fig9"}).ids, ElementsAre("gtfrc:gtfrc-fig9"));
  EXPECT_THAT(load(files(), {"", "*-?"}).ids, ElementsAre("own:own-1"));
  EXPECT_THAT(load(files(), {"gtfrc", "*2"}).ids, ElementsAre("gtfrc:gtfrc-fig2"));
}

TEST(LoadPapers, SaysWhatThereIsNot) {
  EXPECT_EQ(load(files(), {"", "fig3"}).errors, "error: there is no such experiment\n");
  EXPECT_EQ(load(files(), {"gtfr", ""}).errors, "error: no paper is called `gtfr`; did you mean `gtfrc`?\n");
}

TEST(LoadPapers, IdsAreUniqueOverAllPapers) {
  auto f = files();
  f.texts["m.yaml"] = paper("csa", {"tfrc-table1"});
  const auto loaded = load(f);
  EXPECT_TRUE(loaded.ids.empty());
  EXPECT_EQ(loaded.errors, "error: both csa and tfrc have an experiment `tfrc-table1`\n");
}

TEST(LoadPapers, TellsErrorsOfAllFiles) {
  auto f = files();
  f.texts["a.yaml"] = "a: [";
  f.texts["m.yaml"] = "version: 3\n";
  const auto errors = load(f).errors;
  EXPECT_THAT(errors, testing::HasSubstr("d/a.yaml:"));
  EXPECT_THAT(errors, testing::HasSubstr("d/m.yaml:1:10: error: version `3` is not known"));
}

TEST(PapersFilesIn, ReadsTheYamlOfADirectory) {
  namespace fs = std::filesystem;
  const auto directory = fs::path(testing::TempDir()) / "lab_papers_files";
  fs::create_directories(directory / "scenarios");
  const std::map<std::string, std::string> texts{{"gtfrc.yaml", "a: b\n"}, {"scenarios/s.yaml", ""}};
  for (const auto& [name, text] : texts) std::ofstream(directory / name) << text;
  std::ofstream(directory / "README.md") << "x";
  const auto f = papers_files_in(directory.string());
  fs::remove_all(directory);
  EXPECT_EQ(f.place, directory.string() + "/");
  EXPECT_EQ(f.texts, texts);
  EXPECT_THROW(papers_files_in(directory.string()), std::system_error);
}

}  // namespace
}  // namespace surety::lab
