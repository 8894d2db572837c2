// SPDX-License-Identifier: BSD-3-Clause
// The content of a YAML file, checked, typed, with every default filled in (CONTRIBUTING.md rule 8).
//
// Immutable once parsed. Names have become indices: a Config that parse() returns has no dangling reference.
// Parameters of algorithms are defined in aqm/params.h and conditioners/params.h; Config gathers them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aqm/params.h"
#include "conditioners/packet.h"
#include "conditioners/params.h"
#include "conditioners/units.h"
#include "config/address.h"
#include "config/conditioners.h"
#include "config/vlan_protocol.h"

namespace surety::config {

inline constexpr std::size_t kMaxPorts = 32;
inline constexpr std::size_t kMaxWorkers = 64;

using Dscp = std::uint8_t;  // 0..63

std::string dscp_name(Dscp d);  // "AF11", "EF", "CS6", "BE" or the number

struct Router {
  enum class Role : std::uint8_t { border, core };
  std::string name = "surety";
  std::uint32_t id = 0;  // an IPv4 address, host order; 0: not given
  Role role = Role::border;
  Dscp dscp = 48;         // DSCP of the router's own packets (RFC 4594 section 3.1: CS6)
  bool new_ports = true;  // a reload may open devices: the control thread keeps what that takes
  friend bool operator==(const Router&, const Router&) = default;
};

struct Device {
  enum class Kind : std::uint8_t {
    none,
    pci,
    af_xdp,
    af_packet,
    tap,
    memif,
    virtio_user,
    vhost,
    pcap,
    null,
    ring
  };
  Kind kind = Kind::none;        // none: inside the lab, where a port needs no device
  std::string name;              // PCI address, interface, socket path, TAP name
  bool server = false;           // memif
  std::string rx_file, tx_file;  // pcap
  friend bool operator==(const Device&, const Device&) = default;
};

struct Port {
  enum class Trust : std::uint8_t { customer, core };
  enum class SourceCheck : std::uint8_t { off, loose, strict };
  std::string name;
  Device device;
  std::vector<Prefix> addresses;
  Trust trust = Trust::customer;
  SourceCheck source_check = SourceCheck::strict;
  std::uint16_t mtu = 1500;           // for the IP packet
  std::optional<MacAddress> mac;      // default: the device's own
  PortShaperParams shaper;            // `shape`, `overhead`, `burst`
  std::optional<std::size_t> queues;  // index into Config::queues; none: one tail-drop class
  // Indices into Config::filters, for packets that belong to none of the port's interfaces.
  std::optional<std::size_t> filter_in{}, filter_out{};
  bool promiscuous = false;
  std::optional<std::uint16_t> tcp_mss{};  // most MSS of TCP over IPv4 that crosses the port; IPv6: 20 less
  // Workers of the port, by core, from Config::workers where those are given. See work_plan.h for the
  // defaults.
  std::optional<unsigned> owner;  // `worker: CORE`: the one that queues and transmits what leaves here
  std::optional<std::uint16_t> rx_queues;  // `receive: {queues: N}`
  std::vector<unsigned> rx_workers;        // `receive: {workers: [CORE, ...]}`: by queue, round and round
  std::optional<bool> dispatch;  // `receive: {dispatch: on|off}`: the reader hands packets on to all workers
  // `twin: NAME | off`: the kernel's TAP device for a port whose own device has none; empty: off; no value:
  // one called as the port, where the process may make it.
  std::optional<std::string> twin;
  // MTU of the device, if it is lower than `mtu`; 0: it is not. Not from YAML: the router follows the device.
  std::uint16_t device_mtu = 0;

  bool exists() const { return !name.empty(); }  // false: a place without a port (reload.h)
};

// A shaper between a port and interfaces of it.
struct Group {
  std::string name;
  std::size_t port = 0;
  PortShaperParams shaper;
  std::uint32_t weight = 1;
};

// Frames with certain tags on a port. With a range of inner tags, a template: an interface for each of them
// (NAME.TAG), with the same parameters, and addresses that are the gateway of all.
struct Interface {
  std::string name;
  std::size_t port = 0;
  std::uint16_t vlan = 0;                         // VLAN ID of the only or outer tag, 1..4094
  std::uint16_t first_inner = 0, last_inner = 0;  // 0: one tag only
  std::uint16_t vlan_protocol = kCustomerTag;     // the outer tag's TPID
  std::vector<Prefix> addresses;
  // Not empty: hosts of a link, the port's own or that of interface `within`, known by these addresses.
  // Frames from them arrive by the link; frames towards them leave by it, with the queues of this interface.
  std::vector<Prefix> prefixes;
  // Index into Config::interfaces. Without prefixes: a template, of which this is the interface with tag
  // `first_inner`, with queues, shaper and filters of its own.
  std::optional<std::size_t> within;
  std::size_t taken = 0;     // tags of a template that are others of Config::interfaces (`within`)
  std::string customer;      // default: the interface's own name
  std::uint16_t mtu = 1500;  // for the IP packet; default: the port's
  Port::Trust trust = Port::Trust::customer;  // default: the port's
  Port::SourceCheck source_check = Port::SourceCheck::strict;
  std::optional<std::size_t> filter_in, filter_out;  // indices into Config::filters
  std::uint32_t hosts = 4;                           // per tag of a template: at most so many addresses
  std::optional<std::string> twin;                   // see Port::twin
  // Scheduling parameters towards the port (aqm/hierarchy/README.md).
  std::optional<std::size_t> group;   // index into Config::groups
  PortShaperParams shaper;            // `shape`, `overhead`, `burst`
  std::uint32_t weight = 1;           // relative to its siblings
  std::optional<std::size_t> queues;  // index into Config::queues; none: the set of its port

