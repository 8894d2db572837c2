// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/unit/lab/scenario/scenario_text.h"

namespace surety::lab {
namespace {

using testing::ElementsAre;
using Mode = config::Signalling::Mode;

// A directory with a scenario's router files.
class RouterFiles : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(directory_.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ + "/" + name) << text;
    return directory_ + "/" + name;
  }
  ScenarioResult result(const std::string& router, const std::vector<Setting>& settings = {}) {
    const ScenarioText s{.routers = "routers: {r: {" + router + "}}"};
    return parse_scenario(s.text(), directory_ + "/scenario.yaml", settings);
  }
  std::string directory_ = "/tmp/surety-lab-XXXXXX";
};

RouterNode router(const std::string& sections) {
  const auto s = clean({.routers = "routers: {r: {ports: {a: {}, b: {}}, " + sections + "}}"});
  return s.routers.empty() ? RouterNode{} : s.routers.at(0);
}

TEST(LabRouters, NeedNoDeviceNoVersionAndNoKey) {
  const auto r = router("signalling: {mode: observe}");
  EXPECT_EQ(r.name, "r");
  EXPECT_EQ(r.config.ports[0].device.kind, config::Device::Kind::none);
  EXPECT_EQ(r.config.signalling.mode, Mode::observe);
  EXPECT_TRUE(r.signalling);
}

TEST(LabRouters, TakeDevicesAndVersionsAsTheyAre) {
  const auto s = clean({.routers = "routers: {r: {version: 1, ports: {a: {device: af_xdp x}, b: {}}}}"});
  EXPECT_EQ(s.routers.at(0).config.ports[0].device.name, "x");
  EXPECT_THAT(messages({.routers = "routers: {r: {version: 2, ports: {a: {}, b: {}}}}"}),
              ElementsAre("2:24 version `2` is not supported; this program reads version 1"));
}

TEST(LabRouters, SignalUnlessTheySayOff) {
  for (const auto* on : {"signalling: on", "signalling: {mode: act}", "signalling: {key_file: k}"}) {
    EXPECT_TRUE(router(on).signalling) << on;
    EXPECT_EQ(router(on).config.signalling.mode, Mode::act) << on;
  }
  for (const auto* off : {"signalling: off", "signalling: {mode: off}"}) {
    EXPECT_FALSE(router(off).signalling) << off;
    EXPECT_EQ(router(off).config.signalling.mode, Mode::off) << off;
  }
  EXPECT_THAT(messages({.routers = "routers: {r: {ports: {a: {}, b: {}}, signalling: perhaps}}"}),
              ElementsAre("2:50 `perhaps` is not `on`, `off` or `{mode: ...}`"));
}

TEST(LabRouters, HaveFlowTablesThatHoldTheFlows) {
  const auto capacity = [](const std::string& sections, int flows) {
    return clean({.routers = "routers: {r: {" + sections + "ports: {a: {}, b: {}}}}",
                  .senders = "senders: [{name: f, host: h, to: s, protocol: udp, rate: 1 kbit/s, flows: " +
                             std::to_string(flows) + "}]"})
        .routers.at(0)
        .config.flow_table.capacity;
  };
  EXPECT_EQ(capacity("", 1), 4096u);
  EXPECT_EQ(capacity("", 10'000), 20'000u);
  EXPECT_EQ(capacity("flow_table: {capacity: 128}, ", 1), 128u);
  EXPECT_EQ(clean({}).routers.at(0).config.flow_table.creation_rate, 0u) << "no limit";
}

TEST(LabRouters, ReportErrorsAndWarningsOfTheirSections) {
  EXPECT_THAT(messages({.routers = "routers: {r: {ports: {a: {}, b: {}}, sevices: {}}}"}),
              ElementsAre("2:38 unknown key `sevices` in router `r`; did you mean `services`?"));
  EXPECT_THAT(messages({.routers = "routers: {r: {ports: {a: {}, b: {burst: 3 kB}}}}"}),
              ElementsAre("2:41 warning: `burst` does nothing without `shape`"));
  EXPECT_THAT(messages({.routers = "routers: {r: }", .links = "links: [{between: [h, s]}]"}),
              ElementsAre("2:11 expected router `r`: `key: value` pairs"));
}

TEST_F(RouterFiles, StandBesideTheScenario) {
  write("r.yaml", "version: 1\nports: {a: {device: tap x}, b: {}}\nsignalling: {mode: act, key_file: k}\n");
  const auto r = result("config: r.yaml");
  EXPECT_THAT(messages_of(r), ElementsAre());
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.scenario->routers.at(0).config.ports.size(), 2u);
  EXPECT_EQ(r.scenario->routers.at(0).config.signalling.key_file, directory_ + "/k");
  EXPECT_EQ(r.scenario->routers.at(0).config.flow_table.capacity, 4096u);
}

