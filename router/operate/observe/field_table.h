// SPDX-License-Identifier: BSD-3-Clause
// Tables of fields: what observers get of one kind of rows (ports, queues, ...), each field declared once.
//
//   {key, value, {title, column}, {metric, help, labels, series}}
//   key     name of the member in JSON; "": JSON has no such member
//   value   a member or a function of the row; null or nullopt: the row has no such value. first(), sum(),
//           most() and least() of a member merge the rows of two workers; other members stay as they are
//   title   title in `surety show`, and the maker of its column (show.h); {}: there is no column
//   metric  name of the Prometheus family, a counter if it ends in _total, else a gauge; {}: there is none.
//           `series` replaces the value of JSON; if there are `labels`, separated by blanks, it is an array
//           of arrays: the values of these labels, then the number
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "router/operate/observe/show.h"

namespace surety::fields {

// A value in JSON; null: it is missing, or is only merged.
template <class T>
Json json_of(const T& value) {
  if constexpr (std::is_convertible_v<const T&, Json>)
    return value;
  else
    return nullptr;
}
template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json();
}

template <class Row>
struct Value {
  std::function<Json(const Row&)> json{};
  std::function<void(Row& into, const Row& part)> merge{};

  Value() noexcept {}  // not defaulted: GCC 12 fails
  template <std::invocable<const Row&> Get>
  Value(Get get, std::function<void(Row&, const Row&)> merged = {})
      : json([get](const Row& row) { return json_of(std::invoke(get, row)); }), merge(std::move(merged)) {}
};

// Adds numbers, or counters: structs of 64-bit numbers and nothing else (counter_table.h).
template <class T>
void add(T& into, const T& part) {
  if constexpr (std::is_arithmetic_v<T>) {
    into += part;
  } else {
    static_assert(std::has_unique_object_representations_v<T>, "a counter is a std::uint64_t");
    using Words = std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)>;
    auto sums = std::bit_cast<Words>(into);
    const auto more = std::bit_cast<Words>(part);
    std::transform(sums.begin(), sums.end(), more.begin(), sums.begin(), std::plus<>());
    into = std::bit_cast<T>(sums);
  }
}
template <class T, std::size_t n>
void add(std::array<T, n>& into, const std::array<T, n>& part) {
  for (std::size_t i = 0; i < n; ++i) add(into[i], part[i]);
}
template <class T>
void add(std::optional<T>& into, const std::optional<T>& part) {
  if (into && part) add(*into, *part);
}

// Values that are merged: operation(into, part) of a member.
template <class Row, class T, class Operation>
Value<Row> merged(T Row::*member, Operation operation) {
  return {member, [=](Row& into, const Row& part) { operation(into.*member, part.*member); }};
}
template <class Row, class T>
Value<Row> sum(T Row::*member) {
  return merged(member, [](T& into, const T& part) { add(into, part); });
}
template <class Row, class T>
Value<Row> most(T Row::*member) {
  return merged(member, [](T& into, const T& part) { into = std::max(into, part); });
}
template <class Row, class T>
Value<Row> least(T Row::*member) {
  return merged(member, [](T& into, const T& part) { into = std::min(into, part); });
}
// The first value that differs from T().
template <class Row, class T>
Value<Row> first(T Row::*member) {
  return merged(member, [](T& into, const T& part) { into = into == T() ? part : into; });
}
// The value is missing where the condition is false.
template <class Row>
Value<Row> when(bool Row::*condition, const Value<Row>& value) {
  return {[=](const Row& row) { return row.*condition ? value.json(row) : Json(); }, value.merge};
}
// The value is missing where it is T().
template <class Row, class T>
Value<Row> present(T Row::*member) {
  return [member](const Row& row) { return row.*member == T() ? Json() : Json(row.*member); };
}

// Makers of columns, beside text() and count(); the values of a total only grow.
inline constexpr MakeColumn rate = number<human::rate>, bytes = number<human::bytes>,
                            percent = number<human::percent>, elapsed = number<human::elapsed>,
                            duration = number<human::duration>;
inline constexpr MakeColumn total = growing<count>, total_bytes = growing<bytes>;

