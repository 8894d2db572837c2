// SPDX-License-Identifier: BSD-3-Clause
#include "config/parse.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "config/outline.h"
#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {
constexpr std::string_view kVersion = "1";
}

void read_version(MapReader& map, Problems& problems) {
  const Node* n = map.require("version");
  if (!n) return;
  const auto* text = text_of(*n, "`version: 1`", problems);
  if (text && *text != kVersion) {
    problems.error(n->mark,
                   fmt::format("version {} is not known; this program reads version 1", quote(*text)));
  }
}

void read_sections(MapReader& map, Draft& draft) {
  draft.ports = Names(map.find("ports"));
  draft.groups = Names(map.find("groups"));
  draft.filters = Names(map.find("filters"));
  draft.interfaces = Names(map.find("interfaces"));
  draft.queues = Names(map.find("queues"));
  draft.services = Names(map.find("services"));
  using Admission = Config::Admission;
  map.read_word("admission", draft.config.admission,
                {{"warn", Admission::warn}, {"refuse", Admission::refuse}});
  struct Section {
    std::string_view key;
    void (*read)(const Node&, Draft&);
  };
  // In the order that references need.
  for (const auto& [key, read] : {Section{"router", read_router},
                                  Section{"workers", read_workers},
                                  Section{"queues", read_queues},
                                  Section{"ports", read_ports},
                                  Section{"groups", read_groups},
                                  Section{"filters", read_filters},
                                  Section{"interfaces", read_interfaces},
                                  Section{"pcp", read_pcp},
                                  Section{"routes", read_routes},
                                  Section{"neighbors", read_neighbors},
                                  Section{"services", read_services},
                                  Section{"classify", read_classify},
                                  Section{"aggregates", read_aggregates},
                                  Section{"signalling", read_signalling},
                                  Section{"metrics", read_metrics},
                                  Section{"log", read_log},
                                  Section{"icmp", read_icmp},
                                  Section{"flow_table", read_flow_table},
                                  Section{"dpdk", read_dpdk},
                                  Section{"kernel", read_kernel}}) {
    if (const Node* n = map.find(key)) read(*n, draft);
  }
  map.require("ports");
  validate(draft);
}

ParseResult parse(std::string_view text, const std::string& file_name) {
  return parse_document(Document(text), text, file_name);
}

ParseResult parse_document(const Document& document, std::string_view text, const std::string& file_name) {
  Problems problems;
  Draft draft(problems, std::filesystem::path(file_name).parent_path().string());
  if (document.root()) {
    MapReader map(*document.root(), "the configuration", problems);
    read_version(map, problems);
    read_sections(map, draft);
  } else {
    problems.error(document.error_mark(), document.error());
  }
  ParseResult result;
  if (!problems.any_error()) {
    result.config = std::move(draft.config);
    result.config->written = std::make_shared<const Outline>(outline_of(*document.root()));
  }
  result.diagnostics = problems.take(text, file_name);
  return result;
}

std::optional<std::string> read_text(const std::string& path, Problems& problems) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  std::string text(Document::kMaxBytes + 1,
                   '\0');  // one more than parse() takes: it refuses, whatever the size
  if (file) std::setvbuf(file.get(), nullptr, _IONBF, 0);  // a secret stays in no buffer of the C library's
  if (file) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (file && !std::ferror(file.get())) return text;
  problems.error({}, fmt::format("cannot be read: {}", std::strerror(errno)));
  return {};
}

std::optional<std::string> read_yaml(const std::string& path, Problems& problems) {
  auto text = read_text(path, problems);
  const auto begin = text ? text->find_first_not_of(" \t\r\n") : std::string::npos;
  const bool whole = begin == std::string::npos || text->back() == '\n' || (*text)[begin] == '{';
  if (whole || text->size() > Document::kMaxBytes) return text;
  const auto lines = static_cast<int>(std::ranges::count(*text, '\n'));
  const auto column = static_cast<int>(text->size() - text->find_last_of('\n'));
  problems.error({lines + 1, column},
                 "the file ends within a line: what should follow may be missing; write it to its end");
  return {};
}

std::optional<std::string> read_secret(const std::string& path, Problems& problems) {
  auto text = read_text(path, problems);
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_IROTH | S_IWOTH)) != 0)
    problems.error({},
                   "everybody on this machine may read or change it; `chmod o-rwx` keeps the secret in it");
  return text;
}

ParseResult parse_file(const std::string& path) {
  Problems problems;
  const auto text = read_yaml(path, problems);
  if (!text) return {{}, problems.take({}, path)};
  return parse(*text, path);
}

}  // namespace surety::config
