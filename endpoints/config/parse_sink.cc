// SPDX-License-Identifier: BSD-3-Clause
// Section `sinks`: on which ports an endpoint receives, and how.
#include <algorithm>
#include <array>

#include "config/reader.h"
#include "config/text/problems.h"
#include "endpoints/config/endpoint_sections.h"

namespace surety::config {
namespace {

using endpoints::AckPolicy;
using endpoints::SinkParams;

constexpr Bytes kMaxWindow{1'000'000'000};  // RFC 7323 2.2: below 2^30

struct Word {
  std::string_view word;
  endpoints::Transport transport;
};
constexpr std::array kWords{Word{"tcp", endpoints::Transport::tcp}, Word{"udp", endpoints::Transport::udp},
                            Word{"dccp", endpoints::Transport::dccp},
                            Word{"dccp-udp", endpoints::Transport::dccp_udp},
                            Word{"iperf3", endpoints::Transport::tcp}};

// `tcp 5001`.
bool read_listen(const Node& node, Listen& out, Problems& problems) {
  const auto* text = text_of(node, "a protocol and a port like `tcp 5001`", problems);
  if (!text) return false;
  const auto space = text->find(' ');
  const std::string_view word = std::string_view(*text).substr(0, space);
  const auto* found =
      std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return w.word == word; });
  if (found == kWords.end()) {
    std::vector<std::string_view> words;
    words.reserve(kWords.size());
    for (const auto& w : kWords) words.push_back(w.word);
    problems.error(node.mark, "no sink is called {}{}", quote(word), hint(word, words));
    return false;
  }
  const auto port = parse_integer(space == text->npos ? "" : std::string_view(*text).substr(space), 1, 65535);
  if (!port.value) {
    problems.error(node.mark, "{} is not a protocol and a port; write it like `{} 5001`", quote(*text), word);
    return false;
  }
  out = {found->transport, static_cast<std::uint16_t>(*port.value), word == "iperf3"};
  return true;
}

void read_sink(const Node& node, Sink& sink, std::vector<Mark>& places, EndpointsDraft& draft) {
  auto& problems = draft.problems;
  MapReader map(node, "a sink", problems);
  sink.port = EndpointsDraft::kUnknown;
  if (const Node* n = map.require("port"))
    sink.port = draft.base.ports.resolve(*n, "port", problems).value_or(EndpointsDraft::kUnknown);
  if (const Node* n = map.require("listen")) {
    for (const Node* item : list_of(*n)) {
      Listen listen;
      if (!read_listen(*item, listen, problems)) continue;
      sink.listen.push_back(listen);
      places.push_back(item->mark);
    }
    if (n->kind == Node::Kind::sequence && n->items.empty())
      problems.error(n->mark, "the list is empty: a sink needs something to listen on, like `tcp 5001`");
  }
  read_sink_params(map, sink.params, problems);
  if (map.read("window", sink.params.window) && sink.params.window > kMaxWindow)
    problems.error(map.at("window"), "a window is at most 1 GB");
}

}  // namespace

void read_sink_params(MapReader& map, SinkParams& params, Problems& problems) {
  map.read_word("ack", params.ack, {{"every", AckPolicy::every}, {"delayed", AckPolicy::delayed}});
  const Node* in = map.find("in");
  if (!in) return;
  params.in_dscps = 0;
  for (const Node* n : list_of(*in)) {
    Dscp dscp = 0;
    if (read_dscp(*n, dscp, problems)) params.in_dscps |= std::uint64_t{1} << dscp;
  }
}

void read_sinks(const Node& node, EndpointsDraft& draft) {
  for (const Node* n : sequence(node, "sinks, like `- {port: p0, listen: [tcp 5001]}`", draft.problems)) {
    read_sink(*n, draft.config.sinks.emplace_back(), draft.listen_places.emplace_back(), draft);
  }
}

}  // namespace surety::config
