// SPDX-License-Identifier: BSD-3-Clause
// No message quotes the file, and the lines that they point at are masked: a mistyped key is a secret too.
// The keys are taken out of the text before it is read as YAML, which would leave them in memory that it has
// freed.
#include "router/pipeline/signals/signal_keys.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <new>
#include <string_view>

#include "config/address.h"
#include "config/sections.h"
#include "config/text/document.h"
#include "config/text/problems.h"

namespace surety {

namespace {

using config::Document;
using config::Node;
using config::Problems;

constexpr std::size_t kMaxKeys = 2;
constexpr std::array<std::string_view, 4> kVocabulary{"keys", "routers", "id", "key"};
constexpr std::size_t kDigits = 32;
constexpr std::string_view kFileForm = "expected `keys: [{id: NUMBER, key: 32 HEXADECIMAL DIGITS}, ...]`";

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80) != 0;
}

// Words of the vocabulary and punctuation stay, so that a caret below still shows the place.
std::string masked(std::string line) {
  for (auto word = line.begin(); word != line.end();) {
    word = std::find_if(word, line.end(), is_word);
    const auto end = std::find_if_not(word, line.end(), is_word);
    const std::string_view text(word, end);
    if (std::find(kVocabulary.begin(), kVocabulary.end(), text) == kVocabulary.end())
      std::fill(word, end, '*');
    word = end;
  }
  return line;
}

// The value of a key that the map has once at most; null where a needed one is missing: reported.
const Node* member(const Node& map, std::string_view name, Problems& problems, bool needed = true) {
  const Node* found = nullptr;
  for (const auto& [key, value] : map.entries) {
    if (key->text != name) continue;
    if (found) problems.error(key->mark, fmt::format("`{}` is already there", name));
    if (!found) found = value;
  }
  if (!found && needed) problems.error(map.mark, fmt::format("`{}` is missing", name));
  return found;
}

void refuse_others(const Node& map, std::initializer_list<std::string_view> names, const char* message,
                   Problems& problems) {
  for (const auto& [key, value] : map.entries)
    if (std::find(names.begin(), names.end(), key->text) == names.end()) problems.error(key->mark, message);
}

bool read_id(const Node& node, std::uint8_t& id, Problems& problems) {
  const char* const end = node.text.data() + node.text.size();
  const auto [stop, error] = std::from_chars(node.text.data(), end, id);
  // No longer numbers: a number that represents a key (Redacted) is none.
  if (error == std::errc() && stop == end && node.text.size() <= 3) return true;
  problems.error(node.mark, "an id is a whole number from 0 to 255");
  return false;
}

// A text without its keys: each is replaced by its number.
struct Redacted {
  explicit Redacted(std::string_view from);
  std::string text;
  std::vector<HiddenKey> keys;
};

Redacted::Redacted(std::string_view from) {
  text.reserve(from.size());
  for (auto at = from.begin(); at != from.end();) {
    const auto begin = std::find_if(at, from.end(), is_word),
               end = std::find_if_not(begin, from.end(), is_word);
    text.append(at, begin);
    HiddenKey::Plain key;
    if (end - begin == kDigits &&
        sodium_hex2bin(key.data(), key.size(), &*begin, kDigits, nullptr, nullptr, nullptr) == 0) {
      text += fmt::format("{:0{}}", keys.size(), kDigits);
      keys.emplace_back(key);
    } else {
      text.append(begin, end);
    }
    sodium_memzero(key.data(), key.size());
    at = end;
  }
}

bool read_secret(const Node& node, const std::vector<HiddenKey>& keys, HiddenKey& key, Problems& problems) {
  const char* const end = node.text.data() + node.text.size();
  std::size_t number = 0;
  const auto [stop, error] = std::from_chars(node.text.data(), end, number);
  if (node.text.size() != kDigits || stop != end || error != std::errc() || number >= keys.size()) {
    problems.error(node.mark, "a key is exactly 32 hexadecimal digits; `openssl rand -hex 16` makes one");
    return false;
  }
  key = keys[number];
  if (key.zero()) problems.error(node.mark, "a key of zeros is no secret; `openssl rand -hex 16` makes one");
  return true;
}

class KeyFile {
 public:
  KeyFile(const std::vector<HiddenKey>& secrets, Problems& problems)
      : secrets_(secrets), problems_(problems) {}
  void read(const Node& root, SignalKeys& out) const;

 private:
  void read_routers(const Node& node, SignalKeys& out) const;
  void read_keys(const Node& node, std::vector<SignalKey>& out) const;
  void read_key(const Node& node, std::vector<SignalKey>& out) const;

  const std::vector<HiddenKey>& secrets_;
  Problems& problems_;
};

void KeyFile::read_key(const Node& node, std::vector<SignalKey>& out) const {
  SignalKey key;
  const Node* id = member(node, "id", problems_);
  const Node* secret = member(node, "key", problems_);
  refuse_others(node, {"id", "key"}, "only `id` and `key` are allowed here", problems_);
  const bool has_id = id && read_id(*id, key.id, problems_);
  const bool has_secret = secret && read_secret(*secret, secrets_, key.secret, problems_);
  for (const SignalKey& other : out) {
    if (has_id && key.id == other.id) problems_.error(id->mark, "the other key has this id");
    if (has_secret && key.secret == other.secret) problems_.error(secret->mark, "the other key is the same");
  }
  if (has_id && has_secret) out.push_back(key);
}

