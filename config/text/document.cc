// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

namespace surety::config {
namespace {

struct Refusal {
  Mark mark;
  std::string message;
};

Mark mark_of(const YAML::Mark& m) {
  return m.is_null() ? Mark{} : Mark{m.line + 1, m.column + 1};
}

std::string_view line_of(std::string_view text, int line) {
  for (; line > 1; --line) {
    const auto end = text.find('\n');
    if (end == text.npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// yaml-cpp's message about an indentation with tabs names what the tab made it believe, not the tab.
bool indented_by_tab(std::string_view text, int line) {
  for (int l = std::max(1, line - 1); l <= line; ++l) {
    const auto s = line_of(text, l);
    if (s.substr(0, s.find_first_not_of(" \t")).find('\t') != s.npos) return true;
  }
  return false;
}

}  // namespace

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(Document& d, Document::Origin origin) : document_(d), origin_(origin) {}

  void OnDocumentStart(const YAML::Mark& m) override {
    if (document_.root_) refuse(m, "a second document: one file holds one configuration");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& m, YAML::anchor_t anchor) override {
    Node& n = make(Node::Kind::null, m, anchor);
    if (key_) n.mark = key_->mark;  // yaml-cpp marks a missing value at the next token
    place(n);
  }
  void OnScalar(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node& n = make(Node::Kind::scalar, m, anchor);
    n.text = value;
    if (is_own(tag)) refer(n, tag, m);
    place(n);
  }
  void OnSequenceStart(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    if (is_own(tag)) refuse(m, "a tag before a list");
    open(make(Node::Kind::sequence, m, anchor));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    if (is_own(tag)) refuse(m, "a tag before a map");
    open(make(Node::Kind::map, m, anchor));
  }
  void OnMapEnd() override { close(); }
  void OnAlias(const YAML::Mark& m, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    const bool inside = it == anchors_.end() || std::any_of(open_.begin(), open_.end(), [&](const Open& o) {
                          return o.node == it->second;
                        });
    if (inside) refuse(m, "an alias inside its own anchor");
    place(*it->second, place_of(m));
  }

 private:
  struct Open {
    Node* node;
    const Node* key;  // key of the entry being read
  };

  // Not YAML's own, which it gives to every value: `!name`.
  static bool is_own(const std::string& tag) { return tag.size() > 1 && tag.front() == '!'; }

  Mark place_of(const YAML::Mark& m) const {
    Mark mark = mark_of(m);
    if (origin_.line != 0) mark.line = origin_.line;
    mark.file = origin_.file;
    return mark;
  }
  [[noreturn]] void refuse(const YAML::Mark& m, std::string message) const {
    throw Refusal{place_of(m), std::move(message)};
  }

  void refer(Node& n, const std::string& tag, const YAML::Mark& m) {
    if (!origin_.references) refuse(m, "a tag, `" + tag + "`, which has no meaning here");
    if (tag != "!env" && tag != "!file") refuse(m, "no tag is called `" + tag + "`; there are: !env, !file");
    const bool key = !open_.empty() && open_.back().node->kind == Node::Kind::map && key_ == nullptr;
    if (key) refuse(m, "a tag before a key: only a value can have one");
    n.origin = tag == "!env" ? Node::Origin::env : Node::Origin::file;
    document_.references_.push_back(&n);
  }

  Node& make(Node::Kind kind, const YAML::Mark& m, YAML::anchor_t anchor) {
    if (document_.nodes_.size() >= Document::kMaxNodes) refuse(m, "too many values");
    Node& n = document_.nodes_.emplace_back();
    n.kind = kind;
    n.mark = place_of(m);
    if (anchor) anchors_[anchor] = &n;
    return n;
  }
  void open(Node& n) {
    if (open_.size() >= Document::kMaxDepth) throw Refusal{n.mark, "nested too deeply"};
    open_.push_back({&n, key_});
    key_ = nullptr;
  }
  void close() {
    const auto [node, key] = open_.back();
    open_.pop_back();
    key_ = key;
    place(*node);
  }
  void place(const Node& n) { place(n, n.mark); }
  void place(const Node& n, Mark at) {
    if (open_.empty()) {
      document_.root_ = &n;
      return;
    }
    Node& parent = *open_.back().node;
    parent.weight += n.weight;
    if (parent.weight > Document::kMaxNodes) throw Refusal{at, "its aliases expand to too many values"};
    if (parent.kind == Node::Kind::sequence) {
      parent.items.push_back(&n);
    } else if (!key_) {
      key_ = &n;
    } else {
      parent.entries.emplace_back(key_, &n);
      key_ = nullptr;
    }
  }

  Document& document_;
  const Document::Origin origin_;
  std::vector<Open> open_;
  const Node* key_ = nullptr;
  std::unordered_map<YAML::anchor_t, const Node*> anchors_;
};

const Node* Node::entry(std::string_view key) const {
  for (std::size_t i = 0; i < items.size(); ++i)
    if (std::to_string(i) == key) return items[i];
  const auto found =
      std::ranges::find(entries, key, [](const auto& e) { return std::string_view(e.first->text); });
  return found == entries.end() ? nullptr : found->second;
}

Document::Document(std::string_view text, Origin origin) {
  const auto refuse = [&](Mark mark, std::string message) {
    root_ = nullptr;
    error_mark_ = {origin.line == 0 ? mark.line : origin.line, mark.column, origin.file};
    error_ = std::move(message);
  };
  if (text.size() > kMaxBytes) {
    refuse({}, "larger than the limit of 4 MiB");
    return;
  }
  if (text.find('\0') != text.npos) {
    refuse({}, "not a text: it contains a zero byte");
    return;
  }
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder(*this, origin);
    while (parser.HandleNextDocument(builder)) {
    }
    if (!root_) refuse({}, std::string(kEmpty));
  } catch (const Refusal& r) {
    refuse(r.mark, r.message);
  } catch (const YAML::Exception& e) {
    const Mark mark = mark_of(e.mark);
    refuse(mark, indented_by_tab(text, mark.line) ? "a tab in the indentation: YAML takes spaces only"
                                                  : "not YAML: " + e.msg);
  } catch (const std::exception& e) {
    refuse({}, std::string("not YAML: ") + e.what());
  }
}

}  // namespace surety::config
