// SPDX-License-Identifier: BSD-3-Clause
// A configuration in several files, without any file.
#include "config/text/assembly.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "config/changes.h"
#include "config/parse.h"

namespace surety::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Texts = std::map<std::string, std::string>;

const std::string kPorts = "ports:\n  lan0: {device: null, addresses: [10.1.0.1/24]}\n";

ParseResult parsed(Texts texts, std::map<std::string, std::string> values = {}) {
  return parse_tree(Tree{"/etc/surety", "main.yaml", std::move(texts), std::move(values)});
}

std::vector<std::string> said(const ParseResult& result) {
  std::vector<std::string> all;
  for (const auto& d : result.diagnostics) all.push_back(d.format().substr(0, d.format().find('\n')));
  return all;
}

TEST(Assembly, PutsSectionsTogether) {
  const auto result = parsed({
      {"main.yaml",
       "version: 1\ninclude: [ports.yaml, customers/*.yaml]\nports: {up0: {device: null, trust: core}}\n"
       "routes: [{to: 10.9.0.0/16, via: 10.1.0.9}]\n"},
      {"ports.yaml", kPorts},
      {"customers/b.yaml",
       "services: {b: {conditioner: none}}\nclassify: [{match: {source: 10.1.0.2}, service: b}]\n"},
      {"customers/a.yaml",
       "services: {a: {conditioner: none}}\nclassify: [{match: {source: 10.1.0.1}, service: a}]\n"
       "routes: [{to: 10.8.0.0/16, via: 10.1.0.9}]\n"},
      {"customers/.b.yaml.swp", "}"},
      {"customers/deep/c.yaml", "}"},
  });
  ASSERT_TRUE(result.ok()) << testing::PrintToString(said(result));
  const Config& c = *result.config;
  ASSERT_EQ(c.ports.size(), 2U);
  EXPECT_EQ(c.ports[0].name, "up0");  // the main file's first
  ASSERT_EQ(c.rules.size(), 2U);
  EXPECT_EQ(c.services[c.rules[0].service].name, "a");  // in the order of names
  EXPECT_EQ(c.routes.size(), 2U);
  EXPECT_EQ(c.rules[0].file, "/etc/surety/customers/a.yaml");
  EXPECT_EQ(c.rules[0].line, 2);
}

// The names of the texts that are read.
std::vector<std::string> read_for(Assembly::For what, const Tree& tree) {
  struct Recorded : TreeSources {
    using TreeSources::TreeSources;
    Answer text(const std::string& name) override {
      names.push_back(name);
      return TreeSources::text(name);
    }
    std::vector<std::string> names;
  } sources(tree);
  Problems problems;
  const Assembly assembly(tree, sources, problems, what);
  return sources.names;
}

TEST(Assembly, ReadsTheSameTextsWithoutTheConfiguration) {
  const auto of_main = [](const std::string& main) {
    return Tree{"/etc/surety",
                "main.yaml",
                {{"main.yaml", main},
                 {"plain.yaml", "routes: []\n"},
                 {"named.yaml", "plans: {included: {}}\n"},
                 {"key.yaml", "include: plain.yaml\n"},
                 {"escape.yaml", "\"incl\\x75de\": plain.yaml\n"},
                 {"anchor.yaml", "? &k include\n: key.yaml\n"},
                 {"cut.yaml", "a: [\n"}},
                {}};
  };
  std::set<std::size_t> numbers;
  for (const char* name : {"plain", "named", "key", "escape", "anchor", "cut", "none", "*"}) {
    const Tree tree = of_main(fmt::format("include: ['{}.yaml', plain.yaml]\n", name));
    const auto whole = read_for(Assembly::For::configuration, tree);
    EXPECT_EQ(read_for(Assembly::For::texts, tree), whole) << name;
    numbers.insert(whole.size());
  }
  EXPECT_EQ(numbers, (std::set<std::size_t>{2, 3, 4, 7}));
}

TEST(Assembly, OneFileHasTheFingerprintOfItsTextAndMoreThatOfAll) {
  const std::string one = "version: 1\n" + kPorts, two = "version: 1\ninclude: ports.yaml\n";
  EXPECT_EQ(parsed({{"main.yaml", one}}).tree.hash(), parse(one, "x").tree.hash());
  EXPECT_NE(parsed({{"main.yaml", two}, {"ports.yaml", kPorts}}).tree.hash(),
            parsed({{"main.yaml", two}, {"ports.yaml", kPorts + "\n"}}).tree.hash());
}

TEST(Assembly, DiagnosticsHaveThePlaceAndTheLineOfTheirFile) {
  const auto result = parsed({{"main.yaml", "version: 1\ninclude: [ports.yaml]\nfoo: 1\n"},
                              {"ports.yaml", kPorts + "  up0: {device: nul}\n"}});
  ASSERT_EQ(result.diagnostics.size(), 2U);
  EXPECT_THAT(said(result)[0], testing::StartsWith("/etc/surety/main.yaml:3:1: error: unknown key `foo`"));
  EXPECT_THAT(result.diagnostics[1].format(),
              "/etc/surety/ports.yaml:3:17: error: no kind of device is called `nul`; did you mean `null`?\n"
              "      up0: {device: nul}\n                    ^\n");
}