  bool is_template() const { return first_inner != last_inner; }
  std::size_t count() const { return last_inner - first_inner + 1u; }  // interfaces of the template
  std::size_t own_count() const { return count() - taken; }
  std::size_t members() const { return is_template() ? count() : 0u; }
  // False: hosts of a link, or a tag of a template.
  bool has_link() const { return prefixes.empty() && !within; }
  bool is_tag_of_template() const { return prefixes.empty() && within; }
};

// An entry of `subscribers`, beside its interface.
struct Subscriber {
  std::size_t interface = 0;  // index into Config::interfaces
  std::string plan;
  std::string owner;  // owner of the included file that has it (owner_of()); empty: the operator
  bool suspended = false;
};

struct NextHop {
  std::optional<IpAddress> via;             // none: connected through `port`; to IPv4 also by IPv6 (RFC 8950)
  std::optional<std::size_t> port;          // none: found through the addresses
  std::optional<std::size_t> interface {};  // index into Config::interfaces; not with `port`
};
struct Route {
  Prefix to;                       // masked
  std::vector<NextHop> next_hops;  // more than one: ECMP; empty with `blackhole`
  bool blackhole = false;
  // The lowest metric that has a port that is up is used, among the routes of one prefix.
  static constexpr std::uint32_t kDefaultMetric = 1;
  std::uint32_t metric = kDefaultMetric;
};
struct Neighbor {
  IpAddress address;
  MacAddress mac{};
  std::size_t port = 0;                     // set for `interface`, too
  std::optional<std::size_t> interface {};  // in place of `port`
};

// One class: its scheduling and queue parameters, and the DSCPs that lead to it.
struct QueueClass {
  // A limit that is a time of the rate at which a class is served.
  struct Delay {
    Duration time{};
    std::uint32_t least = 1, most = 1'000'000;  // packets
    friend bool operator==(const Delay&, const Delay&) = default;
  };
  // Default `limit` of a class: the burst of contracts with the default bucket, if all of the rate is
  // committed.
  static constexpr Delay kDefaultLimit{std::chrono::milliseconds(100), 50, ActiveQueueParams{}.limit};

  ClassParams scheduling;       // with the queue's limit for an unknown rate
  std::optional<Ratio> part{};  // `rate: 10 %`, of the rate at which the set is served; else `scheduling.cap`
  std::optional<Delay> limit{};      // none: `scheduling` has it in packets
  bool derived_rio = false;          // the thresholds are parts of the limit
  std::vector<Dscp> in, out, red{};  // a class without precedences (`dscp: [..]`) has all of them in `in`

