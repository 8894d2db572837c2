// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/observer.h"

#include <string>
#include <utility>

namespace surety::endpoints {
namespace {

using namespace metrics;

std::string full(const char* name) {
  return std::string("surety_endpoint_") + name;
}

Labels labels(const SenderReading& s) {
  return {{"sender", s.name}, {"protocol", s.protocol}};
}
Labels labels(const SinkReading& s) {
  return {{"sink", s.port}, {"protocol", s.protocol}};
}

class Renderer {
 public:
  explicit Renderer(const EndpointReading& reading) : r_(reading) {}

  // One series per sender.
  template <class Value>
  void senders(MetricType type, const char* name, const char* help, Value value) {
    Family family(type, full(name), help);
    for (const SenderReading& s : r_.senders) family.add(labels(s), value(s));
    family.move_to(out_);
  }
  // One series per sender and per sink: `value` takes either.
  template <class Value>
  void both(MetricType type, const char* name, const char* help, Value value) {
    Family family(type, full(name), help);
    for (const auto& s : r_.senders) family.add(labels(s), value(s));
    for (const auto& s : r_.sinks) family.add(labels(s), value(s));
    family.move_to(out_);
  }
  void flows() {
    Family family(MetricType::Gauge, full("flows"), "Flows by state.");
    const auto add = [&](const auto& s) {
      for (std::size_t i = 0; i < kFlowStates; ++i) {
        Labels l = labels(s);
        l.push_back({"state", name(static_cast<FlowState>(i))});
        family.add(std::move(l), std::uint64_t{s.flows[i]});
      }
    };
    for (const auto& s : r_.senders) add(s);
    for (const auto& s : r_.sinks) add(s);
    family.move_to(out_);
  }
  void ports() {
    Family refusals(MetricType::Counter, full("refusals_total"),
                    "Packets that a flow or sink refused, by reason.");
    Family drops(MetricType::Counter, full("frame_drops_total"), "Frames that reached no flow, by reason.");
    Family rx(MetricType::Counter, full("frames_received_total"), "Frames received.");
    Family tx(MetricType::Counter, full("frames_sent_total"), "Frames handed to the device.");
    for (const auto& p : r_.ports) {
      for (std::size_t i = 0; i < kRefusals; ++i)
        refusals.add({{"port", p.name}, {"reason", std::string(kRefusalInfo[i].name)}}, p.refusals[i]);
      for (std::size_t i = 0; i < kDropReasons; ++i)
        drops.add({{"port", p.name}, {"reason", std::string(kDropReasonInfo[i].name)}}, p.drops[i]);
      rx.add({{"port", p.name}}, p.rx_packets);
      tx.add({{"port", p.name}}, p.tx_packets);
    }
    for (Family* f : {&refusals, &drops, &rx, &tx}) f->move_to(out_);
  }
  void build_info() {
    single(out_, MetricType::Gauge, full("build_info"), "1; the version is in the label.", 1.0,
           {{"version", r_.version}});
  }
  Families take() { return std::move(out_); }

 private:
  const EndpointReading& r_;
  Families out_;
};

void counters(Renderer& r) {
  constexpr auto kCounter = MetricType::Counter;
  using S = const SenderReading&;
  r.senders(kCounter, "sent_packets_total", "IP packets sent.", [](S s) { return s.sent_packets; });
  r.senders(kCounter, "sent_bytes_total", "Bytes of IP packets sent.", [](S s) { return s.sent_bytes; });
  r.senders(kCounter, "retransmitted_packets_total", "IP packets sent again.",
            [](S s) { return s.retransmitted_packets; });
  r.both(kCounter, "received_packets_total",
         "IP packets received; for a sender: by its receiver, as far as it has reported them.",
         [](const auto& s) { return s.received_packets; });
  r.both(kCounter, "received_bytes_total",
         "Bytes of IP packets received; for a sender: by its receiver, as far as it has reported them.",
         [](const auto& s) { return s.received_bytes; });
  r.both(kCounter, "payload_bytes_total", "Bytes that reached the receiving application, each once.",
         [](const auto& s) { return s.payload_bytes; });
  r.both(kCounter, "lost_packets_total", "IP packets found to be lost.",
         [](const auto& s) { return s.lost_packets; });
}

void gauges(Renderer& r) {
  constexpr auto kGauge = MetricType::Gauge;
  using S = const SenderReading&;
  r.senders(kGauge, "target_bytes_per_second", "Target rate of IP packets.",
            [](S s) { return s.target > 0 ? std::optional(s.target) : std::nullopt; });
  r.both(kGauge, "delivered_bytes_per_second",
         "Bytes of IP packets delivered to the applications in the last second; of TCP, in order.",
         [](const auto& s) { return s.delivered; });
  r.senders(kGauge, "respect_ratio",
            "Respect of service so far: the mean over seconds of min(1, rate / target).",
            [](S s) { return s.respect.value(); });
  r.senders(kGauge, "rtt_seconds", "Smoothed round-trip time, mean over flows.",
            [](S s) { return s.rtt.value(); });
  r.senders(kGauge, "loss_event_rate", "TFRC's p, mean over flows.",
            [](S s) { return s.loss_event_rate.value(); });
  r.senders(kGauge, "allowed_rate_bytes_per_second", "TFRC's X, before any guarantee.",
            [](S s) { return s.allowed_rate; });
  r.senders(kGauge, "broken_guarantees", "gTFRC flows whose X is below guarantee / theta.",
            [](S s) { return s.broken_guarantees; });
  r.senders(kGauge, "failed_flows", "Flows that failed.", [](S s) { return std::uint64_t{s.failed}; });
}

}  // namespace

Families render(const EndpointReading& reading) {
  Renderer r(reading);
  r.build_info();
  counters(r);
  gauges(r);
  r.flows();
  r.ports();
  return r.take();
}

}  // namespace surety::endpoints