struct Title {
  const char* text = "";
  MakeColumn column = nullptr;
};
template <class Row>
struct Metric {
  const char *name = "", *help = "", *labels = "";
  Value<Row> series{};
};
template <class Row>
struct Field {
  const char* key = "";
  Value<Row> value{};
  Title title{};
  Metric<Row> metric{};
};
template <class Row>
using Fields = std::vector<Field<Row>>;

// The counters of a table (counter_table.h); get(row, member) returns one.
template <class Row, class Infos, class Get>
Fields<Row> counters(const Infos& infos, Get get) {
  Fields<Row> fields;
  for (const auto& info : infos)
    fields.push_back({info.name,
                      [get, member = info.member](const Row& row) { return get(row, member); },
                      {info.column, column_of(info.name, info.metric, info.column)},
                      {info.metric, info.help}});
  return fields;
}
// Numbers by precedence, as a metric; red ones only of rows that have them.
template <class Row, class Number>
Json series_of(const Row& row, Number in, Number out, Number red) {
  Json series = Json::array({{"in", in}, {"out", out}});
  if (row.has_red) series.push_back({"red", red});
  return series;
}
// The metrics of counters by precedence; get(row, member, precedence) returns one.
template <class Row, class Infos, class Get>
Fields<Row> counters_by_precedence(const Infos& infos, Get get) {
  Fields<Row> fields;
  for (const auto& info : infos) {
    const auto series = [get, member = info.member](const Row& row) {
      if constexpr (requires { row.has_red; })
        return series_of(row, get(row, member, 0), get(row, member, 1), get(row, member, 2));
      else
        return Json::array({{"in", get(row, member, 0)}, {"out", get(row, member, 1)}});
    };
    fields.push_back({"", {}, {}, {info.metric, info.help, "precedence", series}});
  }
  return fields;
}

inline std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

// Keys of fields, separated by blanks, where their order is not that of the table; "..." is the place of all
// other fields, by default at the end. `labels`: of all series, "label=key", or "key" if both are the same.
struct Orders {
  const char *json = "", *columns = "", *metrics = "", *labels = "";
};

template <class Row>
struct Table {
  using Chosen = std::vector<const Field<Row>*>;
  Fields<Row> fields;
  Chosen json{}, columns{}, metrics{}, merged{};
  std::vector<std::pair<std::string, const Field<Row>*>> labels{};

  Table(const Orders& orders, Fields<Row> before, const Fields<Row>& counters = {},
        const Fields<Row>& after = {})
      : fields(std::move(before)) {
    for (const auto* more : {&counters, &after}) fields.insert(fields.end(), more->begin(), more->end());
    for (const Field<Row>& f : fields) {
      if (*f.key != '\0' && f.value.json) json.push_back(&f);
      if (f.title.column != nullptr) columns.push_back(&f);
      if (*f.metric.name != '\0') metrics.push_back(&f);
      if (f.value.merge) merged.push_back(&f);
    }
    order(json, orders.json);
    order(columns, orders.columns);
    order(metrics, orders.metrics);
    for (const std::string& label : words(orders.labels)) {
      const std::string key = label.substr(label.find('=') + 1);
      labels.emplace_back(label.substr(0, label.find('=')),
                          &*std::ranges::find(fields, key, &Field<Row>::key));
    }
  }
  Table(const Table&) = delete;

  void merge(Row& into, const Row& part) const {
    for (const Field<Row>* f : merged) f->value.merge(into, part);
  }
  Json json_row(const Row& row) const {
    Json object = Json::object();
    for (const Field<Row>* f : json)
      if (Json value = f->value.json(row); !value.is_null()) object[f->key] = std::move(value);
    return object;
  }
  template <class Rows>
  Json json_rows(const Rows& rows) const {
    Json array = Json::array();
    for (const Row& row : rows) array.push_back(json_row(row));
    return array;
  }
  Columns shown() const {
    Columns made;
    for (const Field<Row>* f : columns) made.push_back(f->title.column(f->title.text, f->key));
    return made;
  }

 private:
  static void order(Chosen& chosen, const char* order) {
    const std::vector<std::string> keys = words(order);
    std::ranges::stable_sort(chosen, {}, [&](const Field<Row>* f) {
      const auto found = std::ranges::find(keys, f->key);
      return found != keys.end() ? found : std::ranges::find(keys, "...");
    });
  }
};

}  // namespace surety::fields
