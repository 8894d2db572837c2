// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/subscribers/subscriber_list.h"

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "config/reader.h"

namespace surety {
namespace {

constexpr std::string_view kTail = ", written by `surety subscribers`";
constexpr std::string_view kPlans = "plans: {", kServices = "services: {";
constexpr std::array<std::string_view, 13> kColumns = {
    "name",      "plan",     "port", "interface", "vlan",  "inner_vlan", "vlan_protocol",
    "addresses", "prefixes", "mtu",  "hosts",     "group", "suspended"};

using Sorted = nlohmann::json;  // finds a key of thousands at once

std::string at_line(std::size_t line) {
  return line == 0 ? "" : fmt::format("line {}: ", line);
}

void check_header(const CsvRecord& header) {
  for (auto column = header.fields.begin(); column != header.fields.end(); ++column) {
    if (std::ranges::find(kColumns, *column) == kColumns.end())
      throw BadList(fmt::format("{}there is no column `{}`; the columns are {}", at_line(header.line),
                                *column, fmt::join(kColumns, ", ")));
    if (std::find(header.fields.begin(), column, *column) != column)
      throw BadList(fmt::format("{}column `{}` is there twice", at_line(header.line), *column));
  }
  if (std::ranges::find(header.fields, "name") == header.fields.end())
    throw BadList(at_line(header.line) + "the header names no column `name`");
}

Subscriber subscriber_of(const CsvRecord& record, const std::vector<std::string>& columns) {
  if (record.fields.size() != columns.size())
    throw BadList(fmt::format("{}{} fields, but the header has {}", at_line(record.line),
                              record.fields.size(), columns.size()));
  Subscriber s{.name = {}, .line = record.line};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == "name")
      s.name = record.fields[i];
    else if (Json term = term_of(columns[i], record.fields[i]); !term.is_null())
      s.terms[columns[i]] = std::move(term);
    else if (columns[i] == "suspended")
      s.terms[columns[i]] = false;
  }
  return s;
}

// A key that is there twice is an error: the parser alone would drop the first.
Sorted parsed(const std::string& text) try {
  using Event = Sorted::parse_event_t;
  std::vector<std::set<std::string>> keys;
  return Sorted::parse(text, [&](int, Event event, Sorted& key) {
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(key.get<std::string>()).second)
      throw BadList(fmt::format("{} is there twice", config::quote(key.get<std::string>())));
    return true;
  });
} catch (const Sorted::exception& e) {
  const std::string_view what = e.what();  // begins with the name of the exception, in brackets
  throw BadList(std::string(what.substr(std::min(what.find("] ") + 2, what.size()))));
}

SubscriberList of_json(const Sorted& all) {
  SubscriberList list;
  for (const auto& [key, value] : all.items()) {
    Subscriber s{.name = key, .terms = Json(value)};
    if (!value.is_object()) throw BadList(fmt::format("subscriber {}: expected an object", key));
    if (all.is_array()) {
      const auto name = value.find("name");
      if (name == value.end() || !name->is_string())
        throw BadList(fmt::format("subscriber {} of the list has no `name`", key));
      s.name = name->get<std::string>();
      s.terms.erase("name");
    }
    list.add(std::move(s));
  }
  return list;
}

Json addresses_of(std::string_view text) {
  constexpr std::string_view kBetween = " ;\t\r\n";
  Json all = Json::array();
  for (std::size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    all.push_back(std::string(text.substr(at, end - at)));
    at = text.find_first_not_of(kBetween, end);
  }
  return all;
}

std::string line_of(const std::string& name, const Json& terms, bool last) {
  return fmt::format("  {}: {}{}\n", Json(name).dump(),
                     terms.dump(-1, ' ', false, Json::error_handler_t::replace), last ? "" : ",");
}

}  // namespace

Json term_of(std::string_view key, std::string_view text) {
  if (text.empty()) return nullptr;
  if (key == "addresses" || key == "prefixes") return addresses_of(text);
  if (text == "true" || text == "yes") return true;
  if (text == "false" || text == "no") return false;
  std::uint64_t number = 0;
  if (const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      error == std::errc() && end == text.data() + text.size())
    return number;
  return std::string(text);
}

