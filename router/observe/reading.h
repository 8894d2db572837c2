// SPDX-License-Identifier: BSD-3-Clause
// One consistent reading of everything the router counts: what metrics, `surety show` and tests see.
//
// A worker copies its counters between two turns of its loop, when asked; hence what counters.h says
// about sums holds exactly in every reading. Plain data with names resolved; rendering it is somebody else's
// job (metrics, telemetry).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aqm/active_queue.h"
#include "config/sales.h"
#include "router/contracts/losses.h"
#include "router/counters.h"
#include "router/exception_counters.h"
#include "router/interfaces/interface_counters.h"
#include "router/interfaces/interface_record.h"
#include "router/process/process_use.h"
#include "router/signals/congestion_signal.h"

namespace surety {

struct NamedCount {  // of a list of results; both texts live forever
  std::string_view name, help;
  std::uint64_t count = 0;
};

struct KernelCount {  // of frames that came to the kernel's device of a port; the texts live forever
  std::string_view frame_class, result, help;
  std::uint64_t frames = 0;
};

struct PortReading {
  std::string name, device;  // no name: a place without a port (settle_gone())
  bool up = true;
  bool missing = false;  // this machine has no such device (now): the port is opened when it comes
  PortCounters counters;
  std::uint64_t rx_missed = 0;  // lost before the router saw them (device queue full)
  std::uint64_t queued = 0;     // packets waiting now: queues of the port and its transmit buffer
  std::optional<double> shape_bytes_per_second;
  std::optional<double> speed_bytes_per_second;  // of the link, as its device says; none: it does not
  std::uint64_t link_changes = 0;                // up or down, since the port is there
  unsigned owner_core = 0;                       // of the worker that queues and transmits what leaves here
  std::vector<unsigned> rx_cores;                // of the workers that receive, by queue
  std::string spread;  // how packets are spread over workers: "one", "queues", "dispatch"
  // How long packets stayed in all queues below it, of strict classes and of others; none: it has its own
  // queues only.
  std::optional<std::array<SojournHistogram, 2>> sojourns;
  ExceptionCounters exceptions{};  // what the control thread did with frames of this port
  // What the built-in responder did with those it took; none: no responder.
  std::vector<NamedCount> responder;
  std::vector<KernelCount> kernel;  // what its XDP program or guard did; none: has neither
  std::int64_t handover = 0;  // given to the owner by other workers and not taken by it yet; as the workers'
                              // readings are not of one moment, it may be below 0
};

// All ports that reloads have taken away: what they counted is part of the law.
inline constexpr const char* kGonePorts = "(gone)";

struct InterfaceReading {  // with tags, of a port
  std::string name, port, customer, tags;
  std::string of;           // the template that it is a member of; empty: of none
  std::size_t members = 0;  // of a template, which has their sum
  std::uint16_t mtu = 0;
  std::optional<double> shape_bytes_per_second;  // of each member of a template
  InterfaceCount counters;
};

struct QueueReading {
  std::string port, name;
  std::string interface;    // whose it is; empty: the port's own
  std::string of;           // the template that this one is a member of
  std::size_t members = 0;  // of a template, which has their sum
  bool has_sojourn = true;  // else its port has it, for all together
  std::uint32_t limit = 0;  // packets of any size; OUT packets may have room for less (queue_measure.h)
  std::uint32_t out_limit = 0;
  std::array<QueueCounters, kPrecedences> counters;
  std::array<std::uint32_t, kPrecedences> depth{};
  double average_in = 0, average_total = 0;  // packets; 0 without RIO
  bool has_rio = false, congested = false;
  std::optional<std::array<RedParams, kPrecedences>> thresholds{};  // RIO's, as configured
  SojournHistogram sojourn;
  InterfaceIndex index = kNoInterface;  // of a member, which has no names yet
};

struct ServiceReading {
  std::string name, conditioner;
  unsigned place = 0;    // among the configuration's, then our own; of those that are retired: no matter
  bool retired = false;  // of an earlier configuration: flows may have it still
  ServiceCounters counters;
  std::array<std::uint64_t, kPrecedences> delivered_bytes{};  // let go, and not lost behind
  double committed_bytes_per_second = 0;                      // of all its contracts alive: rate x contracts
  double achieved_bytes_per_second = 0;                       // IN and OUT delivered, over the last seconds
  double achieved_in_bytes_per_second = 0;
  // Of its contracts: respect over the last seconds, where anything was guaranteed; and their seconds
  // (ContractReading).
  std::optional<double> respect_ratio, objective;
  std::uint64_t demanding_seconds = 0, met_seconds = 0;
};

// A conditioner's state with a committed rate, or several of one customer that one line shows.
struct ContractReading {
  std::string customer, service, contract;  // who, of what, for what: an interface, an address ...
  std::optional<bool> down;                 // towards the customer: a core port receives it; none: the rest
  double committed_bytes_per_second = 0;    // of what is alive; 0: nothing is
  std::uint64_t offered_bytes = 0;          // that came to its conditioner and left it, dropped or not
  std::array<std::uint64_t, kPrecedences> delivered_bytes{};  // let go, and not lost behind
  Loss lost;                                                  // packets by reason
  std::uint64_t held = 0;                                     // packets in its input buffer now
  // Seconds (contract_book.h): those that count, those of them in which what is guaranteed was delivered, and
  // those in which losses of OUT packets kept it below its rate.
  std::uint64_t demanding_seconds = 0, met_seconds = 0, held_back_seconds = 0;
  // Over the last second.
  double offered_bytes_per_second = 0, delivered_bytes_per_second = 0, delivered_in_bytes_per_second = 0;
  std::optional<bool> met;  // the last second; none: it does not count
  // The drop reason of most packets lost behind the conditioner, in the last second with such losses. none:
  // nothing was lost.
  std::optional<DropReason> reason;
  std::optional<double> respect_ratio;  // delivered of what is guaranteed, over the last seconds
  std::optional<double> objective;      // of its service
};

struct FilterReading {  // an entry of a filter, or its end
  std::string filter, entry;
  bool permit = false;
  std::uint64_t packets = 0;
  const char* action() const { return permit ? "permit" : "deny"; }
};

struct DomainReading {  // of CSA
  std::string name;  // "port/queue", or "port/queue/service" where services differ in their alpha parameters
  double alpha = 0;
  bool retired = false;  // as of a service
};

struct AggregateReading {
  std::string name, port, queue;
  double tpr_bytes_per_second = 0, lambda_in_bytes_per_second = 0, lambda_out_bytes_per_second = 0;
  double tokens_bytes = 0;
  AggregateCounters counters;
};

struct FlowReading {  // of the top flows
  std::string source, destination, protocol,
      service;  // "10.1.0.1:5001"; a contract's own record says what it covers
  std::uint16_t vlan = 0;
  std::uint64_t in_bytes = 0, out_bytes = 0;
  std::uint32_t held = 0;
  double idle_seconds = 0;
};

struct WorkerReading {
  unsigned core = 0;
  WorkerCounters counters;
  std::uint64_t flows = 0;
  std::optional<double> busy_ratio{};  // of the last second
};

// Congestion signalling, both sides: signals sent, signals heard, and what follows from those.
struct SignalSenderReading {  // a queue of this router that signals, or in mode observe would
  std::string port, queue;
  std::uint64_t sent = 0, limited = 0, lost = 0;  // lost: no route, no buffer, no address of its family
};
struct SignalSourceReading {  // a queue of another router that was heard
  std::string router;         // its id
  std::string port, queue;    // numbers, as it counts them
  std::uint64_t signals = 0;  // accepted
  double age_seconds = 0;     // since the last one
};
struct SignalPathReading {  // a path that signals hold back, or would in mode observe
  std::string path;         // where to: "10.2.0.0/24", or "others"
  std::string domain;
  double alpha = 0;          // of the path alone
  double applied_alpha = 0;  // what its flows live by now
};
struct SignallingReading {
  std::string mode;                                      // "off", "observe", "act"
  std::array<std::uint64_t, kSignalResults> received{};  // by SignalResult
  std::vector<SignalSenderReading> senders;
  std::vector<SignalSourceReading> sources;
  std::vector<SignalPathReading> paths;
};

struct Reading {
  std::string router_name, version, config_hash;
  double uptime_seconds = 0;
  std::vector<PortReading> ports;
  PortCounters gone{};  // of ports whose places others have now
  std::vector<InterfaceReading> interfaces;
  std::vector<QueueReading> queues;
  // Those of interfaces: of each definition, which are not of one moment; and of members that have had
  // something, the first `used_members` of them. settle_below() puts both among `queues`.
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
  std::uint64_t routes_rejected = 0;  // wanted, but the FIB has no room for them
  std::uint64_t mempool_available = 0, mempool_size = 0;
  std::shared_ptr<const std::vector<config::Sale>> sold;  // by the configuration in force; null: not known
  std::uint64_t reloads = 0, reload_failures = 0;
  bool last_reload_successful = true;
  std::optional<double> reload_seconds;  // that the last one took, whether taken over or not
  double last_reload_timestamp = 0;      // of the day, since 1970: of what is in force; the start counts
  ProcessUse process;
  SignallingReading signalling;
  std::vector<NamedCount> icmp_errors;  // about packets that cannot go on, by what became of them
};

}  // namespace surety
