// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_config.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/unit/lab/scenario/scenario_text.h"

namespace surety::lab {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::IsEmpty;

struct Live {
  Plan plan;
  LiveLayout layout;
  Json router(std::size_t r = 0) const { return Json::parse(router_configuration(plan, layout, r, 1)); }
  Json endpoints() const { return Json::parse(endpoint_configuration(plan, layout, 9)); }
};
Live live(const ScenarioText& text) {
  auto result = result_of(text);
  for (const auto& d : result.diagnostics)
    EXPECT_NE(d.severity, config::Diagnostic::Severity::error) << d.format();
  Plan plan(std::move(*result.scenario));
  LiveLayout layout = live_layout(plan, "t-");
  return {std::move(plan), std::move(layout)};
}

// What the programs themselves say to it.
template <class Result>
std::vector<std::string> complaints(const Result& result) {
  std::vector<std::string> out;
  for (const auto& d : result.diagnostics) out.push_back(d.format());
  return out;
}

TEST(LabLiveConfig, TheRouterIsTheScenariosWithTheLayoutsPlaces) {
  ScenarioText text;
  text.routers =
      "routers: {r: {router: {role: border, name: mine}, ports: {a: {addresses: 10.0.0.254/8, mac: "
      "02:00:00:00:00:99}, "
      "b: {trust: core, shape: 1 Mbit/s}}, routes: [{to: 0.0.0.0/0, port: b}], "
      "services: {s: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB}}, classify: [{match: {port: a}, "
      "service: s}]}}";
  EXPECT_EQ(router_configuration(live(text).plan, live(text).layout, 0, 1), R"({
  "router": {
    "role": "border",
    "name": "t-r",
    "id": "198.18.0.1"
  },
  "ports": {
    "a": {
      "device": "af_xdp p0",
      "addresses": [
        "100.64.0.2/30"
      ]
    },
    "b": {
      "trust": "core",
      "shape": "1000000 bit/s",
      "device": "af_xdp p1",
      "addresses": [
        "100.64.0.5/30"
      ],
      "burst": "3000 B"
    }
  },
  "routes": [
    {
      "to": "10.0.0.1/32",
      "via": "100.64.0.1"
    },
    {
      "to": "10.0.0.2/32",
      "via": "100.64.0.6"
    }
  ],
  "services": {
    "s": {
      "conditioner": "police",
      "rate": "1 Mbit/s",
      "bucket": "10 kB"
    }
  },
  "classify": [
    {
      "match": {
        "port": "a"
      },
      "service": "s"
    }
  ],
  "version": "1",
  "workers": [
    "1"
  ],
  "neighbors": [
    {
      "address": "100.64.0.1",
      "mac": "02:01:00:00:00:00",
      "port": "a"
    },
    {
      "address": "100.64.0.6",
      "mac": "02:01:00:00:00:01",
      "port": "b"
    }
  ],
  "signalling": {
    "mode": "act",
    "key_file": "signal.key",
    "max_age": "10000000000 ns",
    "report": "samples",
    "queue_limit": "1000",
    "source_limit": "10000"
  },
  "metrics": {
    "listen": "off"
  },
  "dpdk": {
    "hugepages": "off",
    "max_routes": "1024"
  },
  "kernel": {
    "routes": "off",
    "addresses": "on"
  }
}
)");
  EXPECT_THAT(
      complaints(config::parse(router_configuration(live(text).plan, live(text).layout, 0, 1), "r.yaml")),
      IsEmpty());
}

// The file's own are of another machine: its cores, its NICs' queues, its kernel's devices.
TEST(LabLiveConfig, WorkersQueuesAndTwinsAreNotTakenOver) {
  ScenarioText text;
  text.routers =
      "routers: {r: {workers: {cores: [1, 2], idle: poll}, ports: {a: {worker: 2, twin: off, receive: "
      "{queues: "
      "2, workers: [1, 2]}}, b: {trust: core, worker: 1}}}}";
  const Live one = live(text);
  EXPECT_EQ(one.router().at("workers"), Json({"1"}));
  EXPECT_EQ(one.router().at("ports").at("a"),
            Json({{"device", "af_xdp p0"}, {"addresses", Json::array({"100.64.0.2/30"})}}));
  EXPECT_THAT(complaints(config::parse(one.router().dump(), "r.yaml")), IsEmpty());
}

