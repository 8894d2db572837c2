// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/console/console.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace surety {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kApi = "/api/";
constexpr Duration kEvery = 1s;
constexpr int kRestFor = 9;  // times what the work took
constexpr int kFast = 1, kSmall = 9;

std::string type_of(const std::filesystem::path& file) {
  static const std::map<std::string, const char*> types{{".html", "text/html; charset=utf-8"},
                                                        {".css", "text/css; charset=utf-8"},
                                                        {".js", "text/javascript; charset=utf-8"},
                                                        {".svg", "image/svg+xml"}};
  const auto type = types.find(file.extension());
  return type == types.end() ? "application/octet-stream" : type->second;
}

std::string content(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), path.string());
  return text;
}

std::shared_ptr<WebPage> json_page(const Json& value) {
  return std::make_shared<WebPage>(
      make_page("application/json", value.dump(-1, ' ', false, Json::error_handler_t::replace), kFast));
}

std::shared_ptr<WebPage> table_page(const Reading& reading, Json rows) {
  const std::size_t all = rows.size();
  if (all > Console::kMostRows) rows.erase(rows.begin() + Console::kMostRows, rows.end());
  auto page = json_page(rows);
  page->headers = {{"Surety-Uptime", fmt::format("{:.3f}", reading.uptime_seconds)},
                   {"Surety-Rows", std::to_string(all)}};
  return page;
}

}  // namespace

Console::Console(const std::filesystem::path& files, Read read, Now now, Tables own)
    : read_(std::move(read)), now_(std::move(now)), own_(std::move(own)) {
  for (const auto& entry : std::filesystem::directory_iterator(files)) {
    const auto& file = entry.path();
    const std::string path = file.filename() == "index.html" ? "/" : "/" + file.filename().string();
    files_[path] = std::make_shared<WebPage>(make_page(type_of(file), content(file), kSmall));
  }
  Json names = kTables;
  for (const auto& [name, make] : own_) names.push_back(name);
  files_[std::string(kApi)] = json_page(names);
}

Console::Page Console::page(std::string_view path) {
  if (const auto file = files_.find(path); file != files_.end()) return file->second;
  return path.starts_with(kApi) ? table(path.substr(kApi.size())) : nullptr;
}

Console::Page Console::table(std::string_view name) {
  name = table_name(name);
  const auto known = std::ranges::find(kTables, name);
  const auto own = own_.find(name);
  if (known == kTables.end() && own == own_.end()) return nullptr;
  const std::lock_guard lock(one_at_a_time_);
  const Time begun = now_();
  Table& kept = tables_[own != own_.end() ? own->first : *known];
  if (kept.page && begun < kept.good_until) return kept.page;
  if (begun >= reading_good_until_) {
    reading_ = read_();
    reading_good_until_ = std::max(begun + kEvery, rested(begun));
  }
  Json rows = own != own_.end() ? own->second() : surety::table(reading_, name);
  kept.page = table_page(reading_, rows.is_array() ? std::move(rows) : Json::array());
  kept.good_until = std::max(reading_good_until_, rested(begun));
  return kept.page;
}

// The time until which the server rests after work begun at `begun`.
Time Console::rested(Time begun) const {
  const Time done = now_();
  return done + kRestFor * (done - begun);
}

}  // namespace surety