TEST_F(RouterFiles, SignalAsTheScenarioSays) {
  write("off.yaml", "version: 1\nports: {a: {}, b: {}}\nsignalling: {mode: off}\n");
  EXPECT_FALSE(result("config: off.yaml").scenario.value().routers.at(0).signalling);
  EXPECT_TRUE(result("config: off.yaml, signalling: on").scenario.value().routers.at(0).signalling);
  write("silent.yaml", "version: 1\nports: {a: {}, b: {}}\n");
  EXPECT_TRUE(result("config: silent.yaml").scenario.value().routers.at(0).signalling);
  EXPECT_FALSE(result("config: silent.yaml, signalling: off").scenario.value().routers.at(0).signalling);
}

TEST_F(RouterFiles, NameTheirOwnLines) {
  const auto path = write("r.yaml", "version: 1\nports: {a: {}, b: {mtu: 1}}\n");
  const auto r = result("config: r.yaml");
  EXPECT_FALSE(r.ok());
  ASSERT_EQ(r.diagnostics.size(), 1u);
  EXPECT_EQ(r.diagnostics[0].file, path);
  EXPECT_EQ(r.diagnostics[0].line, 2);
  EXPECT_EQ(r.diagnostics[0].source, "ports: {a: {}, b: {mtu: 1}}");
}

TEST_F(RouterFiles, ThatAreNotThereOrNoYamlAreOneErrorEach) {
  EXPECT_THAT(messages_of(result("config: none.yaml")),
              ElementsAre("2:23 `" + directory_ + "/none.yaml` cannot be read: No such file or directory"));
  write("broken.yaml", "ports: ]\n");
  const auto r = result("config: broken.yaml");
  ASSERT_EQ(r.diagnostics.size(), 1u);
  EXPECT_TRUE(r.diagnostics[0].message.starts_with("not YAML: "));
}

TEST_F(RouterFiles, HaveOnlySignallingBesideThem) {
  write("r.yaml", "version: 1\nports: {a: {}, b: {}}\n");
  EXPECT_THAT(messages_of(result("config: r.yaml, ports: {a: {}}")),
              ElementsAre("2:31 unknown key `ports` in router `r`; there are: config, signalling"));
}

TEST_F(RouterFiles, ChangeWhereASettingEnters) {
  write("r.yaml", "version: 1\nports: {a: {}, b: {shape: 1 Mbit/s}}\n");
  const auto r =
      result("config: r.yaml", {{"routers.r.ports.b.shape", "2 Mbit/s"}, {"routers.r.signalling", "off"}});
  EXPECT_THAT(messages_of(r), ElementsAre());
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.scenario->routers.at(0).config.ports[1].shaper.rate, Rate::bits_per_second(2'000'000));
  EXPECT_FALSE(r.scenario->routers.at(0).signalling);
  EXPECT_THAT(
      messages_of(result("config: r.yaml", {{"routers.r.ports.b.shape", "2 Mbps"}})),
      ElementsAre("routers.r.ports.b.shape=2 Mbps: `Mbps` is not a unit of a rate; did you mean `Mb/s`?"));
  EXPECT_FALSE(result("config: none.yaml", {{"routers.r.ports.b.shape", "2 Mbit/s"}}).ok());
}

TEST_F(RouterFiles, OfTwoRoutersChangeOneByOne) {
  write("r.yaml", "version: 1\nports: {a: {}, b: {}}\n");
  const ScenarioText s{.routers = "routers: {r: {config: r.yaml}, q: {config: r.yaml}}"};
  const std::vector<Setting> settings{{"routers.q.ports.a.mtu", "1400"}};
  const auto r = parse_scenario(s.text(), directory_ + "/scenario.yaml", settings);
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.scenario->routers.at(0).config.ports[0].mtu, 1500);
  EXPECT_EQ(r.scenario->routers.at(1).config.ports[0].mtu, 1400);
}

}  // namespace
}  // namespace surety::lab
