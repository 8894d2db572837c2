// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a configuration, of a router (in up to three files, which may include each other, with values
// from elsewhere) and of endpoints: the parser answers with a configuration or with errors, never throws, and
// its places are in the texts. What it sells can be said, and how it differs from another.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/changes.h"
#include "config/check.h"
#include "config/parse.h"
#include "endpoints/config/endpoints.h"

namespace {

using surety::config::Diagnostic;
using surety::config::Tree;

constexpr std::string_view kNextFile = "\n%%%\n";

template <class Result>
void check(const Result& result, const Tree& tree) {
  bool error = false;
  for (const auto& d : result.diagnostics) {
    error |= d.severity == Diagnostic::Severity::error;
    const auto found = tree.texts.find(d.file);
    if (found == tree.texts.end()) std::abort();
    const auto& text = found->second;
    const auto lines =
        1 + std::count(text.begin(), text.end(), '\n') + std::count(text.begin(), text.end(), '\r');
    if (d.line < 1 || d.column < 1 || d.line > lines + 1 || d.message.empty() || d.format().empty())
      std::abort();
  }
  if (result.ok() == error) std::abort();
}

// The first file is the main one.
Tree tree_of_parts(std::string_view text) {
  Tree tree{{}, "fuzz.yaml", {}, {{"env A", "10.0.0.1/24"}, {"file d/a", "5 Mbit/s"}, {"file a", "lan0"}}};
  for (const char* name : {"fuzz.yaml", "a.yaml", "d/b.yaml"}) {
    const auto end = std::min(text.find(kNextFile), text.size());
    tree.texts.emplace(name, text.substr(0, end));
    text.remove_prefix(std::min(end + kNextFile.size(), text.size()));
  }
  return tree;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Tree tree = tree_of_parts(text);
  const auto router = surety::config::parse_tree(tree);
  check(router, tree);
  if (router.ok()) {
    surety::config::sold(*router.config);
    static const auto other =
        surety::config::parse("version: 1\nports: {lan0: {device: null}}\n", "other.yaml");
    surety::config::changes(*other.config, *router.config);
    if (!surety::config::changes(*router.config, *router.config).empty()) std::abort();
  }
  check(surety::config::parse_endpoints(text, "fuzz.yaml"), surety::config::tree_of(text, "fuzz.yaml"));
  return 0;
}
