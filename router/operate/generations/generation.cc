// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/generation.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace surety {
namespace {

constexpr std::int64_t kLastSecond = 253'402'300'799;  // end of the year 9999

DamagedGeneration damaged(const std::filesystem::path& where) {
  return DamagedGeneration(fmt::format("{} is damaged: remove its directory", where.string()));
}

}  // namespace

Json to_json(const Generation& g) {
  return {{"format", Generation::kFormat},
          {"generation", g.number},
          {"parent", g.parent},
          {"when", g.when},
          {"who", g.who},
          {"how", g.how},
          {"why", g.why},
          {"changes", g.changes},
          {"main", g.main},
          {"installed", g.installed},
          {"hash", g.hash}};
}

Generation generation_of(const std::string& text, const std::filesystem::path& where) try {
  const Json j = Json::parse(text);
  if (const int format = j.at("format"); format > Generation::kFormat)
    throw std::runtime_error(
        fmt::format("{} was written by a newer version of surety (format {}, this one reads {}): use that "
                    "version; nothing has been changed",
                    where.string(), format, Generation::kFormat));
  Generation g;
  g.number = j.at("generation");
  g.parent = j.at("parent");
  g.when = j.at("when");
  g.who = j.at("who");
  g.how = j.at("how");
  g.why = j.at("why");
  g.changes = j.at("changes");
  g.main = j.at("main");
  g.installed = j.at("installed");
  g.hash = j.at("hash");
  const bool words = g.changes.is_array() && std::ranges::all_of(g.changes, &Json::is_string);
  if (!words || g.when < 0 || g.when > kLastSecond) throw damaged(where);
  return g;
} catch (const Json::exception& e) {
  throw damaged(where);
}

}  // namespace surety
