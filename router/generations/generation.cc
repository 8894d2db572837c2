// SPDX-License-Identifier: BSD-3-Clause
#include "router/generations/generation.h"

#include <fmt/format.h>

#include <stdexcept>

namespace surety {

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
        fmt::format("{} was written by a newer version of surety (format {}, this one knows {}): use that "
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
  return g;
} catch (const Json::exception& e) {
  throw std::runtime_error(fmt::format("{} is damaged: remove its directory", where.string()));
}

}  // namespace surety