TEST(Assembly, WhatIsSaidTwiceNamesBothPlaces) {
  const std::string main =
      "version: 1\ninclude: [a.yaml]\nadmission: warn\nports: {lan0: {device: null}}\nmetrics: {top_flows: "
      "1}\n";
  EXPECT_THAT(said(parsed({{"main.yaml", main},
                           {"a.yaml", "admission: warn\nversion: 1\n" + kPorts +
                                          "metrics: {top_flows: 2, contracts: 1}\n"}})),
              ElementsAre("/etc/surety/a.yaml:1:1: error: `admission` is already there, at line 3",
                          "/etc/surety/a.yaml:2:1: error: `version` is already there, at line 1",
                          "/etc/surety/a.yaml:4:3: error: `lan0` is already there, at line 4",
                          "/etc/surety/a.yaml:5:11: error: `top_flows` is already there, at line 5"));
  EXPECT_THAT(
      said(parsed({{"main.yaml", "version: 1\ninclude: [a.yaml, b.yaml]\n"},
                   {"a.yaml", kPorts},
                   {"b.yaml", "ports:\n  lan0: {device: null}\nroutes: []\nroutes: []\n"}})),
      ElementsAre(
          "/etc/surety/b.yaml:2:3: error: `lan0` is already there, at line 2 of /etc/surety/a.yaml",
          "/etc/surety/b.yaml:4:1: error: `routes` is already there, at line 3 of /etc/surety/b.yaml"));
}

TEST(Assembly, WhatCannotBeIncluded) {
  const auto said_of = [](const std::string& include, Texts more = {}) {
    more["main.yaml"] = "version: 1\ninclude: " + include + "\n" + kPorts;
    const auto result = parsed(std::move(more));
    return result.diagnostics.empty() ? "" : said(result)[0];
  };
  EXPECT_EQ(said_of("none/*.yaml"), "/etc/surety/main.yaml:2:10: warning: no file matches `none/*.yaml`");
  EXPECT_EQ(said_of("[]"), "");
  EXPECT_EQ(said_of("a.yaml", {{"a.yaml", "# nothing yet\n"}}), "");
  EXPECT_EQ(said_of("'*.yaml'"), "/etc/surety/main.yaml:2:10: warning: no file matches `*.yaml`")
      << "a pattern is not for the file that it is in";
  EXPECT_EQ(said_of("[a.yaml]"),
            "/etc/surety/main.yaml:2:11: error: `a.yaml`: cannot be read: No such file or directory");
  EXPECT_EQ(
      said_of("{a: b}"),
      "/etc/surety/main.yaml:2:10: error: expected the name of a file, or a pattern like `customers/*.yaml`");
  EXPECT_EQ(said_of("main.yaml"),
            "/etc/surety/main.yaml:2:10: error: a file that includes itself: main.yaml -> main.yaml");
  EXPECT_EQ(said_of("d/a.yaml", {{"d/a.yaml", "include: ../d/b.yaml\n"}, {"d/b.yaml", "include: a.yaml\n"}}),
            "/etc/surety/d/b.yaml:1:10: error: a file that includes itself: d/a.yaml -> "
            "d/b.yaml -> d/a.yaml");
  EXPECT_EQ(said_of("[a.yaml, '?.yaml']", {{"a.yaml", "routes: []\n"}}),
            "/etc/surety/main.yaml:2:19: error: `a.yaml` is already included, at line 2");
  EXPECT_EQ(said_of("a.yaml\ninclude: b.yaml", {{"a.yaml", "routes: []\n"}}),
            "/etc/surety/main.yaml:3:1: error: `include` is already there");
  EXPECT_EQ(said_of("a.yaml", {{"a.yaml", "- x\n"}}),
            "/etc/surety/a.yaml:1:1: error: expected sections: `key: value` pairs");
  EXPECT_EQ(said_of("a.yaml", {{"a.yaml", "a: [\n"}}).substr(0, 30), "/etc/surety/a.yaml:2:1: error:");
  Texts deep;
  for (int i = 0; i < 12; ++i)
    deep[std::to_string(i) + ".yaml"] = "include: " + std::to_string(i + 1) + ".yaml\n";
  EXPECT_EQ(said_of("0.yaml", deep), "/etc/surety/7.yaml:1:10: error: included at a depth of more than 8");
  Texts many;
  for (int i = 0; i < 1001; ++i) many["m/" + std::to_string(i) + ".yaml"] = "routes: []\n";
  EXPECT_EQ(said_of("m/*.yaml", many), "/etc/surety/main.yaml:2:10: error: more than 1000 files");
  const std::string large(3 << 20, '#');
  EXPECT_EQ(said_of("[a.yaml, b.yaml]", {{"a.yaml", large}, {"b.yaml", large}}),
            "/etc/surety/main.yaml:2:19: error: larger than the limit of 4 MiB, with its "
            "included files");
}

