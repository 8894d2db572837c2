// SPDX-License-Identifier: BSD-3-Clause
#include "config/draft.h"

#include <fmt/format.h>

#include <filesystem>

#include "config/reader.h"
#include "config/text/suggest.h"
#include "config/values.h"

namespace surety::config {

Names::Names(const Node* map) {
  if (!map) return;
  for (const auto& [key, value] : map->entries) add(key->text);
}

void Names::add(std::string_view name) {
  index_.emplace(name, names_.size());
  names_.push_back(name);
}

std::optional<std::size_t> Names::find(std::string_view name) const {
  const auto it = index_.find(name);
  if (it == index_.end()) return {};
  return it->second;
}

std::optional<std::size_t> Names::resolve(const Node& reference, std::string_view noun,
                                          Problems& problems) const {
  const auto* text = text_of(reference, fmt::format("the name of {}", with_article(noun)), problems);
  if (!text) return {};
  const auto found = find(*text);
  if (!found && !problems.full()) {
    problems.error(reference.mark,
                   fmt::format("there is no {} {}{}", noun, quote(*text), hint(*text, names_)));
  }
  return found;
}

std::string Draft::file_name(const std::string& name, Mark at) const {
  const std::string base =
      at.file == nullptr ? directory : std::filesystem::path(at.file->name).parent_path().string();
  return name.starts_with('/') || base.empty() ? name : base + "/" + name;
}

}  // namespace surety::config
