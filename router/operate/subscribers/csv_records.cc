// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/subscribers/csv_records.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

namespace surety {
namespace {

class CsvReader {
 public:
  CsvReader() {
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
  }
  ~CsvReader() { csv_free(&parser_); }
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  std::vector<CsvRecord> read(std::string_view text) {
    std::size_t line = 0;
    for (const std::string_view one : lines_of(text)) {
      ++line;
      if (!within_record_) {
        now_.line = line;
        within_record_ = one.find_first_not_of(" \t") != std::string_view::npos;
      }
      feed(one, line);
      feed("\n", line);
    }
    if (csv_fini(&parser_, field, end, this) != 0) fail(now_.line);
    return std::move(all_);
  }

 private:
  void feed(std::string_view text, std::size_t line) {
    if (csv_parse(&parser_, text.data(), text.size(), field, end, this) != text.size()) fail(line);
  }
  [[noreturn]] static void fail(std::size_t line) {
    throw BadList(fmt::format("line {}: ", line) +
                  "a quoted field does not end, or text follows it: a quote inside is written twice");
  }
  static void field(void* text, std::size_t size, void* me) {
    static_cast<CsvReader*>(me)->now_.fields.emplace_back(static_cast<const char*>(text), size);
  }
  static void end(int, void* me) {
    auto& self = *static_cast<CsvReader*>(me);
    self.all_.push_back(std::exchange(self.now_, {}));
    self.within_record_ = false;
  }

  csv_parser parser_{};
  CsvRecord now_;
  bool within_record_ = false;
  std::vector<CsvRecord> all_;
};

}  // namespace

// Without their ends, LF or CR LF.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    all.push_back(text.substr(0, end));
    if (all.back().ends_with('\r')) all.back().remove_suffix(1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::vector<CsvRecord> csv_records(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark
  return CsvReader().read(text);
}

}  // namespace surety
