// SPDX-License-Identifier: BSD-3-Clause
// One consistent reading of everything the router counts: the source of metrics, `surety show` and tests.
//
// A worker copies its counters between two turns of its loop, on request; the sums of counters.h therefore
// hold exactly in every reading. Plain data with resolved names; metrics and telemetry render it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aqm/active_queue.h"
#include "config/sales.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/exception_counters.h"
#include "router/pipeline/flows/losses.h"
#include "router/pipeline/interfaces/interface_counters.h"
#include "router/pipeline/interfaces/interface_record.h"
#include "router/pipeline/signals/congestion_signal.h"
#include "router/process/this_process.h"

namespace surety {

struct NamedCount {  // an entry of a list of results; both texts are static
  std::string_view name, help;
  std::uint64_t count = 0;
};

struct KernelCount {  // frames that the kernel's device of a port received; the texts are static
  std::string_view frame_class, result, help;
  std::uint64_t frames = 0;
};

struct PortReading {
  std::string name, device;  // empty name: a place without a port (settle_gone())
  bool up = true;
  bool missing = false;  // this machine has no such device (now): the port is opened when it appears
  PortCounters counters;
  std::uint64_t rx_missed = 0;  // lost by the device (its queue was full)
  std::uint64_t queued = 0;     // packets in the port's queues and its transmit buffer
  std::optional<double> shape_bytes_per_second;
  std::optional<double>
      speed_bytes_per_second;      // link speed as reported by the device; nullopt: not reported
  std::uint64_t link_changes = 0;  // changes up or down, since the port exists
  unsigned owner_core = 0;         // core of the worker that owns the port's egress
  std::vector<unsigned> rx_cores;  // cores of the receiving workers, indexed by queue
  std::string spread;              // spread of packets over workers: "one", "queues", "dispatch"
  // Sojourn times over all queues below the port, of strict classes and of others; nullopt: it has its own
  // queues only.
  std::optional<std::array<SojournHistogram, 2>> sojourns;
  ExceptionCounters exceptions{};  // results of the control thread for frames of this port
  // Results of the built-in responder; empty: no responder.
  std::vector<NamedCount> responder;
  std::vector<KernelCount> kernel;  // results of its XDP program or guard; empty: it has neither
  std::int64_t handover = 0;  // packets that other workers have handed over and the owner has not taken; may
                              // be negative, as the workers' readings are not simultaneous
};

// The row of all ports that reloads have removed: their counts are part of the law of counters.h.
inline constexpr const char* kGonePorts = "(gone)";

struct InterfaceReading {  // an interface with tags
  std::string name, port, customer, tags;
  std::string of;           // name of its template; empty: none
  std::size_t members = 0;  // number of members of a template, whose counters are the sum
  std::uint16_t mtu = 0;
  std::optional<double> shape_bytes_per_second;  // for a template, each member's
  InterfaceCount counters;
};

struct SubscriberReading {
  std::string name, plan, owner,
      place;  // owner: `file` for the operator's own; place: a link, and tags or prefixes
  bool suspended = false;
  // Sums over its contracts (ContractReading).
  double committed_bytes_per_second = 0, offered_bytes_per_second = 0, delivered_bytes_per_second = 0;
  std::uint64_t demanding_seconds = 0, met_seconds = 0;
  std::optional<bool> met;                       // false: one is violated; nullopt: none is demanding
  std::optional<double> shape_bytes_per_second;  // towards it
  InterfaceCount counters;
};

struct QueueReading {
  std::string port, name;
  std::string interface;    // owner of the queue; empty: the port
  std::string of;           // template of a member
  std::size_t members = 0;  // number of members of a template, whose counters are the sum
  bool has_sojourn = true;  // false: the port has it, for all its queues together
  std::uint32_t limit = 0;  // packets of any size; OUT packets may have room for less (queue_measure.h)
  std::uint32_t out_limit = 0;
  std::array<QueueCounters, kDropPrecedences> counters;
  std::array<std::uint32_t, kDropPrecedences> depth{};
  double average_in = 0, average_total = 0;  // packets; 0 without RIO
  bool has_rio = false, congested = false;
  bool has_red = false;                                                 // the class has red packets
  std::optional<std::array<RedParams, kDropPrecedences>> thresholds{};  // RIO's, as configured
  SojournHistogram sojourn;
  InterfaceIndex index = kNoInterface;  // number of a member whose names are not set yet
};

struct ServiceReading {
  std::string name, conditioner;
  unsigned place = 0;    // order in the configuration, then the built-in ones; unset if retired
  bool retired = false;  // not in the configuration: flows may still have it
  ServiceCounters counters;
  std::array<std::uint64_t, kPrecedences>
      delivered_bytes{};                  // passed by the conditioner, and not lost behind it
  double committed_bytes_per_second = 0;  // rate x live contracts
  double achieved_bytes_per_second = 0;   // IN and OUT delivered, over the last seconds
  double achieved_in_bytes_per_second = 0;
  // Aggregates over its contracts: respect over the last seconds, if anything was guaranteed; and their
  // seconds (ContractReading).
  std::optional<double> respect_ratio, objective;
  std::uint64_t demanding_seconds = 0, met_seconds = 0;
};

// A conditioner's state with a committed rate, or several of one customer in one line.
struct ContractReading {
  std::string customer, service, contract;  // contract: its key, such as an interface or an address
  std::optional<bool> down;               // towards the customer: received by a core port; nullopt: the rest
  double committed_bytes_per_second = 0;  // sum over live contracts; 0: there are none
  std::uint64_t offered_bytes = 0;        // received by its conditioner, dropped or not
  std::array<std::uint64_t, kPrecedences>
      delivered_bytes{};   // passed by the conditioner, and not lost behind it
  Loss lost;               // packets by reason
  std::uint64_t held = 0;  // packets in its input buffer
  // Seconds (contract_book.h): demanding ones, those of them that are met, and those held back by losses of
  // OUT packets.
  std::uint64_t demanding_seconds = 0, met_seconds = 0, held_back_seconds = 0;
  // Rates over the last second.
  double offered_bytes_per_second = 0, delivered_bytes_per_second = 0, delivered_in_bytes_per_second = 0;
  std::optional<bool> met;  // the last second; nullopt: not demanding
  // The drop reason of most packets lost behind the conditioner, in the last second with such losses.
  // nullopt: none were lost.
  std::optional<DropReason> reason;
  std::optional<double> respect_ratio;  // delivered / guaranteed, over the last seconds
  std::optional<double> objective;      // objective of its service
};

struct FilterReading {  // an entry of a filter, or its default
  std::string filter, entry;
  bool permit = false;
  std::uint64_t packets = 0;
  const char* action() const { return permit ? "permit" : "deny"; }
};

struct DomainReading {  // a CSA domain
  std::string name;  // "port/queue", or "port/queue/service" where services differ in their alpha parameters
  double alpha = 0;
  bool retired = false;  // see ServiceReading
};

struct AggregateReading {
  std::string name, port, queue;
  double tpr_bytes_per_second = 0, lambda_in_bytes_per_second = 0, lambda_out_bytes_per_second = 0;
  double tokens_bytes = 0;
  AggregateCounters counters;
};

struct FlowReading {  // one of the top flows
  std::string source, destination, protocol,
      service;  // "10.1.0.1:5001"; for a contract's own record, its key
  std::uint16_t vlan = 0;
  std::uint64_t in_bytes = 0, out_bytes = 0;
  std::uint32_t held = 0;
  double idle_seconds = 0;
};

struct WorkerReading {
  unsigned core = 0;
  WorkerCounters counters;
  std::uint64_t flows = 0;
  std::optional<double> busy_ratio{};  // over the last second
};

// Congestion signalling, both sides: signals sent, signals received, and their effects.
struct SignalSenderReading {  // a queue of this router that signals, or in mode observe would
  std::string port, queue;
  std::uint64_t sent = 0, limited = 0, lost = 0;  // lost: no route, no buffer, no address of its family
};
struct SignalSourceReading {  // a queue of another router
  std::string router;         // ID of the router
  std::string port, queue;    // numbers, as in the sender's signals
  std::uint64_t signals = 0;  // accepted
  double age_seconds = 0;     // since the last one
};
struct SignalPathReading {  // a path that signals hold back, or would in mode observe
  std::string path;         // destination: "10.2.0.0/24", or "others"
  std::string domain;
  double alpha = 0;          // the path's own
  double applied_alpha = 0;  // the current alpha of its flows
};
struct SignallingReading {
  std::string mode;                                      // "off", "observe", "act"
  std::array<std::uint64_t, kSignalResults> received{};  // indexed by SignalResult
  std::vector<SignalSenderReading> senders;
  std::vector<SignalSourceReading> sources;
  std::vector<SignalPathReading> paths;
};

struct Reading {
  std::string router_name, version, config_hash;
  double uptime_seconds = 0;
  std::vector<PortReading> ports;
  PortCounters gone{};  // counts of removed ports whose places are in use again
  std::vector<InterfaceReading> interfaces;
  std::vector<QueueReading> queues;
  // Queues of interfaces: of each definition, not simultaneous; and of members with traffic, the first
  // `used_members` of them. settle_below() moves both to `queues`.
  std::vector<QueueReading> interface_queues, member_queues;
  std::size_t used_members = 0;
  std::vector<ServiceReading> services;
  std::vector<ContractReading> contracts;
  std::vector<FilterReading> filters;
  std::vector<DomainReading> domains;
  std::vector<AggregateReading> aggregates;
  std::vector<FlowReading> top_flows;
  std::uint64_t flows = 0, flow_capacity = 0;
  std::vector<WorkerReading> workers;
  StageCounters stages;
  std::uint64_t routes = 0, neighbors = 0;
  std::uint64_t routes_rejected = 0;  // wanted, but the FIB is full
  std::uint64_t mempool_available = 0, mempool_size = 0;
  std::shared_ptr<const std::vector<config::Sale>>
      sold;  // commitments of the configuration in force; nullptr: not known
  // Subscribers of the configuration in force, without traffic (subscriber_rows.h); nullptr: not known.
  std::shared_ptr<const std::vector<SubscriberReading>> subscribers;
  std::uint64_t reloads = 0, reload_failures = 0;
  bool last_reload_successful = true;
  std::optional<double> reload_seconds;  // duration of the last reload, successful or not
  double last_reload_timestamp =
      0;  // Unix seconds: start of the configuration in force, at first the router's
  ProcessUse process;
  SignallingReading signalling;
  std::vector<NamedCount> icmp_errors;  // about undeliverable packets, by result
  std::vector<NamedCount> netlink_defects;
};

}  // namespace surety