TEST(LabLiveConfig, SignalsAreOnAsInTheLab) {
  ScenarioText text;
  const auto signalling = [&](const std::string& own) {
    text.routers = "routers: {r: {router: {id: 192.0.2.9, role: core}, ports: {a: {}, b: {}}" + own + "}}";
    return live(text).router().value("signalling", Json());
  };
  EXPECT_EQ(signalling("").at("mode"), "act");
  EXPECT_EQ(live(text).router().at("router").at("id"), "192.0.2.9");
  const Json observe = signalling(
      ", signalling: {mode: observe, max_age: 1 s, report: events, queue_limit: 7, source_limit: 8}");
  EXPECT_EQ(observe.at("mode"), "observe");
  EXPECT_EQ(observe.at("max_age"), "1000000000 ns");
  EXPECT_EQ(observe.at("report"), "events");
  EXPECT_EQ(observe.at("queue_limit"), "7");
  EXPECT_EQ(observe.at("source_limit"), "8");
  EXPECT_THAT(complaints(config::parse(live(text).router().dump(), "r.yaml")), IsEmpty());
  EXPECT_TRUE(signalling(", signalling: off").is_null());
}

TEST(LabLiveConfig, TheKeyFileIsOne) {
  EXPECT_EQ(key_file({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xa, 0xb, 0xc, 0xd, 0xe, 0xff}),
            "keys:\n  - {id: 1, key: 000102030405060708090a0b0c0d0eff}\n");
}

TEST(LabLiveConfig, APortWithoutALinkHasNoDevice) {
  ScenarioText text;
  text.routers = "routers: {r: {ports: {a: {}, b: {}, idle: {addresses: 10.9.0.1/24}}}}";
  const Json ports = live(text).router().at("ports");
  EXPECT_EQ(ports.at("idle"), Json({{"device", "null"}}));
  EXPECT_EQ(ports.at("a").at("device"), "af_xdp p0");
}

TEST(LabLiveConfig, ALinkThatHoldsThePortBackShapesIt) {
  ScenarioText text;
  text.routers = "routers: {r: {ports: {a: {shape: 3 Mbit/s}, b: {shape: 20 Mbit/s, burst: 40 kB}}}}";
  text.links = "links: [{between: [h, r.a], rate: 5 Mbit/s}, {between: [r.b, s], rate: 10 Mbit/s}]";
  Json ports = live(text).router().at("ports");
  EXPECT_EQ(ports.at("a").at("shape"), "3000000 bit/s") << "the shaper is slower than the link";
  EXPECT_EQ(ports.at("a").at("burst"), "3750 B") << "10 ms";
  EXPECT_EQ(ports.at("b").at("shape"), "10000000 bit/s") << "the link is";
  EXPECT_EQ(ports.at("b").at("burst"), "40000 B");
  text.links =
      "links: [{between: [h, r.a], rate: 5 Mbit/s}, {between: [r.b, s], rate: 10 Mbit/s, queue: 50 packets}]";
  ports = live(text).router().at("ports");
  EXPECT_EQ(ports.at("b").at("shape"), "20000000 bit/s") << "a link with a queue of its own takes what comes";
}

TEST(LabLiveConfig, SeveralHostsBehindAPortHoldNothingBack) {
  ScenarioText text;
  text.hosts = "hosts: [{name: h, times: 2}, s]";
  text.links = "links: [{between: [h, r.a], rate: 5 Mbit/s}, {between: [r.b, s]}]";
  const Json config = live(text).router();
  EXPECT_FALSE(config.at("ports").at("a").contains("shape"));
  EXPECT_THAT(config.at("ports").at("a").at("addresses"), ElementsAre("100.64.0.2/30", "100.64.0.6/30"));
  EXPECT_EQ(config.at("neighbors").size(), 3u);
}

