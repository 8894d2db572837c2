// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/subscribers/shaped_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "config/reader.h"

namespace surety {
namespace {

constexpr std::string_view kCircuit = "Circuit ID", kV4 = "IPv4", kV6 = "IPv6";
constexpr std::array<std::string_view, 4> kRates = {"Download Min Mbps", "Upload Min Mbps",
                                                    "Download Max Mbps", "Upload Max Mbps"};

struct Rates {
  double down_min = 0, up_min = 0, down_max = 0, up_max = 0;  // Mbit/s
  friend bool operator==(const Rates&, const Rates&) = default;
};

class Reader {
 public:
  Reader(const std::vector<CsvRecord>& records, const ShapedDevicesTerms& terms)
      : columns_(records.front().fields), terms_(terms) {
    for (const std::string_view key : {kCircuit, kV4, kV6, kRates[0], kRates[1], kRates[2], kRates[3]})
      if (std::ranges::find(columns_, key) == columns_.end())
        throw BadList(fmt::format("line {}: the header names no column `{}`", records.front().line, key));
  }

  void read(const CsvRecord& record) {
    if (record.fields.size() != columns_.size())
      fail(record, "{} fields, but the header has {}", record.fields.size(), columns_.size());
    const Rates rates = rates_of(record);
    const Json prefixes = prefixes_of(record);
    const std::string name = name_of(field(record, kCircuit));
    if (Subscriber* const known = list_.find(name)) return join(*known, record, rates, prefixes);
    if (prefixes.empty()) fail(record, "circuit {} has no address", config::quote(field(record, kCircuit)));
    Subscriber s{.name = name, .line = record.line};
    s.terms["plan"] = plan_of(rates);
    s.terms.update(terms_.place);
    s.terms["prefixes"] = prefixes;
    list_.add(std::move(s));
    circuits_[name] = {field(record, kCircuit), rates};
  }

  SubscriberList take() { return std::move(list_); }

 private:
  template <class... Args>
  [[noreturn]] static void fail(const CsvRecord& record, fmt::format_string<Args...> text, Args&&... args) {
    throw BadList(fmt::format("line {}: ", record.line) + fmt::format(text, std::forward<Args>(args)...));
  }

  const std::string& field(const CsvRecord& record, std::string_view key) const {
    return record.fields[static_cast<std::size_t>(std::ranges::find(columns_, key) - columns_.begin())];
  }

  double rate(const CsvRecord& record, std::string_view key) const {
    const std::string& text = field(record, key);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= 0.001 && value <= 400'000))
      fail(record, "{} is not a number of Mbit/s for `{}`", config::quote(text), key);
    return value;
  }

  Rates rates_of(const CsvRecord& record) const {
    const Rates r{rate(record, kRates[0]), rate(record, kRates[1]), rate(record, kRates[2]),
                  rate(record, kRates[3])};
    if (r.down_min > r.down_max || r.up_min > r.up_max) fail(record, "a minimum is above its maximum");
    return r;
  }

  // Addresses of both families, separated by commas or spaces.
  Json prefixes_of(const CsvRecord& record) const {
    std::string all = field(record, kV4) + ' ' + field(record, kV6);
    std::ranges::replace(all, ',', ' ');
    const Json list = term_of("prefixes", all);
    return list.is_null() ? Json::array() : list;
  }

  // A circuit's ID with other characters as `-`.
  static std::string name_of(std::string id) {
    for (char& c : id)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.') c = '-';
    return id;
  }

  // One more device of a circuit, which has its rates.
  void join(Subscriber& known, const CsvRecord& record, const Rates& rates, const Json& prefixes) {
    const auto& [id, its] = circuits_.at(known.name);
    if (id != field(record, kCircuit))
      fail(record, "circuits {} and {} have the same name here", config::quote(id),
           config::quote(field(record, kCircuit)));
    if (rates != its) fail(record, "circuit {} has other rates on line {}", config::quote(id), known.line);
    for (const Json& p : prefixes) known.terms["prefixes"].push_back(p);
  }

  static std::string mbits(double rate) { return fmt::format("{} Mbit/s", rate); }
  // 100 ms, and two packets at least.
  static std::string burst(double rate) { return fmt::format("{:.0f} B", std::max(3000., rate * 12'500)); }

  std::string plan_of(const Rates& r) {
    std::string name =
        fmt::format("{}-{}-{}-{}-{}", terms_.prefix, r.down_min, r.up_min, r.down_max, r.up_max);
    if (list_.plans.contains(name)) return name;
    Json plan = terms_.plan;
    plan["service"] = name;
    plan["shape"] = mbits(r.down_max);
    plan["weight"] = std::clamp(static_cast<int>(std::lround(r.down_min)), 1, 10'000);
    Json mark = terms_.mark;
    mark["red"] = "drop";
    list_.plans[name] = std::move(plan);
    list_.services[name] = {{"conditioner", "trtcm"},        {"rate", mbits(r.up_min)},
                            {"peak", mbits(r.up_max)},       {"committed_burst", burst(r.up_min)},
                            {"peak_burst", burst(r.up_max)}, {"mark", std::move(mark)}};
    return name;
  }

  struct Circuit {
    std::string id;
    Rates rates;
  };
  const std::vector<std::string>& columns_;
  const ShapedDevicesTerms& terms_;
  SubscriberList list_;
  std::unordered_map<std::string, Circuit> circuits_;  // keys: names
};

}  // namespace

bool is_shaped_devices(const std::vector<CsvRecord>& records) {
  return !records.empty() &&
         std::ranges::find(records.front().fields, kCircuit) != records.front().fields.end();
}

SubscriberList from_shaped_devices(const std::vector<CsvRecord>& records, const ShapedDevicesTerms& terms) {
  Reader reader(records, terms);
  for (auto r = records.begin() + 1; r != records.end(); ++r) reader.read(*r);
  return reader.take();
}

}  // namespace surety
