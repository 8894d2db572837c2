// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/scenario/setting_editor.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/text/problems.h"
#include "config/text/quantity.h"

namespace surety::lab {
namespace {

using config::quote;

struct Step {
  std::string_view key, rest;
};

bool starts_with_step(std::string_view path, std::string_view name) {
  return path.starts_with(name) && (path.size() == name.size() || path[name.size()] == '.');
}

Step cut(std::string_view path, std::size_t length) {
  return {path.substr(0, length), path.substr(std::min(length + 1, path.size()))};
}

// Names may have dots, as the ends of links do: the longest one that fits is meant.
Step first_step(std::string_view path, const std::vector<std::string>& names) {
  std::size_t longest = 0;
  for (const auto& name : names) {
    if (name.size() > longest && starts_with_step(path, name)) longest = name.size();
  }
  return cut(path, longest > 0 ? longest : std::min(path.find('.'), path.size()));
}

std::string hint_of(std::string_view word, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return config::hint(word, views);
}

const Node* entry(const Node& node, std::string_view key) {
  for (const auto& [k, value] : node.entries) {
    if (k->kind == Node::Kind::scalar && k->text == key) return value;
  }
  return nullptr;
}

std::vector<std::string> keys_of(const Node& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map.entries) {
    if (key->kind == Node::Kind::scalar) keys.push_back(key->text);
  }
  return keys;
}

// What an item of a list is called: itself, its `name`, or of a link its ends, in either order.
std::vector<std::string> names_of(const Node& item) {
  if (item.kind == Node::Kind::scalar) return {item.text};
  if (const Node* name = entry(item, "name"); name && name->kind == Node::Kind::scalar) return {name->text};
  const Node* ends = entry(item, "between");
  if (!ends || ends->items.size() != 2) return {};
  const auto &a = ends->items[0]->text, &b = ends->items[1]->text;
  return {a + "~" + b, b + "~" + a};
}

}  // namespace

void SettingEditor::error(std::string message) {
  sources_.scenario.problems.error(mark_, std::move(message));
}

std::string SettingEditor::written_up_to(std::string_view rest) const {
  const auto used = path_.size() - rest.size();
  return quote(path_.substr(0, rest.empty() ? used : used - 1));
}

bool SettingEditor::read_value() {
  const auto first = setting_.value.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || setting_.value[first] == '#') {
    error("a setting needs a value; `null` removes the key");
    return false;
  }
  auto& document = sources_.values_.emplace_back(config::Document::of_value(setting_.value, mark_.line));
  if (!document.root()) {
    error(document.error());
    return false;
  }
  if (document.root()->kind != Node::Kind::null) value_ = document.root();
  return true;
}

void SettingEditor::apply() {
  const auto dots = static_cast<std::size_t>(std::count(path_.begin(), path_.end(), '.'));
  if (path_.empty() || path_.front() == '.' || path_.back() == '.' || path_.find("..") != path_.npos ||
      dots >= config::Document::kMaxDepth) {
    error("a path is keys and names with dots between them, like `senders.long.target`");
    return;
  }
  if (!read_value() || enter_router_file()) return;
  sources_.scenario.root = edit(sources_.scenario.root, path_);
}

bool SettingEditor::enter_router_file() {
  const Node* routers = entry(*sources_.scenario.root, "routers");
  const auto section = cut(path_, std::min(path_.find('.'), path_.size()));
  if (!routers || section.key != "routers") return false;
  const auto router = first_step(section.rest, keys_of(*routers));
  const Node* node = entry(*routers, router.key);
  const Node* config = node ? entry(*node, "config") : nullptr;
  if (!config || router.rest.empty()) return false;
  for (const auto* beside : {"config", "signalling"}) {
    if (starts_with_step(router.rest, beside)) return false;
  }
  if (auto* tree = sources_.router_file(std::string(router.key), *config); tree && tree->root)
    tree->root = edit(tree->root, router.rest);
  return true;
}

const Node* SettingEditor::edit(const Node* at, std::string_view rest) {
  if (rest.empty()) return value_;
  if (!at || at->kind == Node::Kind::null) {
    Node empty;
    empty.kind = Node::Kind::map;
    empty.mark = mark_;
    const Node* made = edit_map(empty, rest);
    return made == &empty ? at : made;
  }
  if (at->kind == Node::Kind::map) return edit_map(*at, rest);
  if (at->kind == Node::Kind::sequence) return edit_item(*at, rest);
  error(fmt::format("{} is {}: it has no {}", written_up_to(rest), quote(at->text),
                    quote(first_step(rest, {}).key)));
  return at;
}

const Node* SettingEditor::edit_map(const Node& at, std::string_view rest) {
  const auto keys = keys_of(at);
  const auto step = first_step(rest, keys);
  Node changed = at;
  const auto found = std::find_if(changed.entries.begin(), changed.entries.end(), [&](const auto& e) {
    return e.first->kind == Node::Kind::scalar && e.first->text == step.key;
  });
  if (found == changed.entries.end() && !value_) {
    sources_.scenario.problems.warning(
        mark_, fmt::format("nothing is removed: there is no {}{}", quote(step.key), hint_of(step.key, keys)));
    return &at;
  }
  if (found == changed.entries.end()) {
    Node& key = sources_.edited_.emplace_back();
    key.kind = Node::Kind::scalar;
    key.mark = mark_;
    key.text = step.key;
    changed.entries.emplace_back(&key, edit(nullptr, step.rest));
  } else {
    const Node* child = edit(found->second, step.rest);
    if (child == found->second) return &at;
    if (child)
      found->second = child;
    else
      changed.entries.erase(found);
  }
  return &sources_.edited_.emplace_back(std::move(changed));
}

const Node* SettingEditor::edit_item(const Node& at, std::string_view rest) {
  std::vector<std::string> names, to_show;
  for (const Node* item : at.items) {
    const auto of_item = names_of(*item);
    names.insert(names.end(), of_item.begin(), of_item.end());
    if (!of_item.empty()) to_show.push_back(of_item.front());
  }
  const auto step = first_step(rest, names);
  Node changed = at;
  auto found = std::find_if(changed.items.begin(), changed.items.end(), [&](const Node* item) {
    const auto of_item = names_of(*item);
    return std::find(of_item.begin(), of_item.end(), step.key) != of_item.end();
  });
  if (found == changed.items.end() && !at.items.empty()) {
    const auto place = config::parse_integer(step.key, 0, at.items.size() - 1).value;
    if (place) found = changed.items.begin() + static_cast<std::ptrdiff_t>(*place);
  }
  if (found == changed.items.end()) {
    const auto list = rest.size() == path_.size() ? "the list" : written_up_to(rest);
    error(fmt::format("{} has no item {}{}", list, quote(step.key), hint_of(step.key, to_show)));
    return &at;
  }
  const Node* child = edit(*found, step.rest);
  if (child == *found) return &at;
  if (child)
    *found = child;
  else
    changed.items.erase(found);
  return &sources_.edited_.emplace_back(std::move(changed));
}

}  // namespace surety::lab
