// SPDX-License-Identifier: BSD-3-Clause
// A port's `device`: a kind and its arguments in one text, as in `af_xdp eth1`; and its kernel `twin`.
#include <algorithm>
#include <array>
#include <cctype>

#include "config/sections.h"
#include "config/text/problems.h"
#include "config/values.h"

namespace surety::config {
namespace {

using Words = std::vector<std::string>;
using Kind = Device::Kind;

Words split(std::string_view text) {
  Words words;
  while (true) {
    const auto from = text.find_first_not_of(' ');
    if (from == text.npos) return words;
    text.remove_prefix(from);
    const auto end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// dddd:dd:dd.d in hexadecimal, the first part optional.
bool is_pci_address(std::string_view s) {
  constexpr std::string_view kShort = "xx:xx.x", kLong = "xxxx:xx:xx.x";
  const auto pattern = s.size() == kLong.size() ? kLong : kShort;
  if (s.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const bool hex = std::isxdigit(static_cast<unsigned char>(s[i])) != 0;
    if (pattern[i] == 'x' ? !hex : s[i] != pattern[i]) return false;
  }
  return s.back() <= '7';
}

bool is_interface(std::string_view s) {  // dev_valid_name() of Linux
  return !s.empty() && s.size() <= 15 && s != "." && s != ".." && s.find_first_of("/: \t") == s.npos;
}

bool read_name(const Words& words, Device& device) {
  if (words.size() == 2) device.name = words[1];
  return words.size() == 2;
}

bool read_pci(const Words& words, Device& device) {
  return read_name(words, device) && is_pci_address(device.name);
}

bool read_interface(const Words& words, Device& device) {
  return read_name(words, device) && is_interface(device.name);
}

bool read_memif(const Words& words, Device& device) {
  if (words.size() != 3 || (words[2] != "server" && words[2] != "client")) return false;
  device.name = words[1];
  device.server = words[2] == "server";
  return true;
}

bool read_any_name(const Words& words, Device& device) {
  return read_name(words, device);
}

bool read_pcap(const Words& words, Device& device) {
  for (auto word = words.begin() + 1; word != words.end(); ++word) {
    auto* file = word->starts_with("rx=")   ? &device.rx_file
                 : word->starts_with("tx=") ? &device.tx_file
                                            : nullptr;
    if (!file || !file->empty() || word->size() == 3) return false;
    *file = word->substr(3);
  }
  return words.size() > 1;
}

bool read_null(const Words& words, Device&) {
  return words.size() == 1;
}

struct Grammar {
  std::string_view word;
  Kind kind;
  std::string_view usage;
  bool (*read)(const Words&, Device&);
};
constexpr std::array kGrammar{
    Grammar{"pci", Kind::pci, "pci 0000:03:00.0", read_pci},
    Grammar{"af_xdp", Kind::af_xdp, "af_xdp IFACE", read_interface},
    Grammar{"af_packet", Kind::af_packet, "af_packet IFACE", read_interface},
    Grammar{"tap", Kind::tap, "tap NAME", read_interface},
    Grammar{"memif", Kind::memif, "memif SOCKET server|client", read_memif},
    Grammar{"virtio-user", Kind::virtio_user, "virtio-user SOCKET", read_any_name},
    Grammar{"vhost", Kind::vhost, "vhost SOCKET", read_any_name},
    Grammar{"pcap", Kind::pcap, "pcap rx=FILE tx=FILE", read_pcap},
    Grammar{"null", Kind::null, "null", read_null},
    Grammar{"ring", Kind::ring, "ring NAME", read_any_name},
};

}  // namespace

void read_device(const Node& node, Device& device, Draft& draft) {
  // A bare `null` is YAML's own word for nothing; here it names DPDK's null device.
  if (node.kind == Node::Kind::null) {
    device.kind = Kind::null;
    return;
  }
  const auto* text = text_of(node, "a device like `af_xdp eth1`", draft.problems);
  if (!text) return;
  const auto words = split(*text);
  const auto* g = words.empty() ? kGrammar.end()
                                : std::find_if(kGrammar.begin(), kGrammar.end(),
                                               [&](const auto& x) { return x.word == words[0]; });
  if (g == kGrammar.end()) {
    std::vector<std::string_view> kinds;
    kinds.reserve(kGrammar.size());
    for (const auto& x : kGrammar) kinds.push_back(x.word);
    const std::string word = words.empty() ? "" : words[0];
    draft.problems.error(node.mark, "no kind of device is called {}{}", quote(word), hint(word, kinds));
    return;
  }
  Device read{.kind = g->kind, .name = {}, .server = false, .rx_file = {}, .tx_file = {}};
  if (!g->read(words, read)) {
    draft.problems.error(node.mark, "{} is not a device; write it like `{}`", quote(*text), g->usage);
    return;
  }
  for (std::string* file : {&read.rx_file, &read.tx_file})
    if (!file->empty()) *file = draft.file_name(*file, node.mark);
  device = read;
}

void read_twin(const Node& node, std::optional<std::string>& twin, Problems& problems) {
  const auto* text = text_of(node, "the name of a TAP device or `off`", problems);
  if (!text) return;
  const auto flag = parse_flag(*text).value;
  const bool off = flag == false;
  if (flag == true || (!off && !is_interface(*text))) {
    problems.error(node.mark,
                   "{} is not the name of a TAP device (up to 15 letters, digits and signs other than `/` "
                   "and `:`) or `off`",
                   quote(*text));
    return;
  }
  twin = off ? "" : *text;
}

}  // namespace surety::config
