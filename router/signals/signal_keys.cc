// SPDX-License-Identifier: BSD-3-Clause
// No message quotes the file, and the lines that they point at are masked: a mistyped key is a secret too.
#include "router/signals/signal_keys.h"

#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include "config/document.h"
#include "config/problems.h"
#include "config/sections.h"

namespace surety {

namespace {

using config::Document;
using config::Node;
using config::Problems;
using Key = std::array<std::uint8_t, 16>;

constexpr std::size_t kMaxKeys = 2;
constexpr std::array<std::string_view, 3> kVocabulary{"keys", "id", "key"};
constexpr std::string_view kFileForm = "expected `keys: [{id: NUMBER, key: 32 HEXADECIMAL DIGITS}, ...]`";

// Words of the vocabulary and punctuation stay, so that a caret below still shows the place.
std::string masked(std::string line) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80) != 0; };
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

// The value of a key that the map must have, once; null: reported.
const Node* member(const Node& map, std::string_view name, Problems& problems) {
  const Node* found = nullptr;
  for (const auto& [key, value] : map.entries) {
    if (key->text != name) continue;
    if (found) problems.error(key->mark, fmt::format("`{}` is already there", name));
    if (!found) found = value;
  }
  if (!found) problems.error(map.mark, fmt::format("`{}` is missing", name));
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
  if (error == std::errc() && stop == end) return true;
  problems.error(node.mark, "an id is a whole number from 0 to 255");
  return false;
}

bool read_bytes(const Node& node, Key& key, Problems& problems) {
  const std::string& text = node.text;
  if (text.size() != 2 * key.size() ||
      sodium_hex2bin(key.data(), key.size(), text.data(), text.size(), nullptr, nullptr, nullptr) != 0) {
    problems.error(node.mark, "a key is exactly 32 hexadecimal digits; `openssl rand -hex 16` makes one");
    return false;
  }
  if (key == Key{})
    problems.error(node.mark, "a key of zeros is no secret; `openssl rand -hex 16` makes one");
  return true;
}

void read_key(const Node& node, SignalKeys& out, Problems& problems) {
  SignalKey key;
  const Node* id = member(node, "id", problems);
  const Node* bytes = member(node, "key", problems);
  refuse_others(node, {"id", "key"}, "only `id` and `key` can stand here", problems);
  const bool has_id = id && read_id(*id, key.id, problems);
  const bool has_bytes = bytes && read_bytes(*bytes, key.bytes, problems);
  for (const SignalKey& other : out.keys) {
    if (has_id && key.id == other.id) problems.error(id->mark, "the other key has this id");
    if (has_bytes && key.bytes == other.bytes) problems.error(bytes->mark, "the other key is the same");
  }
  if (has_id && has_bytes) out.keys.push_back(key);
}

void read_keys(const Node& root, SignalKeys& out, Problems& problems) {
  const Node* keys = member(root, "keys", problems);
  refuse_others(root, {"keys"}, "only `keys` can stand here", problems);
  if (!keys) return;
  if (keys->items.empty() || keys->items.size() > kMaxKeys) {
    problems.error(keys->mark, fmt::format("a list of one key or two is needed; {}", kFileForm));
    return;
  }
  for (const Node* n : keys->items) read_key(*n, out, problems);
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
  const Document document(text);
  // What the YAML parser says may quote the text.
  if (document.root())
    read_keys(*document.root(), keys, problems);
  else
    problems.error(document.error_mark(), fmt::format("not YAML; {}", kFileForm));
  return finish(std::move(keys), problems, text, file);
}

bool open_to_others(const std::string& file) {
  struct stat status {};
  return stat(file.c_str(), &status) == 0 && (status.st_mode & (S_IROTH | S_IWOTH)) != 0;
}

}  // namespace

const SignalKey* SignalKeys::find(std::uint8_t id) const {
  const auto it = std::find_if(keys.begin(), keys.end(), [&](const SignalKey& k) { return k.id == id; });
  return it == keys.end() ? nullptr : &*it;
}

SignalKeysResult parse_signal_keys(const std::string& text, const std::string& file) {
  Problems problems;
  return parse(text, file, problems);
}

SignalKeysResult load_signal_keys(const std::string& file) {
  Problems problems;
  const auto text = config::read_text(file, problems);
  if (!text) return finish({}, problems, {}, file);
  if (open_to_others(file))
    problems.error({},
                   "everybody on this machine may read or change the keys; `chmod o-rwx` keeps them secret");
  return parse(*text, file, problems);
}

}  // namespace surety
