// SPDX-License-Identifier: BSD-3-Clause
// The objects of a control thread, except the thread: the test opens the links and carries the frames, and no
// device and no kernel is there.
#pragma once

#include <rte_ring.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "router/daemon/control/frame_collector.h"
#include "router/daemon/control/frame_sender.h"
#include "router/daemon/control/kernel_entries.h"
#include "router/daemon/control/link_watch.h"
#include "router/daemon/control/neighbor_gate.h"
#include "router/daemon/control/punt_delivery.h"
#include "router/daemon/workers/shared.h"
#include "router/operate/observe/events.h"
#include "router/pipeline/routes/routes.h"
#include "tests/unit/router/pipeline/data_plane.h"
#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety::test {

// `lan` and `acme` are customers', `wan` is not.
inline constexpr PortIndex kLan = 0, kWan = 1;
inline constexpr const char* kTwoPorts = R"(
version: 1
router: {name: bed}
ports:
  lan: {addresses: 10.1.0.254/24}
  wan: {addresses: 10.2.0.254/24, trust: core}
interfaces:
  acme: {port: lan, vlan: 107, addresses: 10.3.0.254/24, mtu: 1400}
  homes: {port: wan, vlan: 200, inner_vlan: 10-13, addresses: 10.4.0.254/24, hosts: 2}
neighbors:
  - {address: 10.2.0.66, mac: "02:00:00:00:00:66", port: wan}
)";

class ControlBed {
 public:
  explicit ControlBed(std::string_view yaml = kTwoPorts)
      : links(configured(yaml), nullptr, 2),
        punts_(make_ring()),
        gate(routes, forwarding(), punts_.get(), {}, 2) {
    routes.configure(links.config(), links.interfaces());
  }

  // Opens a port; `interface`: the kernel's index of its own device, 0: the built-in responder stands in.
  ControlPort& open(PortIndex port, int interface = 0) {
    ControlPort& c = links.ports()[port];
    routes.bind_port(port, open(c, port, interface));
    return c;
  }
  ControlPort& open_interface(std::size_t definition, int interface = 0) {
    const InterfaceIndex index = links.interfaces()->of_definition(definition);
    ControlPort& c = links.tagged()[index];
    const Routes::Binding binding{index, open(c, index, interface)};
    routes.bind({&binding, 1});
    return c;
  }

  // What workers punt; `what`: next hop or refusal.
  void punt(const Octets& frame, PuntReason reason, std::size_t l3 = 14, std::uint32_t what = 0,
            InterfaceIndex interface = kLan) {
    rte_mbuf* const m = to_mbuf(frame);
    m->port = static_cast<std::uint16_t>((*links.interfaces())[interface].port);
    note_punted(m, reason, what, l3, static_cast<Customer>(m->port << 8), interface);
    ASSERT_EQ(rte_ring_enqueue(punts_.get(), m), 0);
  }
  std::uint64_t counted(PortIndex port, ExceptionResult result) const {
    return links.ports()[port].counters[static_cast<std::size_t>(result)];
  }

  struct Sent {
    PortIndex port;
    std::optional<InterfaceIndex> interface;  // the one noted for the transmitter
    Octets frame;
  };
  std::vector<Octets> frames_by(PortIndex port) const {
    std::vector<Octets> frames;
    for (const Sent& s : sent)
      if (s.port == port) frames.push_back(s.frame);
    return frames;
  }
  bool inject(PortIndex port, rte_mbuf* m) {
    if (full) return false;
    if (before_sending) before_sending();
    const auto interface = has_interface(m) ? std::optional(interface_of(m, port)) : std::nullopt;
    sent.push_back({port, interface, take(m)});
    return true;
  }

  TableSink sink;
  Routes routes{sink, 4096};
  ControlLinks links;

 private:
  struct FreeRing {
    void operator()(rte_ring* r) const { rte_ring_free(r); }
  };
  static rte_ring* make_ring() {
    return rte_ring_create("control-bed", 64, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
  }
  // One for all tests: its tables are large.
  static Forwarding& forwarding() {
    static auto* const f = new Forwarding(64, 1);
    return *f;
  }
  int open(ControlPort& c, InterfaceIndex index, int interface) {
    c.index = index;
    c.open = true;
    c.mac = port_mac(links.port_of(c));
    c.interface = interface != 0 ? interface : -1 - index;
    c.addresses.emplace(links.addresses_of(c), c.mac, links.router_addresses());
    c.responder =
        std::make_unique<Responder>(c.mac, *c.addresses, 1500, kStart, 1,
                                    c.in_kernel() ? Responder::Answers::none : Responder::Answers::all);
    c.responder->speak_for(index,
                           links.record_of(c).is_template ? std::make_unique<TagBindings>(2) : nullptr);
    links.bind(c);
    collector.collect(kStart);  // its announcements
    sent.clear();
    return c.interface;
  }

  std::unique_ptr<rte_ring, FreeRing> punts_;

 public:
  std::vector<Sent> sent;
  bool full = false;  // no worker takes a frame
  std::function<void()> before_sending;
  std::vector<bool> up{true, true};  // links of the ports
  std::vector<std::string> told;     // events
  EventLog events{[] { return EventTime{}; },
                  [this](const StampedEvent& e) { told.push_back(e.event.text); }};

  NeighborGate gate;
  KernelEntries kernel{links, routes};
  LinkWatch watch{links, routes, kernel, events, [this](std::size_t port) { return up[port]; }};
  FrameSender sender{links, gate, packet_pool(),
                     [this](PortIndex port, rte_mbuf* m) { return inject(port, m); }};
  FrameCollector collector{links, routes, kernel, sender};
  PuntDelivery delivery{{links, sink.table, gate, watch, sender, collector}, punts_.get(), kStart};
};

}  // namespace surety::test
