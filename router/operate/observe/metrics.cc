// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/metrics.h"

#include <string>
#include <string_view>
#include <utility>

#include "router/operate/observe/reading_json.h"

namespace surety {
namespace {

using namespace metrics;

void ports(Families& out, const Reading& r) {
  using C = PortCounters;
  CounterOrder<C> order;
  const auto counters = [&](const auto& infos) {
    each_counter(out, infos, [&](Family& family, auto member) {
      for (const PortReading& p : r.ports) family.add({{"port", p.name}}, p.counters.*member);
    });
  };
  const auto family = [&](MetricType type, const char* name, const char* help, auto value) {
    each(
        out, type, name, help, r.ports,
        [](const PortReading& p) {
          return Labels{{"port", p.name}};
        },
        value);
  };
  using P = const PortReading&;
  counters(order.next({&C::rx_packets, &C::rx_bytes, &C::tx_packets, &C::tx_bytes}));
  family(MetricType::Counter, "surety_port_rx_missed_total",
         "Packets dropped by the device before the router received them: its receive queue was full.",
         [](P p) { return p.rx_missed; });
  counters(order.next({&C::forwarded, &C::signals, &C::originated}));
  family(MetricType::Gauge, "surety_port_handover_packets",
         "Packets handed to the worker that owns this egress port and not yet taken by it.",
         [](P p) { return static_cast<double>(p.handover); });
  counters(order.rest());
  family(MetricType::Gauge, "surety_port_queued_packets", "Packets that wait for transmission here.",
         [](P p) { return p.queued; });
  Family up(MetricType::Gauge, "surety_port_up", "Whether the link is up.");
  for (P p : r.ports)
    if (p.name != kGonePorts) up.add({{"port", p.name}}, p.up ? 1.0 : 0.0);
  up.move_to(out);
  Family missing(MetricType::Gauge, "surety_port_missing",
                 "Whether the device of the port is missing; the port is opened when the device appears.");
  for (P p : r.ports)
    if (p.name != kGonePorts) missing.add({{"port", p.name}}, p.missing ? 1.0 : 0.0);
  missing.move_to(out);
  family(MetricType::Counter, "surety_port_link_changes_total",
         "Changes of the link state, to up or to down.", [](P p) { return p.link_changes; });
  family(MetricType::Gauge, "surety_port_speed_bytes_per_second",
         "Speed of the link, if the device reports it.", [](P p) { return p.speed_bytes_per_second; });
  family(MetricType::Gauge, "surety_port_shape_bytes_per_second",
         "Rate of the shaper of the port, if it has one.", [](P p) { return p.shape_bytes_per_second; });
}

// A template's members have series of their own beside it: sums must leave out one of them (label `of`).
void interfaces(Families& out, const Reading& r) {
  using I = const InterfaceReading&;
  const auto family = [&](const char* name, const char* help, std::uint64_t InterfaceCount::*member) {
    each(
        out, MetricType::Counter, name, help, r.interfaces,
        [](I i) {
          return Labels{{"interface", i.name}, {"port", i.port}, {"customer", i.customer}, {"of", i.of}};
        },
        [&](I i) { return i.counters.*member; });
  };
  using C = InterfaceCount;
  family("surety_interface_rx_packets_total", "Frames received with the tags of an interface.",
         &C::rx_packets);
  family("surety_interface_rx_bytes_total",
         "Bytes of frames received with the tags of an interface, including tags, without FCS.",
         &C::rx_bytes);
  family("surety_interface_tx_packets_total", "Frames transmitted with the tags of an interface.",
         &C::tx_packets);
  family("surety_interface_tx_bytes_total",
         "Bytes of frames transmitted with the tags of an interface, including tags, without FCS.",
         &C::tx_bytes);
}

// Series for every reason of every port.
template <class Infos, class Counts>
void by_reason(Families& out, const char* name, const char* help, const Reading& r, const Infos& reasons,
               Counts PortCounters::*counts) {
  Family family(MetricType::Counter, name, help);
  for (const PortReading& port : r.ports)
    for (std::size_t i = 0; i < reasons.size(); ++i)
      family.add({{"port", port.name}, {"reason", std::string(reasons[i].name)}}, (port.counters.*counts)[i]);
  family.move_to(out);
}

void refusals(Families& out, const Reading& r) {
  Family drops(MetricType::Counter, "surety_drops_total",
               "Packets dropped, by reason; group policy: the configuration asks for it, error: a defect of "
               "a packet, the network or the machine.");
  for (const PortReading& port : r.ports) {
    for (std::size_t i = 0; i < kDropReasons; ++i) {
      const DropReasonInfo& reason = kDropReasonInfo[i];
      drops.add({{"port", port.name},
                 {"stage", std::string(reason.stage)},
                 {"reason", std::string(reason.name)},
                 {"group", reason.group == DropGroup::policy ? "policy" : "error"}},
                port.counters.drops[i]);
    }
  }
  drops.move_to(out);
  by_reason(out, "surety_punted_packets_total", "Packets handed to the kernel, by reason.", r,
            kPuntReasonInfo, &PortCounters::punted);
  by_reason(out, "surety_degraded_packets_total",
            "Packets forwarded as best effort instead of by their service, by reason.", r, kDegradeReasonInfo,
            &PortCounters::degraded);
}

void exceptions(Families& out, const Reading& r) {
  Family frames(MetricType::Counter, "surety_exception_frames_total",
                "Frames between a port and the kernel or the built-in responder, by result.");
  Family kernel(MetricType::Counter, "surety_kernel_frames_total",
                "Frames that arrived at the kernel's device of a port, by class and result: passed to the "
                "kernel, limited (dropped), or for the data plane.");
  Family responder(MetricType::Counter, "surety_responder_frames_total",
                   "Frames that the built-in responder handled, by result.");
  for (const PortReading& p : r.ports) {
    for (std::size_t i = 0; i < kExceptionResults; ++i) {
      const ExceptionResultInfo& info = kExceptionResultInfo[i];
      frames.add({{"port", p.name}, {"way", std::string(info.way)}, {"result", std::string(info.name)}},
                 p.exceptions[i]);
    }
    for (const KernelCount& k : p.kernel)
      kernel.add({{"port", p.name}, {"class", std::string(k.frame_class)}, {"result", std::string(k.result)}},
                 k.frames);
    for (const NamedCount& n : p.responder)
      responder.add({{"port", p.name}, {"result", std::string(n.name)}}, n.count);
  }
  frames.move_to(out);
  kernel.move_to(out);
  responder.move_to(out);
  each(
      out, MetricType::Counter, "surety_icmp_errors_total",
      "ICMP errors about packets that cannot be forwarded, by result.", r.icmp_errors,
      [](const NamedCount& n) {
        return Labels{{"result", std::string(n.name)}};
      },
      [](const NamedCount& n) { return n.count; });
}

Histogram histogram(const SojournHistogram& sojourn) {
  Histogram result;
  for (std::size_t i = 0; i < SojournHistogram::kBuckets; ++i) {
    result.sample_count += sojourn.counts[i];
    result.bucket.push_back({result.sample_count, sojourn_bound(i)});
  }
  result.sample_count += sojourn.counts.back();
  result.sample_sum = static_cast<double>(sojourn.sum_ns) * 1e-9;
  return result;
}

// Queues, also of interfaces; a template's members have series of their own beside it, as in interfaces().
void queues(Families& out, const Reading& r) {
  const auto own = [](const QueueReading& q) {
    Labels labels{{"port", q.port}, {"queue", q.name}};
    if (!q.interface.empty()) {
      labels.push_back({"interface", q.interface});
      labels.push_back({"of", q.of});
    }
    return labels;
  };
  const auto labels = [&](const QueueReading& q, const char* precedence) {
    Labels all = own(q);
    all.push_back({"precedence", precedence});
    return all;
  };
  Family depth(MetricType::Gauge, "surety_queue_depth_packets", "Packets in the queue.");
  for (const QueueReading& q : r.queues)
    for (const Precedence p : {Precedence::in, Precedence::out})
      depth.add(labels(q, name(p)), std::uint64_t{q.depth[index(p)]});
  depth.move_to(out);

  each(out, MetricType::Gauge, "surety_queue_limit_packets",
       "Packets of any size that the queue has room for; it has room for more small ones.", r.queues, own,
       [](const QueueReading& q) { return std::uint64_t{q.limit}; });
  Family average(MetricType::Gauge, "surety_queue_average_packets",
                 "RIO's moving averages: of IN packets, and of all packets (precedence total).");
  for (const QueueReading& q : r.queues)
    if (q.has_rio) {
      average.add(labels(q, "in"), q.average_in);
      average.add(labels(q, "total"), q.average_total);
    }
  average.move_to(out);

  Family thresholds(
      MetricType::Gauge, "surety_queue_threshold_packets",
      "RIO's thresholds for its moving averages (OUT packets: for the average of all packets).");
  for (const QueueReading& q : r.queues)
    for (const Precedence p : {Precedence::in, Precedence::out})
      if (q.thresholds)
        for (const auto& [bound, packets] : {std::pair("min", (*q.thresholds)[index(p)].min),
                                             std::pair("max", (*q.thresholds)[index(p)].max)}) {
          Labels all = labels(q, name(p));
          all.push_back({"bound", bound});
          thresholds.add(all, packets);
        }
  thresholds.move_to(out);

  each_counter(out, QueueCounters::table(), [&](Family& family, auto member) {
    for (const QueueReading& q : r.queues)
      for (const Precedence p : {Precedence::in, Precedence::out})
        family.add(labels(q, name(p)), q.counters[index(p)].*member);
  });

  each(out, MetricType::Gauge, "surety_queue_congested",
       "Whether the queue is congested: RIO's total average above out.min.", r.queues, own,
       [](const QueueReading& q) { return q.congested ? 1.0 : 0.0; });
  Family sojourn(MetricType::Histogram, "surety_queue_sojourn_seconds",
                 "How long packets stayed in the queue.");
  for (const QueueReading& q : r.queues)
    if (q.has_sojourn) sojourn.add(own(q), histogram(q.sojourn));
  sojourn.move_to(out);

  Family below(
      MetricType::Histogram, "surety_port_sojourn_seconds",
      "How long packets stayed in the queues of a port and its interfaces, where these have queues.");
  for (const PortReading& p : r.ports)
    for (std::size_t plane = 0; p.sojourns && plane < p.sojourns->size(); ++plane)
      below.add({{"port", p.name}, {"classes", plane == 0 ? "strict" : "weighted"}},
                histogram((*p.sojourns)[plane]));
  below.move_to(out);
}

void services(Families& out, const Reading& r) {
  using C = ServiceCounters;
  using S = const ServiceReading&;
  CounterOrder<C> order;
  const auto counters = [&](const auto& infos) {
    each_counter(out, infos, [&](Family& family, auto member) {
      for (S s : r.services) family.add({{"service", s.name}}, s.counters.*member);
    });
  };
  const auto gauge = [&](const char* name_of_family, const char* help, auto value) {
    each(
        out, MetricType::Gauge, name_of_family, help, r.services,
        [](S s) {
          return Labels{{"service", s.name}};
        },
        value);
  };
  each_counter(out, C::table_by_precedence(), [&](Family& family, auto member) {
    for (S s : r.services)
      for (const Precedence p : {Precedence::in, Precedence::out})
        family.add({{"service", s.name}, {"precedence", name(p)}}, (s.counters.*member)[index(p)]);
  });
  gauge(
      "surety_service_respect_ratio",
      "Delivered of guaranteed bytes over the last ten seconds, at most 1; absent if nothing was guaranteed.",
      [](S s) { return s.respect_ratio; });
  counters(order.next({&C::dropped, &C::held, &C::contracts}));
  gauge("surety_service_committed_bytes_per_second",
        "Committed rate: the service's rate times its contracts.",
        [](S s) { return s.committed_bytes_per_second; });
  gauge("surety_service_achieved_bytes_per_second", "Rate delivered, IN and OUT, over the last seconds.",
        [](S s) { return s.achieved_bytes_per_second; });
  counters(order.rest());
}

void sold(Families& out, const Reading& r) {
  if (!r.sold) return;
  using S = const config::Sale&;
  const auto family = [&](const char* name_of_family, const char* help, auto value) {
    each(
        out, MetricType::Gauge, name_of_family, help, *r.sold,
        [](S s) {
          return Labels{{"port", s.port},
                        {"group", s.group},
                        {"interface", s.interface},
                        {"queue", s.queue},
                        {"direction", s.way == config::Sale::Way::up ? "up" : "down"}};
        },
        value);
  };
  family("surety_sold_bytes_per_second",
         "Committed capacity: the rate that contracts commit (up) or that shapers pass (down); for a "
         "template, of each member.",
         [](S s) { return s.sold.bytes_per_second(); });
  family("surety_capacity_bytes_per_second", "Capacity for the committed rates, if it is known.",
         [](S s) { return s.capacity ? std::optional(s.capacity->bytes_per_second()) : std::nullopt; });
}

void filters(Families& out, const Reading& r) {
  each(
      out, MetricType::Counter, "surety_filter_packets_total",
      "Packets decided by an entry of a filter, or by none (default). A flow with a record counts with its "
      "first packet, and with the first after a reload; all other packets count each.",
      r.filters,
      [](const FilterReading& f) {
        return Labels{{"filter", f.filter}, {"entry", f.entry}, {"action", f.action()}};
      },
      [](const FilterReading& f) { return f.packets; });
}

void workers(Families& out, const Reading& r) {
  Family cycles(MetricType::Counter, "surety_worker_cycles_total",
                "TSC cycles of turns that found packets (busy) and of those that found none (idle).");
  for (const WorkerReading& w : r.workers) {
    cycles.add({{"worker", std::to_string(w.core)}, {"state", "busy"}}, w.counters.busy_cycles);
    cycles.add({{"worker", std::to_string(w.core)}, {"state", "idle"}}, w.counters.idle_cycles);
  }
  cycles.move_to(out);
  each(
      out, MetricType::Gauge, "surety_worker_busy_ratio",
      "Share of the last second in which a worker was busy.", r.workers,
      [](const WorkerReading& w) {
        return Labels{{"worker", std::to_string(w.core)}};
      },
      [](const WorkerReading& w) { return w.busy_ratio; });
  each_counter(out, WorkerCounters::table(), [&](Family& family, auto member) {
    for (const WorkerReading& w : r.workers)
      family.add({{"worker", std::to_string(w.core)}}, w.counters.*member);
  });
  each(
      out, MetricType::Gauge, "surety_worker_flows", "Flows in the flow table of a worker.", r.workers,
      [](const WorkerReading& w) {
        return Labels{{"worker", std::to_string(w.core)}};
      },
      [](const WorkerReading& w) { return w.flows; });
  Family stage_cycles(MetricType::Counter, "surety_stage_cycles_total", "TSC cycles spent in a stage.");
  Family stage_packets(MetricType::Counter, "surety_stage_packets_total", "Packets processed by a stage.");
  for (std::size_t i = 0; i < kStages; ++i) {
    stage_cycles.add({{"stage", std::string(kStageNames[i])}}, r.stages.cycles[i]);
    stage_packets.add({{"stage", std::string(kStageNames[i])}}, r.stages.packets[i]);
  }
  stage_cycles.move_to(out);
  stage_packets.move_to(out);
}

void top_flows(Families& out, const Reading& r) {
  Family bytes(MetricType::Gauge, "surety_top_flow_bytes",
               "Bytes of the largest flows; a gauge, because the flow of a slot changes.");
  for (std::size_t slot = 0; slot < r.top_flows.size(); ++slot) {
    const FlowReading& f = r.top_flows[slot];
    for (const Precedence p : {Precedence::in, Precedence::out})
      bytes.add({{"slot", std::to_string(slot)},
                 {"source", f.source},
                 {"destination", f.destination},
                 {"protocol", f.protocol},
                 {"service", f.service},
                 {"precedence", name(p)}},
                p == Precedence::in ? f.in_bytes : f.out_bytes);
  }
  bytes.move_to(out);
}

// Standard names of Prometheus for every process.
void process(Families& out, const ProcessUse& p) {
  constexpr auto gauge = MetricType::Gauge;
  single(out, MetricType::Counter, "process_cpu_seconds_total",
         "CPU time of all threads, including polling workers.", p.cpu_seconds);
  single(out, gauge, "process_resident_memory_bytes", "Memory of the process that is in RAM.",
         p.resident_bytes);
  single(out, gauge, "process_start_time_seconds", "When the process started.", p.start_time_seconds);
  single(out, gauge, "process_open_fds", "Open file descriptors.", p.open_fds);
  single(out, gauge, "process_max_fds", "Limit of open file descriptors.", p.max_fds);
}

void router(Families& out, const Reading& r) {
  constexpr auto gauge = MetricType::Gauge;
  single(out, gauge, "surety_build_info",
         "Always 1; the labels give the router's name, version and configuration.", 1.0,
         {{"version", r.version}, {"router", r.router_name}, {"config_hash", r.config_hash}});
  single(out, gauge, "surety_uptime_seconds", "Time since the start.", r.uptime_seconds);
  single(out, gauge, "surety_config_last_reload_successful", "Whether the last reload was accepted.",
         r.last_reload_successful ? 1.0 : 0.0);
  single(out, MetricType::Counter, "surety_config_reloads_total",
         "Configurations accepted by reloads since the start.", r.reloads);
  single(out, MetricType::Counter, "surety_config_reload_failures_total",
         "Configurations refused by reloads since the start; the previous one stayed in effect.",
         r.reload_failures);
  single(out, gauge, "surety_config_reload_seconds", "Time that the last reload took, accepted or refused.",
         r.reload_seconds);
  single(out, gauge, "surety_config_last_reload_timestamp_seconds",
         "When the configuration in effect was accepted, by a reload or at the start.",
         r.last_reload_timestamp);
  single(out, gauge, "surety_mempool_available", "Packet buffers free.", r.mempool_available);
  single(out, gauge, "surety_mempool_size", "Packet buffers in all.", r.mempool_size);
  single(out, gauge, "surety_routes", "Routes in the FIB.", r.routes);
  single(out, gauge, "surety_routes_rejected", "Routes that the FIB has no room for.", r.routes_rejected);
  single(out, gauge, "surety_neighbors", "Neighbors whose MAC address is known.", r.neighbors);
  single(out, gauge, "surety_flow_table_capacity", "Flows that fit into the flow tables.", r.flow_capacity);
}

}  // namespace

Families render(const Reading& reading) {
  Families out;
  router(out, reading);
  ports(out, reading);
  interfaces(out, reading);
  refusals(out, reading);
  exceptions(out, reading);
  queues(out, reading);
  services(out, reading);
  metrics::contracts(out, reading);
  sold(out, reading);
  filters(out, reading);
  metrics::congestion(out, reading);
  workers(out, reading);
  top_flows(out, reading);
  process(out, reading.process);
  return out;
}

}  // namespace surety