TEST(LabLiveConfig, RoutesLeadOverOtherRouters) {
  ScenarioText text;
  text.routers = "routers: {r: {ports: {a: {}, b: {}}}, q: {ports: {in: {}, out: {}}}}";
  text.links = "links: [{between: [h, r.a]}, {between: [r.b, q.in]}, {between: [q.out, s]}]";
  const Live both = live(text);
  EXPECT_EQ(both.router(0).at("routes")[1], Json({{"to", "10.0.0.2/32"}, {"via", "100.64.0.6"}}));
  EXPECT_EQ(both.router(1).at("routes")[0], Json({{"to", "10.0.0.1/32"}, {"via", "100.64.0.5"}}));
  EXPECT_EQ(both.router(1).at("neighbors")[0],
            Json({{"address", "100.64.0.5"}, {"mac", "02:02:00:00:00:01"}, {"port", "in"}}));
}

TEST(LabLiveConfig, TheEndpointsAreAllHostsOfTheScenario) {
  ScenarioText text;
  text.duration = "duration: 10 s\nmeasure: 2 s - 9.5 s";
  text.senders =
      "senders: [{name: f, host: h, to: s, protocol: gtfrc, target: 2 Mbit/s, packet: 1000 B, start: 0 s - "
      "100 ms, "
      "in: [AF11, AF12]}]";
  EXPECT_EQ(endpoint_configuration(live(text).plan, live(text).layout, 9), R"({
  "version": "1",
  "ports": {
    "h0": {
      "device": "af_packet h0",
      "addresses": [
        "10.0.0.1/32",
        "100.64.0.1/30"
      ],
      "gateway": "100.64.0.2",
      "mtu": "1500"
    },
    "h1": {
      "device": "af_packet h1",
      "addresses": [
        "10.0.0.2/32",
        "100.64.0.6/30"
      ],
      "gateway": "100.64.0.5",
      "mtu": "1500"
    }
  },
  "sinks": [
    {
      "port": "h1",
      "listen": [
        "dccp 5001"
      ],
      "ack": "every",
      "window": "4000000 B",
      "in": [
        "AF11",
        "AF12"
      ]
    }
  ],
  "senders": [
    {
      "name": "f",
      "protocol": "gtfrc",
      "target": "2 Mbit/s",
      "packet": "1000 B",
      "start": "0 s - 100 ms",
      "port": "h0",
      "to": "10.0.0.2:5001"
    }
  ],
  "duration": "10000000000 ns",
  "measure": "2000000000 ns - 9500000000 ns",
  "seed": "9",
  "dpdk": {
    "hugepages": "off"
  }
}
)");
  EXPECT_THAT(complaints(config::parse_endpoints(
                  endpoint_configuration(live(text).plan, live(text).layout, 9), "e.yaml")),
              IsEmpty());
}

TEST(LabLiveConfig, SendersWithEqualWishesShareASink) {
  ScenarioText text;
  text.senders =
      "senders: [{name: f, host: h, to: s, protocol: newreno}, {name: g, host: h, to: s, protocol: newreno}, "
      "{name: d, host: h, to: s, protocol: newreno, ack: delayed}, {name: u, host: h, to: s, protocol: udp, "
      "rate: 1 Mbit/s}]";
  const Json all = live(text).endpoints();
  std::vector<std::string> listen, to;
  for (const auto& s : all.at("sinks"))
    listen.push_back(s.at("listen")[0].get<std::string>() + " " + s.at("ack").get<std::string>());
  for (const auto& s : all.at("senders")) to.push_back(s.at("to"));
  EXPECT_THAT(listen, ElementsAre("tcp 5001 every", "tcp 5002 delayed", "udp 5001 every"));
  EXPECT_THAT(to, ElementsAre("10.0.0.2:5001", "10.0.0.2:5001", "10.0.0.2:5002", "10.0.0.2:5001"));
}

TEST(LabLiveConfig, ReplicasGetNamesThatEndpointsKnow) {
  ScenarioText text;
  text.hosts = "hosts: [{name: h, times: 2}, s]";
  const Live replicas = live(text);
  const Json all = replicas.endpoints();
  EXPECT_EQ(all.at("senders")[1].at("name"), "f.2");
  EXPECT_EQ(all.at("senders")[1].at("port"), "h1");
  EXPECT_THAT(complaints(config::parse_endpoints(all.dump(), "e.yaml")), IsEmpty());
}

}  // namespace
}  // namespace surety::lab
