// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/reading_fields.h"

#include <numeric>

namespace surety::fields {
namespace {

// "lan0, wan0:1": names, as many as a string of the wire has room for.
std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kRoom = 120;
  std::string text;
  for (const std::string& name : names) {
    if (text.size() + name.size() > kRoom) return text + " ...";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

std::string owned_by(const WorkerRow& w) {
  std::vector<std::string> names;
  for (const PortReading& p : w.reading.ports)
    if (p.owner_core == w.worker.core) names.push_back(p.name);
  return joined(names);
}

// A port's queue with its number where there are several.
std::string read_by(const WorkerRow& w) {
  std::vector<std::string> names;
  for (const PortReading& p : w.reading.ports)
    for (std::size_t q = 0; q < p.rx_cores.size(); ++q)
      if (p.rx_cores[q] == w.worker.core)
        names.push_back(p.rx_cores.size() == 1 ? p.name : p.name + ':' + std::to_string(q));
  return joined(names);
}

template <std::size_t n>
std::uint64_t all(const std::array<std::uint64_t, n>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

std::uint64_t signals_sent(const Reading& r) {
  std::uint64_t n = 0;
  for (const SignalSenderReading& sender : r.signalling.senders) n += sender.sent;
  return n;
}

// Series by result or reason.
template <class Infos, class Counts, class LabelsOf>
Json series(const Infos& infos, const Counts& counts, LabelsOf labels_of) {
  Json all = Json::array();
  for (std::size_t i = 0; i < infos.size(); ++i) {
    all.push_back(labels_of(infos[i]));
    all.back().push_back(counts[i]);
  }
  return all;
}
constexpr auto by_name = [](const auto& info) { return Json::array({info.name}); };

Json drop_series(const PortReading& p) {
  return series(kDropReasonInfo, p.counters.drops, [](const DropReasonInfo& r) {
    return Json::array({r.stage, r.name, r.group == DropGroup::policy ? "policy" : "error"});
  });
}

Json exception_series(const PortReading& p) {
  return series(kExceptionResultInfo, p.exceptions, [](const ExceptionResultInfo& r) {
    return Json::array({r.way, r.name});
  });
}

Json kernel_series(const PortReading& p) {
  Json all = Json::array();
  for (const KernelCount& k : p.kernel) all.push_back({k.frame_class, k.result, k.frames});
  return all;
}

Json responder_series(const PortReading& p) {
  Json all = Json::array();
  for (const NamedCount& n : p.responder) all.push_back({n.name, n.count});
  return all;
}

Json punt_reasons(const PortReading& p) {
  Json reasons = Json::object();
  for (std::size_t i = 0; i < kPuntReasons; ++i)
    reasons[std::string(kPuntReasonInfo[i].name)] = p.counters.punted[i];
  return reasons;
}

// The row of all removed ports has no link.
Json unless_gone(const PortReading& p, bool value) {
  return p.name == kGonePorts ? Json() : Json(value);
}

std::optional<double> p99(const PortReading& p, std::size_t plane) {
  return p.sojourns ? sojourn_quantile((*p.sojourns)[plane], 0.99) : std::nullopt;
}

std::optional<double> sojourn(const QueueReading& q, double quantile) {
  return q.has_sojourn ? sojourn_quantile(q.sojourn, quantile) : std::nullopt;
}

Json averages(const QueueReading& q) {
  if (!q.has_rio) return Json::array();
  return Json::array({{"in", q.average_in}, {"total", q.average_total}});
}

Json thresholds(const QueueReading& q) {
  if (!q.thresholds) return Json::array();
  const auto& [in, out, red] = *q.thresholds;
  Json all = {{"in", "min", in.min}, {"in", "max", in.max}, {"out", "min", out.min}, {"out", "max", out.max}};
  if (q.has_red) all.insert(all.end(), {Json{"red", "min", red.min}, Json{"red", "max", red.max}});
  return all;
}

Json side(const QueueReading& q, Precedence p) {
  Json counts = {{"depth", q.depth[index(p)]}, {"limit", p == Precedence::in ? q.limit : q.out_limit}};
  for (const auto& info : QueueCounters::table()) counts[info.name] = q.counters[index(p)].*info.member;
  if (!q.thresholds) return counts;
  const RedParams& red = (*q.thresholds)[index(p)];
  counts.update({{"min", red.min}, {"max", red.max}, {"pmax_ratio", red.pmax.value()}});
  return counts;
}

Column state(std::string title, const std::string& path) {
  Column c = text(std::move(title), path);
  c.cell = [](const Json& row) {
    return row.value("missing", false) ? "missing" : row.value("up", false) ? "up" : "down";
  };
  return c;
}

}  // namespace

// clang-format off

using R = Reading;
const Table<Reading> kRouter({
  .columns = "... signals_sent",
  .metrics = "uptime_seconds last_reload_successful ... mempool_available mempool_size routes routes_rejected neighbors flow_capacity",
}, {
  {"name", first(&R::router_name), {"ROUTER", text}},
  {"version", &R::version, {"VERSION", text}},
  {"config_hash", &R::config_hash, {"CONFIG", text}},
  {"uptime_seconds", &R::uptime_seconds, {"UPTIME", elapsed}, {"surety_uptime_seconds", "Time since the start."}},
  {"flows", sum(&R::flows), {"FLOWS", count}},
  {"flow_capacity", sum(&R::flow_capacity), {"OF", count}, {"surety_flow_table_capacity", "Flows that fit into the flow tables."}},
  {"routes", &R::routes, {"ROUTES", count}, {"surety_routes", "Routes in the FIB."}},
  {"routes_rejected", &R::routes_rejected, {"REJECTED", count}, {"surety_routes_rejected", "Routes that the FIB has no room for."}},
  {"neighbors", &R::neighbors, {"NEIGHBORS", count}, {"surety_neighbors", "Neighbors whose MAC address is known."}},
  {"mempool_available", &R::mempool_available, {"BUFFERS FREE", count}, {"surety_mempool_available", "Packet buffers free."}},
  {"mempool_size", &R::mempool_size, {"OF", count}, {"surety_mempool_size", "Packet buffers in all."}},
  {"reloads", &R::reloads, {"RELOADS", count}, {"surety_config_reloads_total", "Configurations accepted by reloads since the start."}},
  {"reload_failures", &R::reload_failures, {"REFUSED", count},
   {"surety_config_reload_failures_total", "Configurations refused by reloads since the start; the previous one stayed in effect."}},
  {"last_reload_successful", &R::last_reload_successful, {},
   {"surety_config_last_reload_successful", "Whether the last reload was accepted."}},
  {"last_reload_timestamp_seconds", &R::last_reload_timestamp, {},
   {"surety_config_last_reload_timestamp_seconds", "When the configuration in effect was accepted, by a reload or at the start."}},
  {"signals_sent", signals_sent, {"SIGNALS SENT", total}},
  // Prometheus' own names, for every process.
  {"cpu_seconds", [](const R& r) { return r.process.cpu_seconds; }, {"CPU", elapsed},
   {"process_cpu_seconds_total", "CPU time of all threads, including polling workers."}},
  {"resident_bytes", [](const R& r) { return r.process.resident_bytes; }, {"MEMORY", bytes},
   {"process_resident_memory_bytes", "Memory of the process that is in RAM."}},
  {"", [](const R& r) { return r.process.start_time_seconds; }, {}, {"process_start_time_seconds", "When the process started."}},
  {"open_fds", [](const R& r) { return r.process.open_fds; }, {}, {"process_open_fds", "Open file descriptors."}},
  {"", [](const R& r) { return r.process.max_fds; }, {}, {"process_max_fds", "Limit of open file descriptors."}},
  {"reload_seconds", &R::reload_seconds, {}, {"surety_config_reload_seconds", "Time that the last reload took, accepted or refused."}},
});

using P = PortReading;
const Table<PortReading> kPorts({
  .json = "name device up missing rx_packets rx_bytes",
  .columns = "name device up link_changes rx_packets tx_packets forwarded punted dropped degraded rx_missed held queued rx_bytes tx_bytes "
             "speed_bytes_per_second shape_bytes_per_second owner_core spread handover",
  .metrics = "rx_packets rx_bytes tx_packets tx_bytes rx_missed forwarded signals originated handover fragments enqueued held queued up "
             "missing dropped punted",
  .labels = "port=name",
}, {
  {"name", &P::name, {"PORT", text}},
  {"device", &P::device, {"DEVICE", text}},
  {"up", &P::up, {"STATE", state}, {"surety_port_up", "Whether the link is up.", "", [](const P& p) { return unless_gone(p, p.up); }}},
  {"missing", &P::missing, {},
   {"surety_port_missing", "Whether the device of the port is missing; the port is opened when the device appears.", "",
    [](const P& p) { return unless_gone(p, p.missing); }}},
  {"rx_missed", sum(&P::rx_missed), {"MISSED", total},
   {"surety_port_rx_missed_total", "Packets dropped by the device before the router received them: its receive queue was full."}},
}, counters<P>(PortCounters::table(), [](const P& p, auto member) { return p.counters.*member; }), {
  {"queued", sum(&P::queued), {"QUEUED", count}, {"surety_port_queued_packets", "Packets that wait for transmission here."}},
  {"handover", [](const P& p) { return static_cast<std::uint64_t>(std::max<std::int64_t>(p.handover, 0)); }, {"HANDOVER", count},
   {"surety_port_handover_packets", "Packets handed to the worker that owns this egress port and not yet taken by it.", "", &P::handover}},
  {"dropped", [](const P& p) { return all(p.counters.drops); }, {"DROPPED", total},
   {"surety_drops_total", "Packets dropped, by reason; group policy: the configuration asks for it, error: a defect of a packet, "
    "the network or the machine.", "stage reason group", drop_series}},
  {"degraded", [](const P& p) { return all(p.counters.degraded); }, {"DEGRADED", total},
   {"surety_degraded_packets_total", "Packets forwarded as best effort instead of by their service, by reason.", "reason",
    [](const P& p) { return series(kDegradeReasonInfo, p.counters.degraded, by_name); }}},
  {"punted", [](const P& p) { return all(p.counters.punted); }, {"PUNTED", total},
   {"surety_punted_packets_total", "Packets handed to the kernel, by reason.", "reason",
    [](const P& p) { return series(kPuntReasonInfo, p.counters.punted, by_name); }}},
  {"owner_core", first(&P::owner_core), {"OWNER", count}},
  {"rx_cores", first(&P::rx_cores)},
  {"spread", first(&P::spread), {"SPREAD", text}},
  {"punt_reasons", punt_reasons},
  {"link_changes", &P::link_changes, {"CHANGES", count},
   {"surety_port_link_changes_total", "Changes of the link state, to up or to down."}},
  {"speed_bytes_per_second", &P::speed_bytes_per_second, {"SPEED", rate},
   {"surety_port_speed_bytes_per_second", "Speed of the link, if the device reports it."}},
  {"shape_bytes_per_second", &P::shape_bytes_per_second, {"SHAPE", rate},
   {"surety_port_shape_bytes_per_second", "Rate of the shaper of the port, if it has one."}},
  {"strict_sojourn_p99_seconds", [](const P& p) { return p99(p, 0); }},
  {"data_sojourn_p99_seconds", [](const P& p) { return p99(p, 1); }},
  {"", sum(&P::exceptions), {},
   {"surety_exception_frames_total", "Frames between a port and the kernel or the built-in responder, by result.", "way result",
    exception_series}},
  {"", {}, {},
   {"surety_kernel_frames_total", "Frames that arrived at the kernel's device of a port, by class and result: passed to the kernel, "
    "limited (dropped), or for the data plane.", "class result", kernel_series}},
  {"", {}, {},
   {"surety_responder_frames_total", "Frames that the built-in responder handled, by result.", "result", responder_series}},
  {"", sum(&P::counters)},
  {"", sum(&P::sojourns)},
});

using I = InterfaceReading;
const Table<InterfaceReading> kInterfaces({
  .columns = "name port vlan customer members mtu rx_packets tx_packets",
  .labels = "interface=name port customer of",
}, {
  {"name", &I::name, {"INTERFACE", text}},
  {"port", &I::port, {"PORT", text}},
  {"customer", &I::customer, {"CUSTOMER", text}},
  {"vlan", &I::tags, {"VLAN", text}},
  {"mtu", &I::mtu, {"MTU", count}},
}, counters<I>(InterfaceCount::table(), [](const I& i, auto member) { return i.counters.*member; }), {
  {"shape_bytes_per_second", &I::shape_bytes_per_second, {"SHAPE", rate}},
  {"members", present(&I::members), {"MEMBERS", count}},
  {"of", present(&I::of)},
});

using Q = QueueReading;
const Table<QueueReading> kQueues({}, {
  {"", sum(&Q::depth), {},
   {"surety_queue_depth_packets", "Packets in the queue.", "precedence",
    [](const Q& q) { return series_of(q, q.depth[0], q.depth[1], q.depth[2]); }}},
  {"", {}, {},
   {"surety_queue_average_packets", "RIO's moving averages: of IN packets, and of all packets (precedence total).", "precedence", averages}},
  {"", {}, {},
   {"surety_queue_threshold_packets", "RIO's thresholds for its moving averages (OUT and red packets: for the average of all packets).",
    "precedence bound", thresholds}},
}, counters_by_precedence<Q>(QueueCounters::table(), [](const Q& q, auto member, std::size_t p) { return q.counters[p].*member; }), {
  {"port", &Q::port},
  {"name", &Q::name},
  {"rio", most(&Q::has_rio)},
  {"congested", most(&Q::congested), {},
   {"surety_queue_congested", "Whether the queue is congested: RIO's total average above out.min."}},
  {"limit", most(&Q::limit), {},
   {"surety_queue_limit_packets", "Packets of any size that the queue has room for; it has room for more small ones."}},
  {"interface", present(&Q::interface)},
  {"of", present(&Q::of)},
  {"members", present(&Q::members)},
  {"average_in", when(&Q::has_rio, sum(&Q::average_in))},
  {"average_total", when(&Q::has_rio, sum(&Q::average_total))},
  {"in", [](const Q& q) { return side(q, Precedence::in); }},
  {"out", [](const Q& q) { return side(q, Precedence::out); }},
  {"red", [](const Q& q) { return q.has_red ? side(q, Precedence::red) : Json(); }},
  {"sojourn_p50_seconds", [](const Q& q) { return sojourn(q, 0.5); }},
  {"sojourn_p99_seconds", [](const Q& q) { return sojourn(q, 0.99); }},
  {"sojourn_counts", [](const Q& q) { return q.has_sojourn ? Json(q.sojourn.counts) : Json(); }},
  {"", most(&Q::out_limit)},
  {"", sum(&Q::counters)},
  {"", sum(&Q::sojourn)},
});

using A = AggregateReading;
const Table<AggregateReading> kAggregates({.columns = "... remarked dropped", .labels = "aggregate=name"}, {
  {"name", &A::name, {"AGGREGATE", text}},
  {"port", &A::port, {"PORT", text}},
  {"queue", &A::queue, {"QUEUE", text}},
  {"tpr_bytes_per_second", sum(&A::tpr_bytes_per_second), {"TPR", rate},
   {"surety_ard_tpr_bytes_per_second", "Temporary permitted rate of IN packets."}},
  {"lambda_in_bytes_per_second", sum(&A::lambda_in_bytes_per_second), {"LAMBDA IN", rate}},
  {"lambda_out_bytes_per_second", sum(&A::lambda_out_bytes_per_second), {"LAMBDA OUT", rate}},
  {"tokens_bytes", sum(&A::tokens_bytes), {"TOKENS", bytes}},
  {"", sum(&A::counters)},
}, counters<A>(AggregateCounters::table(), [](const A& a, auto member) { return a.counters.*member; }));

const Table<DomainReading> kDomains({.labels = "domain=name"}, {
  {"name", &DomainReading::name, {"DOMAIN", text}},
  {"alpha_ratio", sum(&DomainReading::alpha), {"ALPHA", alpha},
   {"surety_csa_alpha_ratio", "CSA's alpha: the share of the committed rate granted to OUT packets."}},
});

using W = WorkerRow;
const Table<WorkerRow> kWorkers({.columns = "core busy_ratio flows owns reads", .labels = "worker=core"}, {
  {"core", [](const W& w) { return w.worker.core; }, {"CORE", count}},
  {"", {}, {},
   {"surety_worker_cycles_total", "TSC cycles of turns that found packets (busy) and of those that found none (idle).", "state",
    [](const W& w) {
      return Json::array({{"busy", w.worker.counters.busy_cycles}, {"idle", w.worker.counters.idle_cycles}});
    }}},
  {"flows", [](const W& w) { return w.worker.flows; }, {"FLOWS", count},
   {"surety_worker_flows", "Flows in the flow table of a worker."}},
}, counters<W>(WorkerCounters::table(), [](const W& w, auto member) { return w.worker.counters.*member; }), {
  {"busy_ratio", [](const W& w) { return w.worker.busy_ratio; }, {"BUSY", percent},
   {"surety_worker_busy_ratio", "Share of the last second in which a worker was busy."}},
  {"owns", owned_by, {"OWNS", text}},
  {"reads", read_by, {"READS", text}},
});

using Sender = SignalSenderReading;
const Table<SignalSenderReading> kSenders({}, {
  {"kind", [](const Sender&) { return "sender"; }},
  {"port", &Sender::port, {"PORT", text}},
  {"queue", &Sender::queue, {"QUEUE", text}},
  {"sent", sum(&Sender::sent), {"SENT", count}},
  {"limited", sum(&Sender::limited), {"LIMITED", count}},
  {"lost", sum(&Sender::lost), {"LOST", count}},
});

using Source = SignalSourceReading;
const Table<SignalSourceReading> kSources({}, {
  {"kind", [](const Source&) { return "source"; }},
  {"router", &Source::router, {"ROUTER", text}},
  {"port", &Source::port, {"PORT", count}},
  {"queue", &Source::queue, {"QUEUE", count}},
  {"signals", sum(&Source::signals), {"SIGNALS", count}},
  {"age_seconds", least(&Source::age_seconds), {"LAST", duration}},
});

using Path = SignalPathReading;
const Table<SignalPathReading> kPaths({.labels = "path domain"}, {
  {"kind", [](const Path&) { return "path"; }},
  {"path", &Path::path, {"PATH", text}},
  {"domain", &Path::domain, {"DOMAIN", text}},
  {"alpha_ratio", least(&Path::alpha), {"ALPHA", alpha},
   {"surety_csa_path_alpha_ratio", "CSA's alpha according to congestion signals, of the most throttled paths."}},
  {"applied_alpha_ratio", least(&Path::applied_alpha), {"APPLIED", alpha}},
});
// clang-format on

}  // namespace surety::fields
