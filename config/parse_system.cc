// SPDX-License-Identifier: BSD-3-Clause
// Sections `metrics`, `log`, `flow_table`, `dpdk` and `kernel`.
#include "config/address.h"
#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

constexpr std::uint64_t kMaxTopFlows = 1000, kMaxContracts = 100'000;  // metrics have a ceiling on series
constexpr std::uint64_t kMinFlows = 64, kMaxFlows = 1 << 26;
constexpr std::uint64_t kMaxCreations = 100'000'000;  // a second
constexpr std::uint32_t kMaxHeld = (1 << 24) - 1;
constexpr Duration kMaxIdle = std::chrono::hours(24);  // flow records count ticks in 32 bits
constexpr Bytes kMaxMemory{1'000'000'000'000};

bool is_listen(std::string_view s) {
  const auto colon = s.rfind(':');
  if (colon == s.npos || colon == 0) return false;
  const auto port = parse_integer(s.substr(colon + 1), 1, 65535);
  auto host = s.substr(0, colon);
  if (host.starts_with('[')) {
    const auto a = host.ends_with(']') ? parse_address(host.substr(1, host.size() - 2)) : std::nullopt;
    return port.value && a && a->is_v6();
  }
  return port.value && host.find_first_of(":[] /") == host.npos;
}

bool is_loopback(std::string_view listen) {
  const auto host = listen.substr(0, listen.rfind(':'));
  return host.starts_with("127.") || host == "[::1]" || host == "localhost";
}

void read_tls(const Node& node, Metrics::Tls& tls, Draft& draft) {
  MapReader map(node, "`tls`", draft.problems);
  if (map.required("cert_file", tls.cert_file))
    tls.cert_file = draft.file_name(tls.cert_file, map.at("cert_file"));
  if (map.required("key_file", tls.key_file))
    tls.key_file = draft.file_name(tls.key_file, map.at("key_file"));
}

void warn_of_readers(const Metrics& m, Mark at, Problems& problems) {
  if (m.listen.empty() || is_loopback(m.listen)) return;
  if (m.password_file.empty())
    problems.warning(at,
                     "any host that reaches this address can read the metrics: set a password "
                     "(`password_file`, with `tls`), or listen on 127.0.0.1");
  else if (!m.tls)
    problems.warning(at, "the password crosses the network unencrypted: add `tls`");
}

}  // namespace

void read_metrics(const Node& node, Draft& draft) {
  auto& m = draft.config.metrics;
  MapReader map(node, "`metrics`", draft.problems);
  if (const Node* n = map.find("listen")) {
    const auto* text = text_of(*n, "`HOST:PORT` or `off`", draft.problems);
    const bool off = text && parse_flag(*text).value == false;
    if (text && !off && !is_listen(*text)) {
      draft.problems.error(n->mark, "{} is not `HOST:PORT` (like `127.0.0.1:9464` or `[::1]:9464`) or `off`",
                           quote(*text));
    } else if (text) {
      m.listen = off ? "" : *text;
    }
  }
  if (const Node* n = map.find("tls")) read_tls(*n, m.tls.emplace(), draft);
  if (map.read("password_file", m.password_file))
    m.password_file = draft.file_name(m.password_file, map.at("password_file"));
  map.read("console", m.console);
  warn_of_readers(m, map.at("listen"), draft.problems);
  read_integer(map.find("top_flows"), 0, kMaxTopFlows, m.top_flows, draft.problems);
  read_integer(map.find("contracts"), 0, kMaxContracts, m.contracts, draft.problems);
  if (const Node* n = map.find("report")) {
    const auto* text = text_of(*n, "a directory or `off`", draft.problems);
    if (text != nullptr) m.report = parse_flag(*text).value == false ? "" : draft.file_name(*text, n->mark);
  }
  map.read("report_size", m.report_size);
}

void read_log(const Node& node, Draft& draft) {
  using Level = Log::Level;
  MapReader map(node, "`log`", draft.problems);
  map.read_word("format", draft.config.log.format,
                {{"text", Log::Format::text}, {"json", Log::Format::json}});
  map.read_word("level", draft.config.log.level,
                {{"error", Level::error},
                 {"warning", Level::warning},
                 {"notice", Level::notice},
                 {"info", Level::info},
                 {"debug", Level::debug}});
}

void read_flow_table(const Node& node, Draft& draft) {
  auto& f = draft.config.flow_table;
  MapReader map(node, "`flow_table`", draft.problems);
  read_integer(map.find("capacity"), kMinFlows, kMaxFlows, f.capacity, draft.problems);
  read_integer(map.find("creation_rate"), 0, kMaxCreations, f.creation_rate, draft.problems);
  map.read("idle_timeout", f.idle_timeout);
  if (f.idle_timeout < std::chrono::milliseconds(10) || f.idle_timeout > kMaxIdle) {
    draft.problems.error(map.at("idle_timeout"), "an idle timeout is from 10 ms to 24 h");
  }
  read_packets(map.find("held"), 1, kMaxHeld, f.held_packets, draft.problems);
}

void read_dpdk(const Node& node, Draft& draft) {
  using Pages = Dpdk::Hugepages;
  auto& d = draft.config.dpdk;
  MapReader map(node, "`dpdk`", draft.problems);
  map.read_word("hugepages", d.hugepages,
                {{"auto", Pages::automatic}, {"on", Pages::on}, {"off", Pages::off}});
  Bytes memory;
  if (map.read("memory", memory)) {
    if (memory > kMaxMemory) draft.problems.error(map.at("memory"), "at most 1000 GB of memory");
    d.memory_mb = static_cast<std::uint32_t>((std::min(memory, kMaxMemory).count() + 999'999) / 1'000'000);
  }
  read_integer(map.find("mbufs"), 1024, 1 << 26, d.mbufs, draft.problems);
  read_integer(map.find("max_routes"), 16, 1 << 24, d.max_routes, draft.problems);
  const Node* eal = map.find("eal");
  if (!eal) return;
  for (const Node* n : sequence(*eal, "EAL arguments, like `[--no-telemetry]`", draft.problems)) {
    std::string argument;
    if (read_value(*n, argument, draft.problems)) d.extra.push_back(std::move(argument));
  }
}

void read_icmp(const Node& node, Draft& draft) {
  MapReader map(node, "`icmp`", draft.problems);
  map.read("interface_information", draft.config.icmp.interface_information);
}

void read_kernel(const Node& node, Draft& draft) {
  auto& k = draft.config.kernel;
  MapReader map(node, "`kernel`", draft.problems);
  map.read("routes", k.routes);
  map.read("addresses", k.addresses);
  map.read("static_routes", k.static_routes);
}

}  // namespace surety::config
