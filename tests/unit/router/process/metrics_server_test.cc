// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/metrics_server.h"

#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <stdexcept>

#include "router/process/metric_family.h"
#include "tests/unit/router/process/http.h"

namespace surety {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

metrics::Families routes(int count) {
  metrics::Families out;
  metrics::single(out, metrics::MetricType::Gauge, "surety_routes", "Routes.", static_cast<double>(count));
  return out;
}
std::unique_ptr<metrics::Readings> some() {
  return std::make_unique<metrics::Readings>([] { return routes(7); });
}
// Counts the scrapes.
std::unique_ptr<metrics::Readings> counted(std::atomic<int>& readings) {
  return std::make_unique<metrics::Readings>([&] { return routes(++readings); });
}

std::string scrape(int port, const std::string& headers = "", const std::string& path = "/metrics") {
  return test::get(port, path, headers);
}

void expect_refused(const std::string& listen, const std::string& why) {
  EXPECT_THAT([&] { MetricsServer(listen, {}, some()); }, ThrowsMessage<std::runtime_error>(why));
}

TEST(MetricsServer, TakesOneReadingPerScrape) {
  std::atomic<int> readings = 0;
  const MetricsServer server("127.0.0.1:0", {}, counted(readings));
  const std::string first = scrape(server.port());
  EXPECT_THAT(first, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(first, HasSubstr("\nsurety_routes 1\n"));
  EXPECT_THAT(scrape(server.port()), HasSubstr("\nsurety_routes 2\n"));
  EXPECT_EQ(readings, 2);
}

TEST(MetricsServer, ListensOnIpv6) {
  EXPECT_GT(MetricsServer("[::1]:0", {}, some()).port(), 0);
}

TEST(MetricsServer, HasNothingElse) {
  const MetricsServer server("127.0.0.1:0", {}, some());
  EXPECT_THAT(scrape(server.port(), "", "/"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(scrape(server.port(), "", "/metrics/../etc/passwd"), StartsWith("HTTP/1.1 404 "));
}

TEST(MetricsServer, AsksForTheLogin) {
  std::atomic<int> readings = 0;
  MetricsServer server("127.0.0.1:0", {.login = MetricsAccess::digest_of("prometheus:s3cret")},
                       counted(readings));
  const auto with = [&](const std::string& headers) { return scrape(server.port(), headers); };
  const std::string right = "Authorization: Basic cHJvbWV0aGV1czpzM2NyZXQ=\r\n";
  for (const std::string wrong :
       {"", "Authorization: Basic cHJvbWV0aGV1czpzM2NyZXR0\r\n", "Authorization: Basic !\r\n",
        "Authorization: Basic cHJvbWV0aGV1cw==\r\n", "Authorization: Bearer s3cret\r\n"}) {
    const std::string reply = with(wrong);
    EXPECT_THAT(reply, StartsWith("HTTP/1.1 401 Unauthorized")) << wrong;
    EXPECT_THAT(reply, HasSubstr("WWW-Authenticate: Basic realm=\"surety\"")) << wrong;
  }
  EXPECT_THAT(scrape(server.port(), "", "/nothing"), StartsWith("HTTP/1.1 401 "));
  EXPECT_EQ(readings, 0);
  EXPECT_THAT(with(right), HasSubstr("\nsurety_routes 1\n"));

  server.admit({.login = MetricsAccess::digest_of("prometheus:other")});
  EXPECT_THAT(with(right), StartsWith("HTTP/1.1 401 "));
  server.admit({});
  EXPECT_THAT(with(""), HasSubstr("\nsurety_routes 2\n"));
}

TEST(MetricsServer, NamesATakenAddressAndTheFix) {
  const MetricsServer server("127.0.0.1:0", MetricsAccess{}, some());
  const std::string taken = "127.0.0.1:" + std::to_string(server.port());
  expect_refused(taken,
                 "metrics: " + taken +
                     " is taken by another program: choose another port under `metrics: {listen: ...}`");
}

TEST(MetricsServer, FreesItsAddress) {
  std::optional<MetricsServer> server(std::in_place, "127.0.0.1:0", MetricsAccess{}, some());
  const std::string address = "127.0.0.1:" + std::to_string(server->port());
  server.reset();
  server.emplace(address, MetricsAccess{}, some());
  EXPECT_EQ("127.0.0.1:" + std::to_string(server->port()), address);
}

TEST(MetricsServer, SaysWhenTheAddressIsNotOurs) {
  expect_refused(
      "192.0.2.1:9464",
      "metrics: no interface has the address of 192.0.2.1:9464: listen on 127.0.0.1 or on an address "
      "of this machine");
}

TEST(MetricsServer, SaysWhatAnAddressLooksLike) {
  for (const char* listen :
       {"", "9464", "127.0.0.1", "127.0.0.1:", ":9464", "127.0.0.1:http", "127.0.0.1:99999"})
    expect_refused(listen, "metrics: `" + std::string(listen) +
                               "` is not an address and a port: write `listen: \"127.0.0.1:9464\"`");
}

}  // namespace
}  // namespace surety
