// SPDX-License-Identifier: BSD-3-Clause
// A reading in which every table has rows and every optional value is there once and missing once.
#pragma once

#include "router/operate/observe/reading.h"

namespace surety::test {

inline std::uint64_t& drops(PortReading& port, DropReason reason) {
  return port.counters.drops[static_cast<std::size_t>(reason)];
}

inline std::vector<PortReading> sample_ports() {
  PortReading lan;
  lan.name = "lan0";
  lan.device = "af_xdp lan0";
  lan.counters.rx_packets = 1000;
  lan.counters.rx_bytes = 590'000;
  lan.counters.forwarded = 984;
  lan.counters.signals = 6;
  lan.counters.held = 4;
  drops(lan, DropReason::buffer) = 3;
  drops(lan, DropReason::ipv4_checksum) = 1;
  lan.counters.punted[static_cast<std::size_t>(PuntReason::arp)] = 2;
  lan.counters.degraded[static_cast<std::size_t>(DegradeReason::creation_limited)] = 5;
  lan.rx_missed = 7;
  lan.speed_bytes_per_second = 125'000'000;
  lan.link_changes = 3;
  lan.exceptions[static_cast<std::size_t>(ExceptionResult::to_twin)] = 2;
  lan.kernel = {{.frame_class = "arp", .result = "passed", .help = "ARP", .frames = 8},
                {.frame_class = "arp", .result = "limited", .help = "ARP", .frames = 0}};
  lan.responder = {{.name = "arp_reply", .help = "answered", .count = 3},
                   {.name = "malformed", .help = "cannot be", .count = 0}};
  lan.owner_core = 1;
  lan.rx_cores = {1, 2};
  lan.spread = "queues";
  PortReading wan;
  wan.name = "wan0";
  wan.device = "pci 0000:03:00.0";
  wan.up = false;
  wan.counters.enqueued = 990;
  wan.counters.tx_packets = 978;
  wan.counters.tx_bytes = 577'020;
  drops(wan, DropReason::early) = 2;
  wan.queued = 10;
  wan.shape_bytes_per_second = 4'250'000;
  wan.counters.originated = 8;
  wan.counters.handed_over = 402;
  wan.counters.taken_over = 400;
  wan.handover = 2;
  wan.owner_core = 2;
  wan.rx_cores = {2};
  wan.spread = "one";
  return {lan, wan};
}

inline std::vector<QueueReading> sample_queues() {
  QueueReading assured;
  assured.port = "wan0";
  assured.name = "assured";
  assured.counters[0] = {.arrivals = 600,
                         .departures = 595,
                         .departed_bytes = 342'720,
                         .early_drops = 0,
                         .forced_drops = 0,
                         .overflow_drops = 0,
                         .ecn_marks = 0};
  assured.counters[1] = {.arrivals = 390,
                         .departures = 383,
                         .departed_bytes = 220'608,
                         .early_drops = 2,
                         .forced_drops = 1,
                         .overflow_drops = 0,
                         .ecn_marks = 5};
  assured.limit = 200;
  assured.out_limit = 100;
  assured.depth = {5, 4};
  assured.average_in = 4.25;
  assured.average_total = 10.5;
  assured.has_rio = true;
  assured.thresholds = {{{20, 40, Probability(0.02)}, {10, 30, Probability(0.1)}}};
  assured.congested = true;
  assured.sojourn.counts[0] = 1;
  assured.sojourn.counts[3] = 97;
  assured.sojourn.counts[10] = 1;
  assured.sojourn.counts[SojournHistogram::kBuckets] = 1;
  assured.sojourn.sum_ns = 3'000'000'000;
  QueueReading control;
  control.port = "wan0";
  control.name = "control";
  control.limit = control.out_limit = 64;
  return {assured, control};
}

inline std::vector<ServiceReading> sample_services() {
  ServiceReading silver;
  silver.name = "silver";
  silver.conditioner = "csa";
  silver.counters.packets = {600, 300};
  silver.counters.bytes = {345'600, 172'800};
  silver.counters.lost = {2, 5};
  silver.counters.lost_bytes = {1'152, 2'880};
  silver.delivered_bytes = {344'448, 169'920};
  silver.counters.dropped = 3;
  silver.counters.dropped_bytes = 1'728;
  silver.counters.held = 4;
  silver.counters.contracts = 10;
  silver.counters.flows = 12;
  silver.committed_bytes_per_second = 1'250'000;
  silver.achieved_bytes_per_second = 1'625'000;
  silver.achieved_in_bytes_per_second = 1'233'750;
  silver.respect_ratio = 0.987;
  silver.objective = 0.999;
  silver.demanding_seconds = 500;
  silver.met_seconds = 499;
  ServiceReading best_effort;
  best_effort.name = "best-effort";
  best_effort.conditioner = "none";
  best_effort.counters.packets = {0, 90};
  best_effort.counters.bytes = {0, 9'000};
  best_effort.counters.flows = 1;
  return {silver, best_effort};
}

inline std::vector<ContractReading> sample_contracts() {
  ContractReading busy;
  busy.customer = "acme";
  busy.service = "silver";
  busy.contract = "acme.7";
  busy.committed_bytes_per_second = 500'000;
  busy.offered_bytes = 9'000;
  busy.delivered_bytes = {5'000, 2'000};
  const auto lose = [&](DropReason reason, std::uint64_t packets) {
    busy.lost.by_reason[static_cast<std::size_t>(std::find(kLossReasons.begin(), kLossReasons.end(), reason) -
                                                 kLossReasons.begin())] = packets;
  };
  lose(DropReason::police, 2);
  lose(DropReason::early, 7);
  lose(DropReason::neighbor_unresolved, 1);
  busy.down = false;
  busy.held = 3;
  busy.demanding_seconds = 60;
  busy.met_seconds = 45;
  busy.held_back_seconds = 9;
  busy.offered_bytes_per_second = 600'000;
  busy.delivered_bytes_per_second = 450'000;
  busy.delivered_in_bytes_per_second = 400'000;
  busy.met = false;
  busy.reason = DropReason::early;
  busy.respect_ratio = 0.8;
  busy.objective = 0.999;
  ContractReading asleep;
  asleep.customer = asleep.contract = "globex";
  asleep.service = "silver";
  return {busy, asleep};
}

inline SignallingReading sample_signalling() {
  SignallingReading s;
  s.mode = "act";
  s.received[static_cast<std::size_t>(SignalResult::applied)] = 6;
  s.received[static_cast<std::size_t>(SignalResult::forged)] = 1;
  s.senders = {{.port = "wan0", .queue = "assured", .sent = 7, .limited = 2, .lost = 1}};
  s.sources = {{.router = "192.0.2.2", .port = "1", .queue = "0", .signals = 6, .age_seconds = 0.25}};
  s.paths = {{.path = "10.9.0.0/24", .domain = "wan0/assured", .alpha = 0.12, .applied_alpha = 0.1}};
  return s;
}

inline Reading sample_reading() {
  Reading r;
  r.router_name = "edge1";
  r.version = "0.1.0";
  r.config_hash = "a1b2c3";
  r.uptime_seconds = 3723.5;
  r.ports = sample_ports();
  r.queues = sample_queues();
  r.services = sample_services();
  r.contracts = sample_contracts();
  r.filters = {{.filter = "from-acme", .entry = "1", .permit = true, .packets = 70},
               {.filter = "from-acme", .entry = "default", .permit = false, .packets = 8}};
  r.domains = {{.name = "wan0/assured", .alpha = 0.38}};
  r.aggregates = {{.name = "uplink-tcp",
                   .port = "wan0",
                   .queue = "assured",
                   .tpr_bytes_per_second = 2'125'000,
                   .lambda_in_bytes_per_second = 61'250,
                   .lambda_out_bytes_per_second = 88'750.5,
                   .tokens_bytes = 34'560,
                   .counters = {.remarked = 11, .dropped = 2, .passed_in = 600, .passed_out = 390}}};
  r.top_flows = {{.source = "10.1.0.1:5001",
                  .destination = "198.51.100.7:80",
                  .protocol = "tcp",
                  .service = "silver",
                  .vlan = 100,
                  .in_bytes = 1'500'000,
                  .out_bytes = 400,
                  .held = 4,
                  .idle_seconds = 0.0025}};
  r.flows = 13;
  r.flow_capacity = 65'536;
  r.workers = {{.core = 1,
                .counters = {.busy_cycles = 250, .idle_cycles = 750, .turns = 40},
                .flows = 9,
                .busy_ratio = 0.25},
               {.core = 2, .counters = {}, .flows = 4}};
  r.stages.cycles[static_cast<std::size_t>(Stage::parse)] = 13'000;
  r.stages.packets[static_cast<std::size_t>(Stage::parse)] = 1'000;
  r.routes = 5;
  r.routes_rejected = 2;
  r.neighbors = 3;
  r.mempool_available = 16'000;
  r.mempool_size = 16'384;
  r.reloads = 2;
  r.reload_failures = 1;
  r.reload_seconds = 0.125;
  r.last_reload_timestamp = 1'800'000'000.5;
  r.process = {.start_time_seconds = 1'799'999'000,
               .cpu_seconds = 61.5,
               .resident_bytes = 250'000'000,
               .open_fds = 40,
               .max_fds = 1024};
  using config::Sale;
  Sale queue{.of = Sale::Of::queue, .port = "wan0", .queue = "assured"};
  queue.sold = Rate::bits_per_second(30'000'000);
  queue.capacity = Rate::bits_per_second(24'000'000);
  Sale homes{
      .of = Sale::Of::interface, .port = "lan0", .group = "street", .interface = "homes", .members = 4};
  homes.way = Sale::Way::down;
  homes.sold = Rate::bits_per_second(8'000'000);
  r.sold = std::make_shared<std::vector<Sale>>(std::vector{queue, homes});
  r.subscribers = std::make_shared<std::vector<SubscriberReading>>(
      std::vector{SubscriberReading{.name = "acme",
                                    .plan = "gold",
                                    .owner = "radius",
                                    .place = "lan0 107",
                                    .shape_bytes_per_second = 625'000,
                                    .counters = {}},
                  SubscriberReading{.name = "initech",
                                    .plan = "gold",
                                    .owner = "file",
                                    .place = "lan0 2001:db8::/56",
                                    .suspended = true,
                                    .counters = {}}});
  r.signalling = sample_signalling();
  r.icmp_errors = {{.name = "time_exceeded", .help = "said so", .count = 4}};
  r.netlink_defects = {{.name = "cut", .help = "too short", .count = 2}};
  return r;
}

}  // namespace surety::test