TEST(Assembly, FileNamesStartWhereTheyAreWritten) {
  const auto result =
      parsed({{"main.yaml", "version: 1\ninclude: [d/a.yaml, /opt/b.yaml]\n" + kPorts},
              {"d/a.yaml", "signalling: {mode: observe, key_file: keys}\nmetrics: {password_file: !env P}\n"},
              {"/opt/b.yaml", "router: {id: 192.0.2.1}\ninclude: ['c/?.yaml']\n"}},
             {{"env P", "/p"}});
  ASSERT_TRUE(result.ok()) << testing::PrintToString(said(result));
  EXPECT_EQ(result.config->signalling.key_file, "/etc/surety/d/keys");
  EXPECT_EQ(result.config->metrics.password_file, "/p");
  EXPECT_THAT(result.config->other_files, ElementsAre("/etc/surety/d/a.yaml", "/opt/b.yaml", "/opt/c/."));
}

TEST(Values, ComeFromTheEnvironmentAndFromFiles) {
  const auto result =
      parsed({{"main.yaml", "version: 1\nrouter: {name: !env NAME}\ninclude: s/a.yaml\n" + kPorts},
              {"s/a.yaml", "services: {s: {conditioner: police, rate: !file rate, bucket: 10 kB}}\n"}},
             {{"env NAME", "north"}, {"file s/rate", "3 Mbit/s"}});
  ASSERT_TRUE(result.ok()) << testing::PrintToString(said(result));
  EXPECT_EQ(result.config->router.name, "north");
  EXPECT_EQ(result.config->services[0].committed, Rate::bits_per_second(3'000'000));
}

TEST(Values, ThatAreMissingOrMisplacedAreErrors) {
  const auto said_of = [](const std::string& text) {
    const auto result = parsed({{"main.yaml", "version: 1\n" + text + "\n" + kPorts}}, {{"env X", "x"}});
    return result.diagnostics.empty() ? "" : said(result)[0].substr(21);
  };
  EXPECT_EQ(said_of("router: {name: !env NAME}"), ":2:16: error: `!env NAME`: not there");
  EXPECT_EQ(said_of("router: {name: !file NAME}"), ":2:16: error: `!file NAME`: not there");
  EXPECT_EQ(said_of("router: {name: !env ''}"), ":2:16: error: `!env `: a name must follow");
  EXPECT_EQ(said_of("router: {name: !evn X}"),
            ":2:16: error: no tag is called `!evn`; there are: !env, !file");
  EXPECT_EQ(said_of("router: {!env X: a}"), ":2:10: error: a tag before a key: only a value can have one");
  EXPECT_EQ(said_of("router: !env {name: a}"), ":2:9: error: a tag before a map");
  EXPECT_EQ(said_of("workers: !env [1]"), ":2:10: error: a tag before a list");
  EXPECT_EQ(said_of("router: {name: !!str x}"), "") << "YAML's own";
}

// Whatever is wrong with them.
TEST(Values, AreInNoMessageAndInNoChange) {
  const std::string secret = "s3cr&t-value";
  for (const char* text :
       {"router: {id: !env X}", "services: {a: {conditioner: !env X}}",
        "services: {a: {conditioner: police, rate: !env X, bucket: !env X}}", "pcp: {5: [!env X]}",
        "routes: [{to: !env X, via: !env X}]", "classify: [{service: !env X}]", "version: !env X",
        "metrics: {listen: !env X, top_flows: !env X, console: !env X}", "log: {level: !env X}",
        "interfaces: {i: {port: !env X, vlan: !env X}}", "flow_table: {held: !env X, idle_timeout: !env X}",
        "neighbors: [{address: !env X, mac: !env X, port: !env X}]",
        "queues: {q: [{name: !env X, dscp: !env X}]}\naggregates: {a: {port: lan0, queue: !env X}}"}) {
    const auto result =
        parsed({{"main.yaml", "version: 1\n" + std::string(text) + "\n" + kPorts}}, {{"env X", secret}});
    EXPECT_FALSE(result.ok()) << text;
    for (const auto& line : said(result)) {
      EXPECT_THAT(line, Not(HasSubstr(secret)));
      EXPECT_THAT(line, Not(HasSubstr("s3cr")));
    }
  }
  const auto with = [&](const std::string& value) {
    return parsed({{"main.yaml",
                    "version: 1\nrouter: {name: !env X}\ninterfaces: {i: {port: lan0, vlan: 7, customer: "
                    "!env X}}\n" +
                        kPorts}},
                  {{"env X", value}})
        .config.value();
  };
  EXPECT_EQ(to_text(changes(with("a-secret"), with("b-secret"))),
            "interface i: customer changed; affects interfaces i (customer (not shown))\n"
            "router: name changed; takes a restart; affects all traffic of the router\n");
  EXPECT_EQ(to_text(changes(with("a-secret"), with("a-secret"))), "");
}

TEST(Values, HaveNoPlaceWhereNobodyAsksForThem) {
  EXPECT_EQ(Document("a: !env X\n").error(), "a tag, `!env`, which has no meaning here");
}

}  // namespace
}  // namespace surety::config
