// SPDX-License-Identifier: BSD-3-Clause
#include "router/observe/telemetry_wire.h"

#include <gtest/gtest.h>

#include "tests/unit/router/observe/sample_reading.h"

namespace surety {
namespace {

TEST(TelemetryWire, BringsEveryRowOfEveryTableBack) {
  const Json tables = to_json(test::sample_reading());
  for (const auto& [name, rows] : tables.items())
    for (const Json& row : rows) EXPECT_EQ(from_wire(to_wire(row)).dump(), row.dump()) << name;
}

TEST(TelemetryWire, HoldsOnlyWhatTelemetryKnows) {
  const Json tables = to_json(test::sample_reading());
  for (const auto& [name, rows] : tables.items())
    for (const Json& row : rows)
      for (const Json& value : to_wire(row))
        EXPECT_TRUE(value.is_string() || value.is_number_unsigned() || value.is_structured())
            << name << ' ' << value;
}

TEST(TelemetryWire, WritesRealsAsExactDecimalsAndBooleansAsBits) {
  EXPECT_EQ(to_wire({{"alpha_ratio", 0.1}, {"up", true}, {"rio", false}}),
            Json({{"alpha_ratio", "0.1"}, {"up", 1u}, {"rio", 0u}}));
  EXPECT_EQ(to_wire({{"uptime_seconds", 1.0 / 3}}), Json({{"uptime_seconds", "0.3333333333333333"}}));
  EXPECT_EQ(from_wire({{"uptime_seconds", "0.3333333333333333"}})["uptime_seconds"], 1.0 / 3);
}

TEST(TelemetryWire, LeavesTextThatLooksLikeANumberAlone) {
  EXPECT_EQ(from_wire({{"name", "10"}, {"packets", 1u}}), Json({{"name", "10"}, {"packets", 1u}}));
}

TEST(TelemetryWire, KeepsLargeNumbersExact) {
  const Json row = {{"packets", 18446744073709551615u}};
  EXPECT_EQ(from_wire(to_wire(row)), row);
}

TEST(TelemetryWire, ReplacesWhatIsNotPrintableAsciiAndCutsLongStrings) {
  EXPECT_EQ(to_wire("caf\xc3\xa9\n\x7f\"\\"), "caf????\"\\");
  EXPECT_EQ(to_wire(std::string(128, 'x')), std::string(127, 'x'));
}

Json numbered(unsigned n) {
  Json rows = Json::array();
  for (unsigned i = 0; i < n; ++i) rows.push_back({{"n", i}});  // {"n":0}: 7 bytes, 12 with its key
  return rows;
}

TEST(Page, HoldsAWholeSmallTable) {
  EXPECT_EQ(page(numbered(2), 0),
            Json::parse(R"({"total": 2, "offset": 0, "rows": {"0": {"n": 0}, "1": {"n": 1}}})"));
}

TEST(Page, TellsWhereTheNextOneStarts) {
  EXPECT_EQ(page(numbered(5), 1, 24),
            Json::parse(R"({"total": 5, "offset": 1, "next": 3, "rows": {"1": {"n": 1}, "2": {"n": 2}}})"));
  EXPECT_EQ(page(numbered(5), 3, 24),
            Json::parse(R"({"total": 5, "offset": 3, "rows": {"3": {"n": 3}, "4": {"n": 4}}})"));
  EXPECT_EQ(page(numbered(5), 3, 23)["next"], 4);
}

TEST(Page, HasOneRowEvenIfThatIsTooLarge) {
  EXPECT_EQ(page(numbered(3), 1, 1),
            Json::parse(R"({"total": 3, "offset": 1, "next": 2, "rows": {"1": {"n": 1}}})"));
}

TEST(Page, IsEmptyBeyondTheEnd) {
  EXPECT_EQ(page(numbered(0), 0), Json::parse(R"({"total": 0, "offset": 0, "rows": {}})"));
  EXPECT_EQ(page(numbered(3), 7), Json::parse(R"({"total": 3, "offset": 7, "rows": {}})"));
}

TEST(Page, HasNoMoreRowsThanADictionary) {
  const Json first = page(numbered(300), 0);
  EXPECT_EQ(first["rows"].size(), 250u);
  EXPECT_EQ(first["next"], 250);
}

TEST(Page, OfAllDropsFitsIntoOneAnswer) {
  Reading r;
  r.ports.resize(kMaxPorts);
  const Json drops = table(r, "drops");
  std::size_t offset = 0, rows = 0;
  for (Json p = page(drops, 0);; p = page(drops, offset)) {
    EXPECT_LE(p.dump().size(), 16'384u - 100);
    rows += p["rows"].size();
    if (!p.contains("next")) break;
    offset = p["next"].get<std::size_t>();
  }
  EXPECT_EQ(rows, kMaxPorts * kDropReasons);
}

}  // namespace
}  // namespace surety
