// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/log_line.h"

#include <fmt/format.h>

#include <algorithm>

namespace surety {
namespace {

// Bytes of the character of UTF-8 at the beginning; 0: it is none that may be printed.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x20 || lead == 0x7f) return 0;
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Control characters beyond ASCII (U+0080 to U+009F), and the separators of lines and paragraphs.
  if (lead == 0xc2 && byte(1) < 0xa0) return 0;
  return text.starts_with("\u2028") || text.starts_with("\u2029") ? 0 : size;
}

std::string json_line(const StampedEvent& e) {
  const Json line = {{"time", iso_time(e.time.wall)},
                     {"level", name(e.event.level)},
                     {"kind", name(e.event.kind)},
                     {"text", e.event.text},
                     {"fields", e.event.fields.is_object() ? e.event.fields : Json::object()}};
  return line.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace

std::string printable(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; })) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const std::size_t size = character(text);
    if (size > 0)
      result += text.substr(0, size);
    else if (text[0] == '\n')
      result += "\\n";
    else
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

std::string log_line(const StampedEvent& e, config::Log::Format format, bool journal) {
  const std::string level = journal ? fmt::format("<{}>", static_cast<int>(e.event.level)) : "";
  if (format == config::Log::Format::json) return level + json_line(e) + '\n';
  const std::string text = printable(e.event.text);
  if (journal) return fmt::format("{}{}\n", level, text);
  return fmt::format("{} surety: {}: {}\n", iso_time(e.time.wall), name(e.event.level), text);
}

}  // namespace surety
