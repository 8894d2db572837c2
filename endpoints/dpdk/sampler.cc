// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/sampler.h"

#include <algorithm>

namespace surety::endpoints {

namespace {

using namespace std::chrono_literals;
constexpr Duration kPeriod = 1s;

void read(const Engine* engine, FlowSample& out, Time now) {
  out.at = now;
  out.reading = FlowReading{};
  if (engine == nullptr) {
    out.state = FlowState::closed;
    out.failure = Failure::refused;
    return;
  }
  out.state = engine->state();
  out.failure = engine->failure();
  engine->read(out.reading);
}

}  // namespace

void EndWatch::look(std::size_t flows, Time now) {
  const auto all = traffic_.flows();
  for (std::size_t n = std::min(flows, all.size()); n > 0; --n) {
    if (++next_ >= all.size()) next_ = 0;
    if (over_[next_]) continue;
    const Engine* engine = traffic_.engine(all[next_]);
    const FlowState state = engine == nullptr ? FlowState::closed : engine->state();
    if (state < FlowState::closing) continue;
    ended_[next_] = std::min(ended_[next_], now);
    if (state != FlowState::closed) continue;
    over_[next_] = true;
    ++closed_;
  }
}

void EndWatch::end_all(Time now) {
  for (Time& t : ended_) t = std::min(t, now);
}

Sampler::Sampler(const Traffic& traffic, const EndWatch& ends, const std::vector<PortSample>& ports,
                 SnapshotExchange& exchange)
    : traffic_(traffic), ends_(ends), ports_(ports), exchange_(exchange) {}

void Sampler::begin(Time zero) {
  zero_ = zero;
  next_ = zero + kPeriod;
}

void Sampler::step(Time now) {
  if (!sweeping_ && now < next_) return;
  Snapshot* s = exchange_.to_fill();
  if (s == nullptr) return;  // the observer is late: the sweep will be, too
  if (!sweeping_) open(*s, now);
  if (sender_ < traffic_.flows().size())
    read_senders(*s, now);
  else if (port_ < traffic_.ports())
    read_accepted(*s, now);
  else
    publish(*s);
}

bool Sampler::finish(Time now, Time end) {
  if (!finishing_ && !sweeping_) {
    finishing_ = true;
    end_ = end;
    next_ = now;
  }
  if (!finished_) step(now);
  return finished_;
}

void Sampler::open(Snapshot& s, Time now) {
  sweeping_ = true;
  while (next_ <= now) next_ += kPeriod;
  sender_ = port_ = 0;
  index_ = 1;
  s.zero = zero_;
  s.at = std::min(now, end_);
  s.final = finishing_;
  s.senders.resize(traffic_.flows().size());
  s.accepted.clear();
}

void Sampler::read_senders(Snapshot& s, Time now) {
  const auto flows = traffic_.flows();
  const std::size_t end = std::min(flows.size(), sender_ + kPerTurn);
  for (; sender_ < end; ++sender_) {
    const SenderFlow& f = flows[sender_];
    FlowSample& out = s.senders[sender_];
    out.port = f.port;
    out.transport = f.transport;
    out.tuple = f.tuple;
    out.ended = ends_.ended(sender_);
    read(traffic_.engine(f), out, now);
  }
}

void Sampler::read_accepted(Snapshot& s, Time now) {
  const Host& host = traffic_.station(port_).host();
  const auto one = [&](FlowIndex, Transport transport, const Tuple& tuple, const Engine& engine,
                       bool accepted) {
    if (!accepted) return;
    FlowSample& out = s.accepted.emplace_back();
    out.port = port_;
    out.transport = transport;
    out.tuple = tuple;
    read(&engine, out, now);
  };
  index_ = host.for_each_from(index_, kPerTurn, one);
  if (index_ != kNoFlowIndex) return;
  ++port_;
  index_ = 1;
}

void Sampler::publish(Snapshot& s) {
  s.ports = ports_;
  for (std::size_t p = 0; p < s.ports.size(); ++p) {
    s.ports[p].refusals = traffic_.station(p).host().refusals();
    s.ports[p].drops = traffic_.station(p).drops();
  }
  sweeping_ = false;
  finished_ = finishing_;
  exchange_.publish();
}

}  // namespace surety::endpoints