void KeyFile::read_keys(const Node& node, std::vector<SignalKey>& out) const {
  if (node.items.empty() || node.items.size() > kMaxKeys) {
    problems_.error(node.mark, fmt::format("a list of one key or two is needed; {}", kFileForm));
    return;
  }
  for (const Node* n : node.items) read_key(*n, out);
}

void KeyFile::read_routers(const Node& node, SignalKeys& out) const {
  if (node.entries.empty() || node.entries.size() > SignalKeys::kMaxRouters)
    problems_.error(node.mark,
                    fmt::format("expected `ROUTER_ID: [{{id: NUMBER, key: ...}}]`, of at most {} routers",
                                SignalKeys::kMaxRouters));
  for (const auto& [id, keys] : node.entries) {
    const auto router = surety::parse_address(id->text);
    if (!router || router->is_v6() || router->v4_host_order() == 0)
      problems_.error(id->mark, "the id of a router is an IPv4 address, as in its `router: {id: ...}`");
    else if (const auto [it, fresh] = out.routers.try_emplace(router->v4_host_order()); !fresh)
      problems_.error(id->mark, "this router is already there");
    else
      read_keys(*keys, it->second);
  }
}

void KeyFile::read(const Node& root, SignalKeys& out) const {
  const Node* routers = member(root, "routers", problems_, false);
  const Node* keys = member(root, "keys", problems_, !routers);
  refuse_others(root, {"keys", "routers"}, "only `keys` and `routers` are allowed here", problems_);
  if (keys) read_keys(*keys, out.keys);
  if (routers) read_routers(*routers, out);
}

SignalKeysResult finish(SignalKeys keys, Problems& problems, std::string_view text, const std::string& file) {
  SignalKeysResult result;
  if (!problems.any_error()) result.keys = std::move(keys);
  for (auto& d : problems.take(text, file)) {
    d.source = masked(d.source);
    std::string lines = d.format();
    lines.pop_back();
    (d.severity == config::Diagnostic::Severity::error ? result.errors : result.warnings)
        .push_back(std::move(lines));
  }
  return result;
}

SignalKeysResult parse(const std::string& text, const std::string& file, Problems& problems) {
  SignalKeys keys;
  const Redacted redacted(text);
  const Document document(redacted.text);
  // The YAML parser's message may quote the text.
  if (document.root())
    KeyFile(redacted.keys, problems).read(*document.root(), keys);
  else
    problems.error(document.error_mark(), fmt::format("not YAML; {}", kFileForm));
  return finish(std::move(keys), problems, redacted.text, file);
}

}  // namespace

const std::vector<SignalKey>& SignalKeys::of(std::uint32_t router) const {
  const auto own = routers.find(router);
  return own == routers.end() ? keys : own->second;
}

const SignalKey* SignalKeys::find(std::uint32_t router, std::uint8_t id) const {
  const auto& own = of(router);
  const auto it = std::ranges::find(own, id, &SignalKey::id);
  return it == own.end() ? nullptr : &*it;
}

SignalKeysResult parse_signal_keys(const std::string& text, const std::string& file) {
  Problems problems;
  return parse(text, file, problems);
}

SignalKeysResult load_signal_keys(const std::string& file) {
  Problems problems;
  auto text = config::read_secret(file, problems);
  if (!text) return finish({}, problems, {}, file);
  SignalKeysResult result = parse(*text, file, problems);
  sodium_memzero(text->data(), text->size());
  return result;
}

SignalKeysResult load_signal_keys(const config::Config& c) {
  SignalKeysResult result = load_signal_keys(c.signalling.key_file);
  if (result.ok() && c.router.role == config::Router::Role::core && result.keys.of(c.router.id).empty())
    result.errors.push_back(
        fmt::format("{}: no key to sign the signals of this core router: write one under `keys`, or under "
                    "`routers` for the router's `id`",
                    c.signalling.key_file));
  return result;
}

namespace {

// The pad is never freed: objects that live as long as the process need it until its end to reveal their
// keys.
const HiddenKey::Plain& pad() {
  static const HiddenKey::Plain* const made = [] {
    void* const memory = sodium_init() < 0 ? nullptr : sodium_malloc(sizeof(HiddenKey::Plain));
    if (!memory) throw std::bad_alloc();
    randombytes_buf(memory, sizeof(HiddenKey::Plain));
    return static_cast<const HiddenKey::Plain*>(memory);
  }();
  return *made;
}

HiddenKey::Plain mask(const HiddenKey::Plain& plain) {
  const HiddenKey::Plain& with = pad();
  HiddenKey::Plain out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = plain[i] ^ with[i];
  return out;
}

}  // namespace

HiddenKey::HiddenKey(const Plain& plain) : masked_(mask(plain)) {}

HiddenKey::Plain HiddenKey::reveal() const {
  return mask(masked_);
}

}  // namespace surety
