// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/reading_server.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace surety {

ReadingServer::ReadingServer(Reading blank, const Snapshot& snapshot, const Ingress& ingress,
                             SignallingCopy copy, TreeCopy tree, Fill fill, FillSome fill_some)
    : ingress_(ingress),
      snapshot_(&snapshot),
      fill_(std::move(fill)),
      fill_some_(std::move(fill_some)),
      signalling_(std::move(copy)),
      tree_(std::move(tree)),
      reading_(std::move(blank)) {}

void ReadingServer::begin() {
  signalling_.start();
  tree_.start(reading_);
  rows_ = 0;
}

// true: complete.
bool ReadingServer::step(Time now) {
  if (!signalling_.step(now) || !tree_.step(reading_, *snapshot_) || !fill_some_(reading_, *snapshot_, rows_))
    return false;
  fill_(reading_, *snapshot_);
  return true;
}

std::optional<Reading> ReadingServer::read(RemoteCall& calls, Sleeper& sleeper, const TscClock& clock) {
  const std::scoped_lock lock(mutex_);
  bool begun = false;
  const auto copy = [&] {
    if (!std::exchange(begun, true)) begin();
    return step(clock.now());
  };
  if (!calls.run_in_steps(
          copy, [&] { sleeper.wake(); }, kPatience))
    return std::nullopt;
  return named();
}

const Reading& ReadingServer::read_here(Time now) {
  begin();
  while (!step(now)) {
  }
  return named();
}

const Reading& ReadingServer::named() {
  reading_.signalling = read_signalling(signalling_.numbers(), ingress_, *snapshot_);
  name_members(reading_, *snapshot_);
  return reading_;
}

void ReadingServer::adopt(Reading& blank, std::vector<SignallingNumbers::Queue>& queues,
                          const Snapshot& snapshot) {
  std::swap(reading_, blank);
  signalling_.adopt(queues);
  snapshot_ = &snapshot;
  tree_.start(reading_);  // a copy in progress starts again
  rows_ = 0;
}

namespace {

const char* name(config::Signalling::Mode mode) {
  using Mode = config::Signalling::Mode;
  return mode == Mode::off ? "off" : mode == Mode::observe ? "observe" : "act";
}

std::string dotted(std::uint32_t router_id) {
  return to_string(IpAddress::v4(__builtin_bswap32(router_id)));
}

// Sorts rows by key; of duplicates the one copied first stays.
template <class Row, class KeyOf>
std::vector<Row> in_order(std::vector<Row> rows, KeyOf key_of) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return key_of(a) < key_of(b); });
  const auto end = std::unique(rows.begin(), rows.end(),
                               [&](const Row& a, const Row& b) { return key_of(a) == key_of(b); });
  rows.erase(end, rows.end());
  return rows;
}

// Adds only queues with counts; the others would be rows of zeros.
void add_senders(SignallingReading& r, const SignallingNumbers& numbers, const Snapshot& snapshot) {
  for (const auto& q : numbers.queues) {
    const auto& n = q.counters;
    if (n.sent + n.limited + n.lost == 0) continue;
    r.senders.push_back({snapshot.config.ports[q.port].name,
                         snapshot.queues[q.port].classes[q.class_index].scheduling.name, n.sent, n.limited,
                         n.lost});
  }
}

void add_sources(SignallingReading& r, const SignallingNumbers& numbers) {
  const auto key = [](const SignalGate::Sender& s) { return std::tuple(s.router, s.port, s.queue); };
  for (const auto& s : in_order(numbers.sources, key))
    r.sources.push_back({dotted(s.router), std::to_string(s.port), std::to_string(s.queue), s.accepted,
                         seconds(numbers.at - s.last)});
}

void add_paths(SignallingReading& r, const SignallingNumbers& numbers, const Ingress& ingress,
               const Snapshot& snapshot) {
  const auto key = [](const RemoteAlphaReading& p) { return std::tuple(p.path, p.domain); };
  for (const auto& path : in_order(numbers.paths, key)) {
    SignalPathReading p;
    p.path = path.path.length == 0 ? "others" : to_string(path.path);
    p.domain = snapshot.domains[path.domain].name;
    p.alpha = path.alpha.value();
    p.applied_alpha = ingress.applied_alpha(path, snapshot).value();
    r.paths.push_back(std::move(p));
  }
}

}  // namespace

SignallingReading read_signalling(const SignallingNumbers& numbers, const Ingress& ingress,
                                  const Snapshot& snapshot) {
  SignallingReading r;
  r.mode = name(snapshot.config.signalling.mode);
  r.received = numbers.received;
  add_senders(r, numbers, snapshot);
  add_sources(r, numbers);
  add_paths(r, numbers, ingress, snapshot);
  return r;
}

}  // namespace surety
