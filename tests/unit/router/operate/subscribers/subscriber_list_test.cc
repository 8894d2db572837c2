// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/subscribers/subscriber_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace surety {
namespace {

using testing::HasSubstr;

template <class F>
std::string reason(F&& read) {
  try {
    read();
  } catch (const BadList& e) {
    return e.what();
  }
  return "";
}

TEST(SubscriberList, HasOneLinePerRecordWithTheRecordsNumber) {
  const auto list = SubscriberList::from_csv(
      "vlan,name,plan,addresses\n"
      "7, acme ,\"a \"\"b\"\",c\",10.0.0.1/30; 10.0.1.1/30\n"
      "\n"
      "8,globex,\"two\nlines\",\n"
      "   \n"
      "1-9,homes,gold,\r\n");
  EXPECT_EQ(
      list.file_of("x"),
      "subscribers: {  # of owner x, written by `surety subscribers`\n"
      "  \"acme\": {\"vlan\":7,\"plan\":\"a \\\"b\\\",c\",\"addresses\":[\"10.0.0.1/30\",\"10.0.1.1/30\"]},\n"
      "\n"
      "  \"globex\": {\"vlan\":8,\"plan\":\"two\\nlines\"},\n"
      "\n"
      "\n"
      "  \"homes\": {\"vlan\":\"1-9\",\"plan\":\"gold\"}\n"
      "}\n");
}

TEST(SubscriberList, ReadsWhatItWrites) {
  auto list = SubscriberList::from_json(R"([{"name": "b", "vlan": 2}, {"name": "a", "inner_vlan": "1-9"}])");
  list.find("b")->terms["suspended"] = true;
  EXPECT_TRUE(list.remove("a"));
  EXPECT_FALSE(list.remove("a"));
  list.add({"c", {{"plan", "gold"}}});
  const std::string text = list.file_of("o");
  EXPECT_TRUE(is_file_of_owner(text));
  EXPECT_EQ(SubscriberList::from_file_of_owner(text).file_of("o"), text);
  EXPECT_EQ(SubscriberList().file_of("o"),
            SubscriberList::from_file_of_owner(SubscriberList().file_of("o")).file_of("o"));
  EXPECT_FALSE(is_file_of_owner("subscribers: {}\n"));
  EXPECT_THAT(reason([&] { SubscriberList::from_file_of_owner(text + "x: y\n"); }),
              HasSubstr("line 5: edited"));
}

TEST(SubscriberList, RefusesTwoOfOneNameAndWhatIsNoName) {
  for (const char* const text :
       {"name\na\na\n", R"([{"name": "a"}, {"name": "a"}])", R"({"a": {}, "a": {}})"})
    EXPECT_NE(
        reason([&] { *text == 'n' ? SubscriberList::from_csv(text) : SubscriberList::from_json(text); }), "")
        << text;
  EXPECT_THAT(reason([] { SubscriberList::from_csv("name,name\na,b\n"); }), HasSubstr("twice"));
  EXPECT_THAT(reason([] { SubscriberList::from_csv("name\n-a\n"); }), HasSubstr("cannot name"));
  EXPECT_THAT(reason([] { SubscriberList::from_json("{\"\": {}}"); }), HasSubstr("cannot name"));
}

TEST(SubscriberTerm, IsANumberABooleanAListOrText) {
  EXPECT_EQ(term_of("vlan", "107"), 107);
  EXPECT_EQ(term_of("inner_vlan", "1-40"), "1-40");
  EXPECT_EQ(term_of("vlan", "99999999999999999999"), "99999999999999999999");
  EXPECT_EQ(term_of("suspended", "yes"), true);
  EXPECT_EQ(term_of("addresses", " 10.0.0.1/30;;2001:db8::1/64 "), (Json{"10.0.0.1/30", "2001:db8::1/64"}));
  EXPECT_EQ(term_of("plan", ""), nullptr);
}

}  // namespace
}  // namespace surety