  bool capped() const { return part || scheduling.cap; }
  // The cap where the set is served at `rate`; none: without a cap, or a part of an unknown rate.
  std::optional<Rate> cap_at(const std::optional<Rate>& rate) const {
    if (!part || !rate) return scheduling.cap;
    constexpr std::uint64_t kMillion = 1'000'000;  // times kMaxRate: 10^18
    return Rate::bits_per_second(
        std::max<std::uint64_t>(rate->bits_per_second() * part->millionths() / kMillion, 1));
  }
};
struct QueueSet {
  std::string name;
  std::vector<QueueClass> classes;
  // Class and precedence of a DSCP; those that no class names go to the default class:
  // the one that names BE, else the last.
  struct Entry {
    std::uint8_t class_index = 0;
    Precedence precedence = Precedence::out;
  };
  std::array<Entry, 64> by_dscp{};
};
// Returns the set as it is served at the rate of a shaper: with the caps, limits, thresholds and the pace of
// RIO's averages that follow from that. Null: one first-in-first-out class for everything, as a port without
// `queues` has.
QueueSet at_rate(const QueueSet* set, const std::optional<Rate>& rate);

struct Service {
  std::string name;
  Conditioner conditioner = None{};
  // DSCP for IN (green), OUT (yellow) and red packets. No value: the DSCP stays as it came.
  std::optional<Dscp> mark_in, mark_out, mark_red;
  bool drop_red = false;            // `mark: {red: drop}`, and what police refuses
  bool color_aware = false;         // meters: OUT and red DSCPs of arrivals are their colours (RFC 2697)
  Rate committed;                   // r of one contract; 0 for None
  std::optional<double> objective;  // target conformance, 0..1 (contract_book.h)
};

struct PortRange {
  std::uint16_t from = 0, to = 65535;
  friend bool operator==(const PortRange&, const PortRange&) = default;
};
struct Match {
  std::optional<std::size_t> port;
  std::optional<std::size_t> interface;  // a template matches all its members
  std::optional<std::uint16_t> vlan;     // outer VLAN id; 0: untagged
  std::optional<std::uint16_t> inner_vlan;
  // Masked and sorted, none within another of its list. A packet is in one of them; empty: any address.
  std::vector<Prefix> source, destination;
  std::optional<std::uint8_t> protocol;
  PortRange source_port, destination_port;
  std::optional<Dscp> dscp;
  enum class Family : std::uint8_t { any, ipv4, ipv6 };
  Family family = Family::any;  // follows from source/destination/protocol where they fix it
  friend bool operator==(const Match&, const Match&) = default;
};
struct Rule {
  enum class Per : std::uint8_t { rule, flow, source, destination, prefix, vlan, interface };
  Match match;
  std::size_t service = 0;
  Per per = Per::rule;                          // scope of one contract
  std::uint8_t prefix_v4 = 24, prefix_v6 = 64;  // for Per::prefix (source prefix)
  std::optional<std::uint32_t> contracts;       // number of contracts; none: not known
  std::optional<std::uint32_t> most;            // contracts per interface; none: without a bound
  std::string customer;                         // customer of its contracts; empty: follows from the packets
  std::optional<std::size_t> subscriber;        // index into Config::interfaces: the rule is its plan's
  std::size_t number = 0;                       // in `classify`, from 1; 0: of a subscriber
  int line = 0;                                 // line in the file; 0: in none
  std::string file;                             // included file; empty: the main one
};

// An access list: the first entry that matches decides, and none permits nothing.
struct FilterEntry {
  bool permit = false;
  Match match;       // without `port` and `interface`
  std::string name;  // name of its counter; none: the number of the entry, from 1
  friend bool operator==(const FilterEntry&, const FilterEntry&) = default;
};
struct Filter {
  std::string name;
  std::vector<FilterEntry> entries;
  friend bool operator==(const Filter&, const Filter&) = default;
};

struct Aggregate {
  std::string name;
  std::size_t port = 0;                     // set for `interface`, too
  std::optional<std::size_t> interface {};  // in place of `port`; not a template
  std::size_t class_index = 0;              // in Config::queues_before(it)
  std::vector<Prefix>
      sources;        // `match: {source: ..}`, masked; empty: all that no other one of the class has
  ArdParams marker;   // P_drop is 0 where this is not the ingress edge
  Dscp out_dscp = 0;  // DSCP of remarked packets: `mark: {out: ..}`, default the class's first OUT DSCP
};
inline bool same_class(const Aggregate& a, const Aggregate& b) {
  return a.port == b.port && a.interface == b.interface && a.class_index == b.class_index;
}

struct Signalling {
  enum class Mode : std::uint8_t { off, observe, act };
  // Signals of a congested queue. samples: each 8th OUT arrival, to its source, and reminders. events: onset,
  // each 8th OUT arrival and end of congestion, to the sources of IN packets
  // (router/pipeline/signals/contributors.h).
  enum class Report : std::uint8_t { samples, events };
  // Destination of signals for the sources of a prefix whose border is not on the path to them.
  struct Border {
    Prefix source;     // masked; the longest one that has the source counts
    IpAddress border;  // an address of that border router, of the same family
    friend bool operator==(const Border&, const Border&) = default;
  };
  Mode mode = Mode::off;
  std::string key_file;
  Duration max_age = std::chrono::seconds(10);  // older ones (and younger than now by as much) are refused
  Report report = Report::samples;
  std::uint32_t queue_limit = 1000;  // signals a second that one congested queue sends at most
  std::uint32_t source_limit =
      10000;  // signals a second that a border believes of one queue of another router at most
  std::vector<Border> borders;
};
struct Metrics {
  struct Tls {
    std::string cert_file, key_file;  // PEM; the certificate with those of its issuers, if any
  };
  std::string listen = "127.0.0.1:9464";  // empty: off
  std::optional<Tls> tls{};
  std::string password_file{};  // `USER:PASSWORD`; empty: no password
  bool console = true;          // the page beside /metrics
  std::uint32_t top_flows = 0;
  std::uint32_t contracts = 1000;  // contracts that have metrics of their own
  // Directory of the contracts' records, with a subdirectory for each router; empty: nowhere; none: in the
  // state directory.
  std::optional<std::string> report{};
  Bytes report_size{256'000'000};  // at most
};
struct Log {
  enum class Format : std::uint8_t { text, json };
  enum class Level : std::uint8_t { error = 3, warning, notice, info, debug };  // the journal's numbers
  Format format = Format::text;
  Level level = Level::info;  // this severity and worse ones
};
struct FlowTable {
  std::uint32_t capacity = 65536;  // flows, per worker
  Duration idle_timeout = std::chrono::seconds(30);
  std::uint32_t held_packets = 16384;  // all input buffers together
  // New flows a second, per worker; as many as the capacity at once. 0: no limit; none: a quarter of the
  // capacity. Beyond it packets that need state of their own are forwarded as best effort (drop_reason.h).
  std::optional<std::uint32_t> creation_rate;
};
struct Dpdk {
  enum class Hugepages : std::uint8_t { automatic, on, off };
  Hugepages hugepages = Hugepages::automatic;
  std::uint32_t memory_mb = 0;  // 0: enough for what is configured
  std::uint32_t mbufs = 16384;
  std::uint32_t max_routes = 65536;
  std::vector<std::string> extra;  // more EAL arguments
  friend bool operator==(const Dpdk&, const Dpdk&) = default;
};
struct Icmp {
  bool interface_information = false;  // errors name the port that the packet came by (RFC 5837)
};
struct Kernel {
  bool routes = true;         // follow the kernel's routes and neighbours over netlink
  bool addresses = true;      // give the ports' addresses to their kernel devices where missing
  bool static_routes = true;  // give the routes of YAML to the kernel
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

struct Outline;

struct Config {
  std::shared_ptr<const Outline> written;  // source tree (outline.h), for changes.h
  // Files that it was read from besides the main one; of patterns, the directories where they look, as
  // "DIR/.".
  std::vector<std::string> other_files;
  Router router;
  std::vector<unsigned> workers;                                            // cores; empty: all but the first
  enum class Idle : std::uint8_t { poll, adaptive } idle = Idle::adaptive;  // for workers without packets
  enum class Admission : std::uint8_t {
    warn,
    refuse
  } admission = Admission::warn;  // action on oversubscription
  std::vector<Port> ports;
  std::vector<Group> groups;
  std::vector<Interface> interfaces;
  std::vector<Subscriber> subscribers;  // in the order of their interfaces
  std::vector<Filter> filters;
  // The 802.1Q priority of tagged packets that leave, by DSCP; and for tagged ones that arrive by an
  // interface with `trust: core`, the DSCP: the first that `pcp:` names, where the packet's own has another
  // priority. Without `pcp:` priorities are 0, and ignored.
  struct Pcp {
    std::array<std::uint8_t, 64> of_dscp{};
    std::array<std::optional<Dscp>, 8> to_dscp{};
  };
  std::optional<Pcp> pcp;
  std::vector<Route> routes;
  std::vector<Neighbor> neighbors;
  std::vector<QueueSet> queues;
  std::vector<Service> services;
  std::vector<Rule> rules;  // first match wins
  std::vector<Aggregate> aggregates;
  Signalling signalling;
  Metrics metrics;
  Log log;
  FlowTable flow_table;
  Dpdk dpdk;
  Icmp icmp;
  Kernel kernel;

  // The queue set of the interface's packets: its own, or its port's; null: one tail-drop class.
  const QueueSet* queues_of(const Interface& i) const {
    return set_of(i.queues ? i.queues : ports[i.port].queues);
  }
  // Upper bound of the interface's rate: its own shaper's, its group's or its port's.
  std::optional<Rate> rate_of(const Interface& i) const {
    if (i.shaper.rate) return i.shaper.rate;
    if (i.group && groups[*i.group].shaper.rate) return groups[*i.group].shaper.rate;
    return ports[i.port].shaper.rate;
  }
  // The queue set that the aggregate's packets enter, which exists.
  const QueueSet* queues_before(const Aggregate& a) const {
    return a.interface ? queues_of(interfaces[*a.interface]) : set_of(ports[a.port].queues);
  }
  const QueueSet* set_of(std::optional<std::size_t> index) const { return index ? &queues[*index] : nullptr; }

  std::size_t port_count() const {  // without places that have none
    return static_cast<std::size_t>(std::ranges::count_if(ports, &Port::exists));
  }
};

}  // namespace surety::config
