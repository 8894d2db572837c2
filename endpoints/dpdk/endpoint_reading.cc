// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/endpoint_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "router/process/human.h"

namespace surety::endpoints {

namespace {

using Align = TextTable::Align;

template <class Format>
std::string known(std::optional<double> value, Format format) {
  return value ? format(*value) : std::string();
}

std::string number(std::uint64_t n) {
  return n > 0 ? std::to_string(n) : std::string();
}

// "3 open", or "2 open, 1 closed"; failed ones say so.
std::string states(const FlowCounts& flows, std::uint32_t failed) {
  std::string s;
  for (std::size_t i = 0; i < kFlowStates; ++i) {
    if (flows[i] == 0) continue;
    if (!s.empty()) s += ", ";
    s += fmt::format("{} {}", flows[i], name(static_cast<FlowState>(i)));
  }
  if (failed > 0) s += fmt::format(" ({} failed)", failed);
  return s;
}

TextTable header() {
  TextTable t;
  for (const char* left : {"name", "protocol", "flows"}) t.column(left, Align::left);
  for (const char* right : {"target", "delivered", "of target", "RoS", "RTT", "lost", "p", "repeated"})
    t.column(right, Align::right);
  return t;
}

std::string lost_share(std::uint64_t lost, std::uint64_t received) {
  if (lost + received == 0) return {};
  return human::percent(static_cast<double>(lost) / static_cast<double>(lost + received));
}

std::vector<std::string> row(const SenderReading& s) {
  const bool promised = s.target > 0;
  return {s.name,
          s.protocol,
          states(s.flows, s.failed),
          promised ? human::rate(s.target) : "",
          human::rate(s.delivered),
          promised ? human::percent(s.delivered / s.target) : "",
          known(s.respect.value(), human::percent),
          known(s.rtt.value(), human::duration),
          lost_share(s.lost_packets, s.received_packets),
          known(s.loss_event_rate.value(), [](double p) { return fmt::format("{:.4g}", p); }),
          number(s.retransmitted_packets)};
}

std::vector<std::string> row(const SinkReading& s) {
  return {s.port,
          s.protocol + " sink",
          states(s.flows, 0),
          "",
          human::rate(s.delivered),
          "",
          "",
          "",
          lost_share(s.lost_packets, s.received_packets),
          "",
          ""};
}

std::uint64_t refused(const EndpointReading& r) {
  std::uint64_t n = 0;
  for (const auto& p : r.ports) n = std::accumulate(p.refusals.begin(), p.refusals.end(), n);
  return n;
}

std::string title(const EndpointReading& r) {
  std::string text = human::elapsed(r.elapsed);
  if (const std::uint64_t n = refused(r); n > 0) text += fmt::format("; {} packets refused", n);
  return text + '\n';
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::string live_text(const EndpointReading& r, std::size_t rows) {
  constexpr std::size_t kAround = 3;  // title, header, and the line that says what is left out
  const std::size_t all = r.senders.size() + r.sinks.size();
  const std::size_t shown = all + kAround <= rows + 1 ? all : std::max(rows, kAround + 1) - kAround;
  TextTable table = header();
  for (std::size_t i = 0; i < shown; ++i)
    table.row(i < r.senders.size() ? row(r.senders[i]) : row(r.sinks[i - r.senders.size()]));
  std::string text = title(r) + table.text();
  if (shown < all) text += fmt::format("... and {} more; all are in the report\n", all - shown);
  return text;
}

std::string LiveTable::draw(const std::string& text) {
  // Cursor up to where the last table began, then clear from there to the end of the screen.
  const std::string back = drawn_ > 0 ? fmt::format("\x1b[{}A\r\x1b[J", drawn_) : std::string();
  drawn_ = lines(text);
  return back + text;
}

std::string clipped(const std::string& text, std::size_t columns) {
  std::string out;
  std::size_t column = 0;
  for (const char c : text) {
    if (c == '\n')
      column = 0;
    else if (++column > columns)
      continue;
    out += c;
  }
  return out;
}

}  // namespace surety::endpoints
