// SPDX-License-Identifier: BSD-3-Clause
// Subscribers as a list, from a file of another system (CSV by RFC 4180, or JSON), and as the file of an
// owner that a configuration includes.
//
// An owner's file has one line for each subscriber. The line of a subscriber that was read from CSV has the
// number of its record, so that a router's message about the owner's file is one about the CSV, too.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "router/operate/observe/reading_json.h"
#include "router/operate/subscribers/csv_records.h"

namespace surety {

struct Subscriber {
  std::string name;
  Json terms = Json::object();  // as in section `subscribers`, see config/reference.md
  std::size_t line = 0;         // line of the file; 0: not known
};

class SubscriberList {
 public:
  // A header names the columns: `name`, and keys of a subscriber in any order. A field without text is a key
  // that is not there; several addresses or prefixes are separated by spaces or `;`. Throws BadList.
  static SubscriberList from_csv(std::string_view text);
  static SubscriberList from_records(const std::vector<CsvRecord>& records);  // with the header
  // An object of subscribers by name, the same as the value of `subscribers`, or a list of objects with
  // `name`. Throws BadList.
  static SubscriberList from_json(const std::string& text);
  // Throws BadList if the text is not as file_of() writes it.
  static SubscriberList from_file_of_owner(std::string_view text);

  std::string file_of(std::string_view owner) const;

  const std::vector<Subscriber>& all() const { return all_; }
  Subscriber* find(const std::string& name);
  const Subscriber* find(const std::string& name) const;
  // Throws BadList for a name that is not valid, or that is there.
  void add(Subscriber subscriber);
  // False: it is not there. Keeps the order of the others.
  bool remove(const std::string& name);

  // Plans and services of this list alone, by name (shaped_devices.h).
  Json plans = Json::object(), services = Json::object();

 private:
  std::vector<Subscriber> all_;
  std::unordered_map<std::string, std::size_t> index_;
};

// True if file_of() has written a file that begins like this.
bool is_file_of_owner(std::string_view text);

// A term from `KEY=VALUE` or from a column: numbers and booleans as such, addresses as a list; null: no text.
Json term_of(std::string_view key, std::string_view text);

}  // namespace surety