SubscriberList SubscriberList::from_csv(std::string_view text) {
  return from_records(csv_records(text));
}

SubscriberList SubscriberList::from_records(const std::vector<CsvRecord>& records) {
  if (records.empty()) throw BadList("empty: the first line names the columns, like `name,plan,port,vlan`");
  check_header(records.front());
  SubscriberList list;
  for (auto r = records.begin() + 1; r != records.end(); ++r)
    list.add(subscriber_of(*r, records.front().fields));
  return list;
}

SubscriberList SubscriberList::from_json(const std::string& text) {
  Sorted all = parsed(text);
  if (all.is_object() && all.size() == 1 && all.contains("subscribers")) all = Sorted(all["subscribers"]);
  if (!all.is_object() && !all.is_array())
    throw BadList("expected an object of subscribers by name, or a list of objects with `name`");
  return of_json(all);
}

SubscriberList SubscriberList::from_file_of_owner(std::string_view text) {
  SubscriberList list;
  std::size_t number = 0;
  Json* section = nullptr;  // null: subscribers
  for (const std::string_view line : lines_of(text)) {
    if (++number == 1 || line.empty() || line == "}") continue;
    if (line == kPlans || line == kServices) {
      section = line == kPlans ? &list.plans : &list.services;
      continue;
    }
    try {
      const Json one =
          Json::parse(fmt::format("{{{}}}", line.substr(0, line.size() - (line.ends_with(',') ? 1 : 0))));
      for (const auto& [name, terms] : one.items())
        if (section == nullptr)
          list.add({name, terms, number});
        else
          (*section)[name] = terms;
    } catch (const Json::exception&) {
      throw BadList(at_line(number) + "edited by hand, so that `surety subscribers` cannot read it");
    }
  }
  return list;
}

bool is_file_of_owner(std::string_view text) {
  return text.starts_with(config::kHeadOfOwner);
}

std::string SubscriberList::file_of(std::string_view owner) const {
  std::string text = fmt::format("{}{}{}\n", config::kHeadOfOwner, owner, kTail);
  std::size_t line = 2;
  for (const Subscriber& s : all_) {
    for (; line < s.line; ++line) text += '\n';
    text += line_of(s.name, s.terms, &s == &all_.back());
    ++line;
  }
  text += "}\n";
  for (const auto& [head, section] : {std::pair(kPlans, &plans), std::pair(kServices, &services)}) {
    if (section->empty()) continue;
    text += fmt::format("{}\n", head);
    std::size_t left = section->size();
    for (const auto& [name, terms] : section->items()) text += line_of(name, terms, --left == 0);
    text += "}\n";
  }
  return text;
}

const Subscriber* SubscriberList::find(const std::string& name) const {
  const auto at = index_.find(name);
  return at == index_.end() ? nullptr : &all_[at->second];
}

Subscriber* SubscriberList::find(const std::string& name) {
  return const_cast<Subscriber*>(std::as_const(*this).find(name));
}

void SubscriberList::add(Subscriber s) {
  constexpr std::size_t kShown = 70;
  if (!config::is_name(s.name))
    throw BadList(
        fmt::format("{}{} cannot name a subscriber: up to 63 letters, digits, `-`, `_` and `.`, the first a "
                    "letter or a digit",
                    at_line(s.line), config::quote(s.name.substr(0, kShown))));
  if (const auto [at, fresh] = index_.emplace(s.name, all_.size()); !fresh)
    throw BadList(fmt::format("{}there is already a subscriber {}{}", at_line(s.line), s.name,
                              s.line == 0 ? "" : fmt::format(" on line {}", all_[at->second].line)));
  all_.push_back(std::move(s));
}

bool SubscriberList::remove(const std::string& name) {
  const auto at = index_.find(name);
  if (at == index_.end()) return false;
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(at->second));
  for (auto& [other, index] : index_)
    if (index > at->second) --index;
  index_.erase(at);
  return true;
}

}  // namespace surety
