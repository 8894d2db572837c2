// SPDX-License-Identifier: BSD-3-Clause
#include "config/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace surety::config {
namespace {

constexpr std::size_t kLongestName = 80;  // of an entry that has none of its own

std::string text_of(const Node& n) {
  if (n.kind == Node::Kind::scalar) return n.text;
  std::vector<std::string> parts;
  for (const Node* item : n.items) parts.push_back(text_of(*item));
  for (const auto& [key, value] : n.entries) parts.push_back(key->text + ": " + text_of(*value));
  if (n.kind == Node::Kind::map) std::ranges::sort(parts);
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ", ") + part;
  return n.kind == Node::Kind::map ? '{' + all + '}' : n.kind == Node::Kind::sequence ? '[' + all + ']' : "";
}

// Routes have their prefix, neighbours their address; of others the whole text is the name.
std::string name_of(const Node& item, const std::string& text) {
  for (const auto& [key, value] : item.entries)
    if (key->text == "to" || key->text == "address") return value->text;
  return text;
}

Outline::Section section_of(const Node& n) {
  constexpr std::hash<std::string> hash;
  Outline::Section section;
  for (const auto& [key, value] : n.entries) section.entries[key->text] = hash(text_of(*value));
  for (const Node* item : n.items) {
    const std::string text = text_of(*item), name = name_of(*item, text);
    std::string unique = name;
    for (int i = 2; section.entries.contains(unique); ++i) unique = fmt::format("{} ({})", name, i);
    section.entries[unique] = hash(text);
    section.order = section.order * 31 + hash(text);
  }
  if (n.kind == Node::Kind::scalar) section.entries[n.text] = 0;
  return section;
}

SectionDifference compare(const Outline::Section& before, const Outline::Section& after) {
  SectionDifference d;
  for (const auto& [name, hash] : before.entries) {
    const auto now = after.entries.find(name);
    if (now == after.entries.end())
      d.removed.push_back(name);
    else if (now->second != hash)
      d.changed.push_back(name);
  }
  for (const auto& [name, hash] : after.entries)
    if (!before.entries.contains(name)) d.added.push_back(name);
  const bool none = d.added.empty() && d.removed.empty() && d.changed.empty();
  d.moved = none && before.order != after.order;
  return d;
}

std::string named(const std::vector<std::string>& names, std::string_view what) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) {
    const bool whole = names[i].size() <= kLongestName;
    text += (i == 0 ? "" : ", ") + (whole ? names[i] : names[i].substr(0, kLongestName) + "...");
  }
  if (names.size() > kNamed) text += fmt::format(" and {} more", names.size() - kNamed);
  return fmt::format("{} {}", text, what);
}

}  // namespace

Outline outline_of(const Node* root) {
  Outline outline;
  if (root == nullptr) return outline;
  for (const auto& [key, value] : root->entries) outline.sections[key->text] = section_of(*value);
  return outline;
}

std::vector<SectionDifference> difference(const Outline& before, const Outline& after) {
  std::vector<SectionDifference> all;
  const auto add = [&](const std::string& name, const Outline::Section& a, const Outline::Section& b) {
    SectionDifference d = compare(a, b);
    if (d.added.empty() && d.removed.empty() && d.changed.empty() && !d.moved) return;
    d.section = name;
    all.push_back(std::move(d));
  };
  for (const auto& [name, section] : before.sections) {
    const auto now = after.sections.find(name);
    add(name, section, now == after.sections.end() ? Outline::Section{} : now->second);
  }
  for (const auto& [name, section] : after.sections)
    if (!before.sections.contains(name)) add(name, {}, section);
  std::ranges::sort(all, {}, &SectionDifference::section);
  return all;
}

std::string in_words(const std::vector<SectionDifference>& differences) {
  std::string all;
  for (const SectionDifference& d : differences) {
    std::string text;
    const auto tell = [&](const std::vector<std::string>& names, std::string_view what) {
      if (!names.empty()) text += (text.empty() ? "" : ", ") + named(names, what);
    };
    tell(d.added, "added");
    tell(d.removed, "removed");
    tell(d.changed, "changed");
    if (d.moved) text = "in another order";
    all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", d.section, text);
  }
  return all.empty() ? "nothing has changed" : all;
}

}  // namespace surety::config
