// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/contract_book.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

namespace surety {

namespace {
// A reading that is a moment older than the one before shows nothing rather than 2^64.
std::uint64_t grown(std::uint64_t now, std::uint64_t before) {
  return now > before ? now - before : 0;
}

std::uint64_t packets_of(const Loss& lost, DropReason reason) {
  return lost
      .by_reason[static_cast<std::size_t>(std::ranges::find(kLossReasons, reason) - kLossReasons.begin())];
}

// The mean length of lost packets, in bytes.
double mean(std::uint64_t bytes, std::uint64_t packets) {
  return packets == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(packets);
}

// Reasons that a sender causes: a neighbor that does not answer, or a length that does not fit.
constexpr std::array kOfTheSenders{DropReason::neighbor_unresolved, DropReason::mtu_exceeded,
                                   DropReason::device_mtu};

// Bytes of packets dropped for these reasons.
double of_the_senders(const Loss& lost) {
  std::uint64_t packets = 0;
  for (const DropReason reason : kOfTheSenders) packets += packets_of(lost, reason);
  return static_cast<double>(packets) *
         mean(lost.bytes[0] + lost.bytes[1], lost.packets[0] + lost.packets[1]);
}
// The reason of most packets that were lost behind the conditioner by no choice of their sender.
std::optional<DropReason> cause(const Loss& lost) {
  std::optional<DropReason> most;
  for (const DropReason reason : kLossReasons) {
    if (place_of(reason) == LossPlace::conditioner ||
        std::ranges::find(kOfTheSenders, reason) != kOfTheSenders.end())
      continue;
    if (packets_of(lost, reason) > (most ? packets_of(lost, *most) : 0)) most = reason;
  }
  return most;
}
}  // namespace

std::optional<double> ContractBook::Window::respect() const {
  const double all = std::accumulate(guaranteed.begin(), guaranteed.end(), 0.0);
  if (all <= 0) return std::nullopt;
  return std::min(1.0, std::accumulate(delivered.begin(), delivered.end(), 0.0) / all);
}

void ContractBook::sample(const std::vector<ContractSighting>& sightings,
                          const std::vector<ContractTerms>& terms,
                          const std::function<ContractName(const ContractSighting&)>& name, Time now) {
  const double elapsed = last_ ? seconds(now - *last_) : 1.0;
  if (last_ && elapsed <= 0) return;
  last_ = now;
  ++tick_;
  evictions_ = 0;
  for (auto& [service, line] : services_) line.window.begin(tick_ % kWindow);
  for (auto& [key, line] : lines_) begin(*line);
  for (const ContractSighting& s : sightings) {
    if (s.service >= terms.size() || terms[s.service].committed == Rate{}) continue;
    count(session(s, terms[s.service], name), s, terms[s.service], elapsed);
  }
  for (auto& [key, line] : lines_) judge(*line);
}

// Rates and what is alive are of this second alone.
void ContractBook::begin(Line& line) {
  line.window.begin(tick_ % kWindow);
  line.demanding = line.met = line.held_back = 0;
  line.lost = {};
  ContractReading& r = line.shown;
  r.committed_bytes_per_second = r.offered_bytes_per_second = r.delivered_bytes_per_second =
      r.delivered_in_bytes_per_second = 0;
  r.held = 0;
}

ContractBook::Session& ContractBook::session(
    const ContractSighting& s, const ContractTerms& terms,
    const std::function<ContractName(const ContractSighting&)>& name) {
  if (sessions_.size() <= s.worker) sessions_.resize(s.worker + 1);
  if (losses_.size() <= s.worker) losses_.resize(s.worker + 1);
  auto& places = sessions_[s.worker];
  if (places.size() <= s.place) places.resize(s.place + std::size_t{1});
  Session& session = places[s.place];
  const bool anew = !session.line || session.generation != s.generation || session.tick + kWindow < tick_;
  if (anew) {
    session = {.generation = s.generation};
    // Earlier losses of this slot of the flow table belong to its previous owner.
    const auto before = losses_[s.worker].find(s.flow);
    if (before != losses_[s.worker].end())
      session.lost = before->second;
    else if (s.unsure)
      session.lost = s.lost;
    session.let_go = s.before;
  }
  if (anew || session.service != s.service || session.rule != s.rule || session.names != names_ ||
      session.line->gone) {
    session.line = line(s, name(s), terms);
    session.service = s.service;
    session.rule = s.rule;
    session.names = names_;
  }
  session.tick = tick_;
  return session;
}

std::shared_ptr<ContractBook::Line> ContractBook::line(const ContractSighting& s, const ContractName& name,
                                                       const ContractTerms& terms) {
  Key key{name.customer, terms.service, name.contract};
  if (!lines_.contains(key)) {
    const ContractParts::Part part{s.interface, s.rule, name.certain};
    if (named_ < most_ || make_room() || displace(part)) {
      ++named_;
      Line& fresh = *line_of(key);
      fresh.part = part;
      fresh.serial = ++serials_;
      parts_.add(part, serials_);
      by_serial_.emplace(serials_, key);
    } else {
      key = {kRest, terms.service, kRest};
    }
  }
  const std::shared_ptr<Line>& line = line_of(key);
  line->shown.objective = terms.objective;
  if (line->serial) line->shown.down = name.down;
  return line;
}

std::shared_ptr<ContractBook::Line>& ContractBook::line_of(const Key& key) {
  std::shared_ptr<Line>& line = lines_[key];
  if (line) return line;
  line = std::make_shared<Line>();
  ContractReading& r = line->shown;
  std::tie(r.customer, r.service, r.contract) = std::tie(key[0], key[1], key[2]);
  return line;
}

// Contracts of the removed line count in the rest afterwards.
bool ContractBook::displace(const ContractParts::Part& part) {
  const auto serial = parts_.yields(part);
  if (!serial) return false;
  const auto line = lines_.find(by_serial_.at(*serial));
  judge(*line->second);
  erase(line);
  return true;
}

void ContractBook::erase(Lines::iterator at) {
  const std::shared_ptr<Line> line = at->second;
  const std::string service = at->first[1];
  line->gone = true;
  parts_.remove(line->part, *line->serial);
  by_serial_.erase(*line->serial);
  lines_.erase(at);
  --named_;
  if (line->minute.any()) line_of({kRest, service, kRest})->minute += line->minute;
}

// Removes the line absent for longest.
bool ContractBook::make_room() {
  if (evictions_ == kEvictions) return false;
  auto oldest = lines_.end();
  for (auto i = lines_.begin(); i != lines_.end(); ++i)
    if (i->second->seen + kWindow < tick_ && i->second->serial &&
        (oldest == lines_.end() || i->second->seen < oldest->second->seen))
      oldest = i;
  if (oldest == lines_.end()) {
    evictions_ = kEvictions;  // no line is absent: stop trying in this second
    return false;
  }
  ++evictions_;
  erase(oldest);
  return true;
}

void ContractBook::count(Session& session, const ContractSighting& s, const ContractTerms& terms,
                         double elapsed) {
  std::array<std::uint64_t, kPrecedences> let_go, delivered;
  Loss lost = s.lost;
  lost -= session.lost;
  for (std::size_t p = 0; p < kPrecedences; ++p) {
    let_go[p] = grown(s.let_go[p], session.let_go[p]);
    // Lost packets may have been held and counted as delivered: the next bytes make up for them.
    const std::uint64_t gone = session.owed[p] + lost.bytes[p];
    delivered[p] = grown(let_go[p], gone);
    session.owed[p] = grown(gone, let_go[p]);
    session.let_go[p] = std::max(session.let_go[p], s.let_go[p]);
  }
  session.lost = s.lost;
  if (s.lost.refused_bytes + s.lost.packets[0] + s.lost.packets[1] > 0) losses_[s.worker][s.flow] = s.lost;

  const std::uint64_t offered = let_go[0] + let_go[1] + lost.refused_bytes;
  const double committed = terms.committed.bytes_per_second();
  const auto guaranteed = static_cast<double>(let_go[index(Precedence::in)]);
  const auto got = static_cast<double>(delivered[0] + delivered[1]);
  const double missing = std::max(guaranteed - got - of_the_senders(lost), 0.0);

  Line& line = *session.line;
  ContractReading& r = line.shown;
  line.seen = tick_;
  r.objective = terms.objective;
  r.committed_bytes_per_second += committed;
  r.offered_bytes += offered;
  for (std::size_t p = 0; p < kPrecedences; ++p) r.delivered_bytes[p] += delivered[p];
  r.lost += lost;
  line.lost += lost;
  r.held += s.held;
  r.offered_bytes_per_second += static_cast<double>(offered) / elapsed;
  r.delivered_in_bytes_per_second += static_cast<double>(delivered[index(Precedence::in)]) / elapsed;
  r.delivered_bytes_per_second += got / elapsed;
  line.minute += {.offered_bytes = offered,
                  .delivered_in_bytes = delivered[index(Precedence::in)],
                  .delivered_out_bytes = delivered[index(Precedence::out)],
                  .dropped_packets = lost.at(LossPlace::conditioner),
                  .lost_packets = lost.packets[0] + lost.packets[1]};
  ServiceLine& service = services_[terms.service];
  service.objective = terms.objective;
  for (Window* w : {&line.window, &service.window}) {
    w->guaranteed[tick_ % kWindow] += guaranteed;
    w->delivered[tick_ % kWindow] += std::min(got, guaranteed);
  }
  const auto whole = static_cast<std::uint64_t>(std::max(1.0, std::round(elapsed)));
  const bool lost_room = lost.packets[index(Precedence::out)] + packets_of(lost, DropReason::buffer_total) +
                             packets_of(lost, DropReason::buffer_share) >
                         0;
  if (below_rate(session, got / elapsed, committed) && lost_room) line.held_back = whole;
  const bool bad = violated(line, lost, guaranteed, missing);
  const bool demanding =
      guaranteed >= kDemanding * committed * elapsed || (bad && missing >= kDemanding * guaranteed);
  if (!demanding) return;
  line.demanding += whole;
  line.met += bad ? 0 : whole;
  service.demanding += whole;
  service.met += bad ? 0 : whole;
}

bool ContractBook::violated(Line& line, const Loss& lost, double guaranteed, double missing) {
  const bool of_in = lost.packets[index(Precedence::in)] > 0;
  if (const double packet =
          of_in ? mean(lost.bytes[index(Precedence::in)], lost.packets[index(Precedence::in)])
                : mean(lost.bytes[index(Precedence::out)], lost.packets[index(Precedence::out)]);
      packet > 0)
    line.packet = packet;
  const double all = line.missing + missing - kForgiven * guaranteed;
  line.missing = std::clamp(all, 0.0, line.packet);
  return all > line.packet;
}

// True if the bytes delivered in three seconds are below kHeldBack of the committed rate.
bool ContractBook::below_rate(Session& session, double delivered, double committed) {
  const double all = delivered + session.before[0] + session.before[1];
  session.before = {delivered, session.before[0]};
  return ++session.samples > session.before.size() && all < kHeldBack * 3 * committed;
}

void ContractBook::judge(Line& line) {
  ContractReading& r = line.shown;
  line.minute += {.committed_bytes_per_second = r.committed_bytes_per_second,
                  .demanding_seconds = line.demanding,
                  .met_seconds = line.met,
                  .held_back_seconds = line.held_back};
  r.respect_ratio = line.window.respect();
  r.met.reset();
  r.held_back_seconds += line.held_back;
  if (const auto reason = cause(line.lost)) r.reason = reason;
  if (line.demanding == 0) return;
  r.demanding_seconds += line.demanding;
  r.met_seconds += line.met;
  r.met = line.met == line.demanding;
}

ContractTally& ContractTally::operator+=(const ContractTally& other) {
  committed_bytes_per_second = std::max(committed_bytes_per_second, other.committed_bytes_per_second);
  offered_bytes += other.offered_bytes;
  delivered_in_bytes += other.delivered_in_bytes;
  delivered_out_bytes += other.delivered_out_bytes;
  dropped_packets += other.dropped_packets;
  lost_packets += other.lost_packets;
  demanding_seconds += other.demanding_seconds;
  met_seconds += other.met_seconds;
  held_back_seconds += other.held_back_seconds;
  return *this;
}

std::vector<ContractMinute> ContractBook::take_minute() {
  std::vector<ContractMinute> rows;
  for (auto& [key, line] : lines_) {
    const ContractTally tally = std::exchange(line->minute, {});
    if (tally.any())
      rows.push_back(
          {key[0], key[1], key[2], line->shown.objective, tally, line->shown.down.value_or(false)});
  }
  return rows;
}

std::vector<ContractReading> ContractBook::contracts() const {
  std::vector<ContractReading> rows;
  rows.reserve(lines_.size());
  each([&](const ContractReading& row) { rows.push_back(row); });
  return rows;
}

void ContractBook::apply(std::vector<ServiceReading>& services) const {
  for (ServiceReading& s : services) {
    const auto found = services_.find(s.name);
    if (found == services_.end()) continue;
    s.respect_ratio = found->second.window.respect();
    s.objective = found->second.objective;
    s.demanding_seconds = found->second.demanding;
    s.met_seconds = found->second.met;
  }
}

}  // namespace surety
