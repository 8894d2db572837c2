// SPDX-License-Identifier: BSD-3-Clause
// Traces what would happen to a packet now: on each worker between two turns, on the control thread between
// two rounds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "router/daemon/router.h"
#include "router/operate/explain/explanation.h"

namespace surety {
namespace {

constexpr std::size_t kKeysAtOnce = 128;  // looked up by a worker between two turns

void ask(Worker& worker, const RemoteCall::What& what) {
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
    if (!r.live || r.is_template) continue;
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

}  // namespace

// The ingress of the flow with these fields.
Arrival Router::find_flow(const Question& q) {
  const std::vector<Candidate> all = candidates(q, *snapshot_);
  std::vector<const Candidate*> found;
  for (const auto& worker : workers_)
    for (std::size_t i = 0; i < all.size(); i += kKeysAtOnce) {
      const auto slice = std::span(all).subspan(i, std::min(kKeysAtOnce, all.size() - i));
      std::array<bool, kKeysAtOnce> known{};
      ask(*worker, [&] {
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
  for (const Candidate* c : found) names.insert(snapshot_->interfaces->name(c->interface));
  if (names.size() > 1)
    throw std::runtime_error(
        fmt::format("flows with these fields arrive by {}: add one of them", fmt::join(names, " and ")));
  return found.front()->arrival;
}

// Uses the worker with the flow's record, or its contract's, or else the port's receiver.
void Router::trace_ingress(Traces& t) {
  std::vector<std::uint8_t> frame = frame_of(t.question, t.arrival);
  const auto& readers = work_.ports[t.arrival.port].readers;
  std::size_t best = readers.empty() ? 0 : readers.front();
  std::vector<IngressTrace> traces(workers_.size());
  const auto knowledge = [&](std::size_t w) {
    return 2 * traces[w].flow.flow_known + traces[w].state_known();
  };
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    Worker& worker = *workers_[w];
    ask(worker, [&] { trace(worker.ingress(), frame, t.arrival.port, worker.now(), traces[w]); });
    if (knowledge(w) > knowledge(best)) best = w;
  }
  t.worker = best;
  t.ingress = traces[best];
}

// The caller must not hold workers_mutex_: the control thread may wait for it.
void Router::trace_route(Traces& t) {
  if (!t.ingress.parsed.forwards()) return;
  control_call_.run(
      [&] {
        t.route = control_->routes().route(t.question.destination);
        if (const auto gateway = control_->routes().gateway(t.ingress.next_hop)) t.gateway = gateway->address;
      },
      [] {});
}

void Router::trace_queues(Traces& t) {
  if (!comes_to_queue(t.ingress)) return;
  const PortIndex port = t.ingress.hop.port;
  Worker& owner = *workers_[work_.ports[port].owner];
  for (const Precedence p : {Precedence::in, Precedence::out}) {
    const std::uint8_t dscp = mark_of(t.ingress, *snapshot_, p);
    ask(owner, [&] {
      trace(*owner.egress(port), owner.ingress().snapshot(), port, t.ingress.hop.interface, dscp, owner.now(),
            t.queues[index(p)]);
    });
  }
}

void Router::capture(std::string_view text, Fd& socket) {
  std::shared_ptr<const Interfaces> interfaces;
  {
    const std::scoped_lock lock(shown_mutex_);
    interfaces = shown_interfaces_;
  }
  std::vector<std::string> ports;
  for (std::size_t p = 0; p < interfaces->ports(); ++p)
    ports.push_back(interfaces->name(static_cast<InterfaceIndex>(p)));
  capture_->begin(parse_capture(text, std::move(interfaces)), std::move(ports), socket);
}

Json Router::explain(std::string_view text) {
  Traces t;
  t.question = parse_question(text);
  const auto check = [&] {
    if (!updated()) throw std::runtime_error("a reload is in progress: try again");
    return snapshot_.get();
  };
  const Snapshot* asked = nullptr;
  {
    const std::scoped_lock lock(workers_mutex_);
    asked = check();
    t.arrival = t.question.place.empty() ? find_flow(t.question)
                                         : arrival_of(t.question, snapshot_->config, *snapshot_->interfaces);
    trace_ingress(t);
  }
  trace_route(t);
  const std::scoped_lock lock(workers_mutex_);
  if (check() != asked) throw std::runtime_error("a reload happened meanwhile: try again");
  trace_queues(t);
  return explanation(t, *snapshot_);
}

}  // namespace surety
