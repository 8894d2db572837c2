#include "router/dpdk/signalling_reading.h"

#include "config/address.h"

namespace surety {

namespace {

const char* name(config::Signalling::Mode mode) {
  using Mode = config::Signalling::Mode;
  return mode == Mode::off ? "off" : mode == Mode::observe ? "observe" : "act";
}

std::string dotted(std::uint32_t id) {
  config::Address a;
  for (std::size_t b = 0; b < 4; ++b) a.bytes[b] = static_cast<std::uint8_t>(id >> (24 - 8 * b));
  return config::to_string(a);
}

// Queues that have something to say; the others would be rows of zeros.
void fill_senders(SignallingReading& r, std::span<const std::unique_ptr<Egress>> egresses,
                  const SignalSender& sender, const Snapshot& snapshot) {
  for (std::size_t p = 0; p < egresses.size(); ++p) {
    const auto& classes = snapshot.queues[p].classes;
    for (std::size_t c = 0; egresses[p] && c < classes.size(); ++c) {
      const auto n = sender.counters(static_cast<std::uint8_t>(p), static_cast<std::uint8_t>(c));
      if (n.sent + n.limited + n.lost == 0) continue;
      r.senders.push_back(
          {snapshot.config.ports[p].name, classes[c].scheduling.name, n.sent, n.limited, n.lost});
    }
  }
}

void fill_sources(SignallingReading& r, const SignalGate& gate, Time now) {
  for (const auto& s : gate.senders())
    r.sources.push_back({dotted(s.router), std::to_string(s.port), std::to_string(s.queue), s.accepted,
                         seconds(now - s.last)});
}

void fill_paths(SignallingReading& r, const Ingress& ingress, const Snapshot& snapshot) {
  for (const auto& path : ingress.remote_alphas()) {
    SignalPathReading p;
    p.next_hop = path.path.first;
    p.next_hops = path.path.count;
    p.domain = snapshot.domains[path.domain].name;
    p.alpha = path.alpha.value();
    p.applied_alpha = ingress.applied_alpha(path).value();
    r.paths.push_back(std::move(p));
  }
}

}  // namespace

void fill_signalling(Reading& reading, Ingress& ingress, std::span<const std::unique_ptr<Egress>> egresses,
                     const SignalSender* sender, const Snapshot& snapshot, Time now) {
  SignallingReading& r = reading.signalling;
  r = {};
  r.mode = name(snapshot.config.signalling.mode);
  r.received = ingress.signals();
  if (sender != nullptr) fill_senders(r, egresses, *sender, snapshot);
  if (const SignalGate* gate = ingress.desk().gate()) fill_sources(r, *gate, now);
  fill_paths(r, ingress, snapshot);
}

}  // namespace surety
