// SPDX-License-Identifier: BSD-3-Clause
#include "router/observe/telemetry_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace surety {
namespace {

constexpr std::size_t kMaxString = 127;  // RTE_TEL_MAX_STRING_LEN less the final zero

// Types that the wire does not have are told by name;
// telemetry_wire_test holds these lists against the tables.
bool is_real(std::string_view name) {
  constexpr std::array<std::string_view, 2> plain{"average_in", "average_total"};
  return name.ends_with("_seconds") || name.ends_with("_per_second") || name.ends_with("_ratio") ||
         name == "tokens_bytes" || std::find(plain.begin(), plain.end(), name) != plain.end();
}
bool is_boolean(std::string_view name) {
  constexpr std::array<std::string_view, 4> names{"up", "rio", "congested", "last_reload_successful"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

// DPDK 22.11 indexes a table of control characters with the signed byte: only ASCII is safe there.
std::string printable(std::string text) {
  if (text.size() > kMaxString) text.resize(kMaxString);
  for (char& c : text)
    if (c < 0x20 || c > 0x7e) c = '?';
  return text;
}

Json value_from_wire(std::string_view name, const Json& value) {
  if (value.is_string() && is_real(name))
    return std::strtod(value.get_ref<const std::string&>().c_str(), nullptr);
  if (value.is_number_unsigned() && is_boolean(name)) return value != 0u;
  return from_wire(value);
}

}  // namespace

Json to_wire(const Json& value) {
  if (value.is_object()) {
    Json object = Json::object();
    for (const auto& [name, member] : value.items()) object[name] = to_wire(member);
    return object;
  }
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (value.is_boolean()) return value.get<bool>() ? 1u : 0u;
  if (value.is_string()) return printable(value.get<std::string>());
  return value;
}

Json from_wire(const Json& value) {
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [name, member] : value.items()) object[name] = value_from_wire(name, member);
  return object;
}

Json page(const Json& rows, std::size_t offset, std::size_t bytes) {
  Json result = {{"total", rows.size()}, {"offset", offset}};
  Json chosen = Json::object();
  std::size_t used = 0;
  std::size_t i = offset;
  for (; i < rows.size() && chosen.size() < kPageRows; ++i) {
    Json row = to_wire(rows[i]);
    std::string key = std::to_string(i);
    used += row.dump().size() + key.size() + 4;  // quotes, colon, comma
    if (used > bytes && i > offset) break;
    chosen[key] = std::move(row);
  }
  if (i < rows.size()) result["next"] = i;
  result["rows"] = std::move(chosen);
  return result;
}

}  // namespace surety
