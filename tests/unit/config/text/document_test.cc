// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/document.h"

#include <gtest/gtest.h>

namespace surety::config {
namespace {

TEST(Document, KnowsWhereKeysAndValuesStand) {
  const Document d("a: 1\nb:\n  c: [x, yy]\n");
  ASSERT_NE(d.root(), nullptr);
  ASSERT_EQ(d.root()->entries.size(), 2u);
  const auto& [b, map] = d.root()->entries[1];
  EXPECT_EQ(b->text, "b");
  EXPECT_EQ(b->mark, (Mark{2, 1}));
  const auto& [c, list] = map->entries.at(0);
  EXPECT_EQ(c->mark, (Mark{3, 3}));
  EXPECT_EQ(list->items.at(1)->text, "yy");
  EXPECT_EQ(list->items.at(1)->mark, (Mark{3, 10}));
}

TEST(Document, OfAValueStandsInOneLineBelowTheFirst) {
  const auto d = Document::of_value("{a: 1,\n  b: [x, y]}", -3);
  ASSERT_NE(d.root(), nullptr);
  EXPECT_EQ(d.root()->mark, (Mark{-3, 1}));
  EXPECT_EQ(d.root()->entries.at(1).first->mark, (Mark{-3, 3}));
  EXPECT_EQ(d.root()->entries.at(1).second->items.at(1)->mark, (Mark{-3, 10}));
  EXPECT_EQ(Document::of_value("null", -1).root()->kind, Node::Kind::null);
  const auto broken = Document::of_value("a: 1\nb: ]", -2);
  EXPECT_EQ(broken.root(), nullptr);
  EXPECT_EQ(broken.error_mark().line, -2);
}

TEST(Document, KeepsRepeatedKeysAndMarksMissingValuesAtTheirKey) {
  const Document d("a: 1\na: 2\nb:\n\n\nc: 3\n");
  ASSERT_NE(d.root(), nullptr);
  ASSERT_EQ(d.root()->entries.size(), 4u);
  EXPECT_EQ(d.root()->entries[1].second->text, "2");
  EXPECT_EQ(d.root()->entries[2].second->kind, Node::Kind::null);
  EXPECT_EQ(d.root()->entries[2].second->mark, (Mark{3, 1}));
}

TEST(Document, FollowsAnAlias) {
  const Document d("a: &x {m: 1}\nb: *x\n");
  ASSERT_NE(d.root(), nullptr);
  EXPECT_EQ(d.root()->entries[0].second, d.root()->entries[1].second);
  EXPECT_EQ(d.root()->weight, 1 + 2 + 3 + 3u);
}

TEST(Document, RefusesAliasesThatExpandTooFar) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const auto before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 1; k < 10; ++k) text += ", " + before;
    text += "]\n";
  }
  const Document d(text);
  EXPECT_EQ(d.root(), nullptr);
  EXPECT_EQ(d.error(), "its aliases expand to too many values");
  EXPECT_EQ(d.error_mark().line, 6);
}

TEST(Document, RefusesAnAliasInsideItself) {
  const Document d("a: &x\n  - *x\n");
  EXPECT_EQ(d.error(), "an alias inside its own anchor");
  EXPECT_EQ(d.error_mark(), (Mark{2, 5}));
}

TEST(Document, RefusesDeepNesting) {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_NE(Document(nested(Document::kMaxDepth)).root(), nullptr);
  EXPECT_EQ(Document(nested(Document::kMaxDepth + 1)).error(), "nested too deeply");
  EXPECT_NE(Document(nested(100'000)).error(), "");
  EXPECT_NE(Document(std::string(100'000, '{')).error(), "");
}

TEST(Document, RefusesWhatIsTooLargeOrNoText) {
  EXPECT_EQ(Document(std::string(Document::kMaxBytes + 1, ' ')).error(), "larger than the limit of 4 MiB");
  EXPECT_EQ(Document(std::string_view("a: \0b", 5)).error(), "not a text: it contains a zero byte");
}

TEST(Document, RefusesSeveralDocumentsAndNone) {
  EXPECT_EQ(Document("").error(), "empty: a configuration starts with `version: 1`");
  EXPECT_EQ(Document("a: 1\n---\nb: 2\n").error(), "a second document: one file holds one configuration");
}

TEST(Document, NamesATabInTheIndentation) {
  const Document d("a:\n\tb: 1\n");
  EXPECT_EQ(d.error(), "a tab in the indentation: YAML takes spaces only");
  EXPECT_EQ(d.error_mark().line, 2);
}

TEST(Document, SyntaxErrorsHaveAPlace) {
  const Document d("a: 1\nb: ]\n");
  EXPECT_EQ(d.root(), nullptr);
  EXPECT_TRUE(d.error().starts_with("not YAML: ")) << d.error();
  EXPECT_EQ(d.error_mark().line, 2);
}

}  // namespace
}  // namespace surety::config
