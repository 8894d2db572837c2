// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/explain_packet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "router/daemon/control.h"
#include "router/daemon/forwarding_plane.h"
#include "router/daemon/workers/worker.h"
#include "router/operate/explain/explanation.h"
#include "router/pipeline/snapshot.h"

namespace surety {
namespace {

constexpr std::size_t kKeysAtOnce = 128;  // looked up by a worker between two turns

void run_on(Worker& worker, const RemoteCall::What& what) {
  if (!worker.between_turns(what))
    throw std::runtime_error("a worker does not answer: see the log of the router");
}

// A possible ingress interface of a flow, and the flow's key there.
struct Candidate {
  Arrival arrival;
  InterfaceIndex interface = 0;
  FlowKey key;
};

std::vector<Candidate> candidates(const Question& q, const Snapshot& s) {
  std::vector<Candidate> all;
  const Interfaces& interfaces = *s.interfaces;
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    const auto index = static_cast<InterfaceIndex>(i);
    const InterfaceRecord& r = interfaces[index];
    if (!r.live || r.is_template || r.within != kNoInterface) continue;
    if (q.vlan && (r.tags.outer() != *q.vlan || r.tags.inner() != q.inner_vlan.value_or(0))) continue;
    Candidate c{{r.port, r.tags}, index, {}};
    const auto frame = frame_of(q, c.arrival);
    ParsedPacket h;
    if (!parse(frame, {{}, r.port, s.classifier.uses_dscp(), true}, h).forwards()) return {};
    c.key = h.key;
    all.push_back(c);
  }
  return all;
}

// The ingress of the flow with these fields.
Arrival find_flow(const Question& q, const ForwardingPlane& plane) {
  const std::vector<Candidate> all = candidates(q, plane.snapshot());
  std::vector<const Candidate*> found;
  for (const auto& worker : plane.workers().all())
    for (std::size_t i = 0; i < all.size(); i += kKeysAtOnce) {
      const auto slice = std::span(all).subspan(i, std::min(kKeysAtOnce, all.size() - i));
      std::array<bool, kKeysAtOnce> known{};
      run_on(*worker, [&] {
        for (std::size_t k = 0; k < slice.size(); ++k)
          known[k] = knows(worker->ingress(), slice[k].key, worker->now());
      });
      for (std::size_t k = 0; k < slice.size(); ++k)
        if (known[k]) found.push_back(&slice[k]);
    }
  if (found.empty())
    throw std::runtime_error(
        "there is no flow with these fields: add the port or interface where such a packet arrives");
  std::set<std::string> names;
  for (const Candidate* c : found) names.insert(plane.snapshot().interfaces->name(c->interface));
  if (names.size() > 1)
    throw std::runtime_error(
        fmt::format("flows with these fields arrive by {}: add one of them", fmt::join(names, " and ")));
  return found.front()->arrival;
}

// Uses the worker with the flow's record, or its contract's, or else the port's receiver.
void trace_ingress(Traces& t, const ForwardingPlane& plane) {
  const auto workers = plane.workers().all();
  std::vector<std::uint8_t> frame = frame_of(t.question, t.arrival);
  const auto& readers = plane.work().ports[t.arrival.port].readers;
  std::size_t best = readers.empty() ? 0 : readers.front();
  std::vector<IngressTrace> traces(workers.size());
  const auto knowledge = [&](std::size_t w) {
    return 2 * traces[w].flow.flow_known + traces[w].state_known();
  };
  for (std::size_t w = 0; w < workers.size(); ++w) {
    Worker& worker = *workers[w];
    run_on(worker, [&] { trace(worker.ingress(), frame, t.arrival.port, worker.now(), traces[w]); });
    if (knowledge(w) > knowledge(best)) best = w;
  }
  t.worker = best;
  t.ingress = traces[best];
}

// The caller must not hold the workers: the control thread may wait for them.
void trace_route(Traces& t, const Control& control, RemoteCall& control_thread) {
  if (!t.ingress.parsed.forwards()) return;
  control_thread.run(
      [&] {
        t.route = control.routes().route(t.question.destination);
        if (const auto gateway = control.routes().gateway(t.ingress.next_hop)) t.gateway = gateway->address;
      },
      [] {});
}

void trace_queues(Traces& t, const ForwardingPlane& plane) {
  if (!comes_to_queue(t.ingress)) return;
  const PortIndex port = t.ingress.hop.port;
  Worker& owner = *plane.workers().all()[plane.work().ports[port].owner];
  for (const Precedence p : {Precedence::in, Precedence::out}) {
    const std::uint8_t dscp = mark_of(t.ingress, plane.snapshot(), p);
    run_on(owner, [&] {
      trace(*owner.egress(port), owner.ingress().snapshot(), port, t.ingress.hop.interface, dscp, owner.now(),
            t.queues[index(p)]);
    });
  }
}

}  // namespace

Json explain_packet(std::string_view question, ForwardingPlane& plane, const Control& control,
                    RemoteCall& control_thread) {
  Traces t;
  t.question = parse_question(question);
  const auto check = [&] {
    if (!plane.workers().updated()) throw std::runtime_error("a reload is in progress: try again");
    return &plane.snapshot();
  };
  const Snapshot* asked = nullptr;
  {
    const auto lock = plane.workers().hold();
    asked = check();
    t.arrival = t.question.place.empty() ? find_flow(t.question, plane)
                                         : arrival_of(t.question, plane.config(), *asked->interfaces);
    trace_ingress(t, plane);
  }
  trace_route(t, control, control_thread);
  const auto lock = plane.workers().hold();
  if (check() != asked) throw std::runtime_error("a reload happened meanwhile: try again");
  trace_queues(t, plane);
  return explanation(t, plane.snapshot());
}

}  // namespace surety
