// SPDX-License-Identifier: BSD-3-Clause
#include "config/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "config/text/outline.h"

namespace surety::config {
namespace {

constexpr std::size_t kLongest = 100;  // characters shown of a value
constexpr std::size_t kInShort = 5;

// The nouns for a section's entries, and the key that identifies an entry of a list.
struct Entries {
  std::string_view section,
      key;  // `key`: they are not those of the section but below it; `*`: of each of those
  std::string_view noun, identity;
  bool ordered = false;
};
constexpr std::array<Entries, 15> kEntries = {{
    {"ports", "", "port", ""},
    {"groups", "", "group", ""},
    {"interfaces", "", "interface", ""},
    {"plans", "", "plan", ""},
    {"subscribers", "", "subscriber", ""},
    {"filters", "", "filter", ""},
    {"filters", "*", "entry", "name", true},
    {"routes", "", "route", "to"},
    {"neighbors", "", "neighbor", "address"},
    {"queues", "", "queue set", ""},
    {"queues", "*", "class", "name", true},
    {"services", "", "service", ""},
    {"classify", "", "rule", "", true},
    {"aggregates", "", "aggregate", ""},
    {"signalling", "borders", "border", "source"},
}};

struct Step {
  std::string key;    // key in a map, or position in a list, from 0
  std::string label;  // name in messages; empty: none
};
using Steps = std::vector<Step>;

// The row for entries at `place`; nullptr: `place` is no entry.
const Entries* entries_of(const Steps& place) {
  const auto at = std::ranges::find_if(kEntries, [&](const Entries& e) {
    return place.size() == (e.key.empty() ? 2 : 3) && place[0].key == e.section &&
           (e.key.empty() || e.key == "*" || e.key == place[1].key);
  });
  return at == kEntries.end() ? nullptr : &*at;
}

std::string shown(std::string text) {
  if (text.size() > kLongest) {
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // within a character
    text = text.substr(0, end) + "...";
  }
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

std::string shown(const Outline& o) {
  return shown(o.words());
}
// The text of `o` without its braces and its identity.
std::string inside(Outline o, std::string_view identity) {
  std::erase_if(o.below, [&](const Outline& b) { return !b.key.empty() && b.key == identity; });
  const std::string text = o.words();
  return shown(o.kind == Node::Kind::map ? text.substr(1, text.size() - 2) : text);
}

// "class voice of queue set up", "port lan0", "metrics"; `depth`: how many steps that takes.
std::string subject(const Steps& place, std::size_t& depth) {
  std::string text;
  depth = 1;
  for (std::size_t n = 2; n <= std::min<std::size_t>(place.size(), 3); ++n) {
    const Entries* const e = entries_of({place.begin(), place.begin() + static_cast<std::ptrdiff_t>(n)});
    if (e == nullptr) continue;
    text = fmt::format("{} {}{}{}", e->noun, shown(place[n - 1].label), text.empty() ? "" : " of ", text);
    depth = n;
  }
  return depth == 1 ? shown(place[0].label) : text;
}

bool begins_with(const std::vector<std::string>& path, const Steps& place) {
  const std::size_t of_port = path.front() == "ports" ? 2 : path.size();  // any change of a port reopens it
  for (std::size_t n = 0; n < std::min({path.size(), place.size(), of_port}); ++n)
    if (path[n] != place[n].key) return false;
  return true;
}

class Differences {
 public:
  Differences(const Config& before, const Config& after, std::vector<Fixed> fixed)
      : before_(before), after_(after), fixed_(std::move(fixed)), told_(fixed_.size()) {}

  std::vector<Change> run() {
    compare(before_.written.get(), after_.written.get());
    for (std::size_t i = 0; i < fixed_.size(); ++i)  // restarts without a changed line in the file
      if (!told_[i])
        all_.push_back(
            {fixed_[i].message, Change::Takes::restart, concern(fixed_[i].path.front(), "", {}, after_)});
    return std::move(all_);
  }

 private:
  void compare(const Outline* a, const Outline* b) {
    if (place_.size() == 2) {
      item_ = b != nullptr ? b : a;
      config_ = b != nullptr ? &after_ : &before_;
    }
    if (a == nullptr || b == nullptr) return tell_one(a, b);
    if (*a == *b) return;
    if (a->kind == Node::Kind::map && b->kind == Node::Kind::map) return compare_maps(*a, *b);
    if (a->kind == Node::Kind::sequence && b->kind == Node::Kind::sequence) return compare_lists(*a, *b);
    tell(a->hidden || b->hidden ? "changed" : fmt::format("{} -> {}", shown(*a), shown(*b)));
  }

  // Reports an item that only one of the two has.
  void tell_one(const Outline* a, const Outline* b) {
    const Outline& only = a != nullptr ? *a : *b;
    const Outline empty{only.kind, {}, {}, false, {}};
    const bool many = only.kind == Node::Kind::map || only.kind == Node::Kind::sequence;
    if (place_.size() == 1 && many) return compare(a != nullptr ? a : &empty, b != nullptr ? b : &empty);
    if (const Entries* const e = entries_of(place_))
      return tell(b != nullptr ? fmt::format("new ({})", inside(only, e->identity)) : "removed");
    if (place_.back().label.empty())
      return tell(fmt::format("{} {}", shown(only), b != nullptr ? "new" : "removed"));
    const std::string none = "not set";
    tell(fmt::format("{} -> {}", a != nullptr ? shown(*a) : none, b != nullptr ? shown(*b) : none));
  }

  void compare_at(Step step, const Outline* a, const Outline* b) {
    place_.push_back(std::move(step));
    compare(a, b);
    place_.pop_back();
  }

  void compare_maps(const Outline& a, const Outline& b) {
    auto x = a.below.begin();
    for (const Outline& y : b.below) {
      for (; x != a.below.end() && x->key < y.key; ++x) compare_at({x->key, x->key}, &*x, nullptr);
      const bool both = x != a.below.end() && x->key == y.key;
      compare_at({y.key, y.key}, both ? &*x++ : nullptr, &y);
    }
    for (; x != a.below.end(); ++x) compare_at({x->key, x->key}, &*x, nullptr);
  }

  static std::vector<Listed> listed(const Outline& list, const Entries* entries) {
    std::vector<Listed> all;
    for (const Outline& o : list.below) {
      const Outline* const name = entries != nullptr ? o.find(entries->identity) : nullptr;
      all.push_back({name != nullptr ? name->words() : o.words(), name != nullptr});
    }
    return all;
  }

  void compare_lists(const Outline& a, const Outline& b) {
    Steps below = place_;
    below.emplace_back();
    const Entries* const entries = entries_of(below);
    const auto before = listed(a, entries), after = listed(b, entries);
    for (const Aligned& at : align(before, after)) {
      const std::size_t number = at.after ? *at.after : *at.before;
      const Listed& l = at.after ? after[number] : before[number];
      const Outline* const x = at.before ? &a.below[*at.before] : nullptr;
      const Outline* const y = at.after ? &b.below[*at.after] : nullptr;
      Step step{at.after ? std::to_string(number) : "gone", l.named ? l.label : std::to_string(number + 1)};
      if (entries == nullptr) step.label.clear();
      if (at.moved && (entries == nullptr || entries->ordered)) tell_moved(step, at, *y);
      compare_at(std::move(step), x, y);
    }
  }

  void tell_moved(const Step& step, const Aligned& at, const Outline& entry) {
    place_.push_back(step);
    if (place_.size() == 2) item_ = &entry, config_ = &after_;
    const std::string which = step.label.empty() ? shown(entry) + " " : "";
    tell(fmt::format("{}moved from place {} to {}", which, *at.before + 1, *at.after + 1));
    place_.pop_back();
  }

  void tell(const std::string& how) {
    std::size_t depth = 0;
    std::string text = subject(place_, depth) + ": ", keys;
    for (; depth < place_.size(); ++depth)
      if (const auto& label = place_[depth].label; !label.empty()) keys += (keys.empty() ? "" : ".") + label;
    text += keys + (keys.empty() ? "" : " ") + how;
    const bool entry = place_.size() > 1 && entries_of({place_[0], place_[1]}) != nullptr;
    Change change{std::move(text), Change::Takes::at_once, {}};
    for (std::size_t i = 0; i < fixed_.size(); ++i)
      if (begins_with(fixed_[i].path, place_)) told_[i] = true, change.takes = Change::Takes::restart;
    change.whom = concern(place_[0].key, entry ? place_[1].label : "", entry ? *item_ : Outline{}, *config_);
    all_.push_back(std::move(change));
  }

  const Config &before_, &after_;
  const std::vector<Fixed> fixed_;
  std::vector<bool> told_;  // for each of `fixed_`: reported
  Steps place_;
  const Outline* item_ = nullptr;   // current item of a section, if any
  const Config* config_ = &after_;  // configuration that has the item
  std::vector<Change> all_;
};

}  // namespace

std::vector<Change> changes(const Config& before, const Config& after) {
  return changes(before, after, fixed(before, after));
}

std::vector<Change> changes(const Config& before, const Config& after, std::vector<Fixed> fixed) {
  return Differences(before, after, std::move(fixed)).run();
}

std::string to_text(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& c : changes)
    text += fmt::format("{}{}; affects {}\n", c.what,
                        c.takes == Change::Takes::restart ? "; takes a restart" : "", c.whom);
  return text;
}

std::string in_short(const std::vector<Change>& changes) {
  std::string text;
  for (std::size_t i = 0; i < std::min(changes.size(), kInShort); ++i)
    text += (i == 0 ? "" : "; ") + changes[i].what;
  if (changes.size() > kInShort) text += fmt::format("; and {} more changes", changes.size() - kInShort);
  return text.empty() ? "nothing has changed" : text;
}

}  // namespace surety::config
