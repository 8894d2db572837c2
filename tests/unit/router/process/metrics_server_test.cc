// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/metrics_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <stdexcept>

#include "router/process/metric_family.h"

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
metrics::Families some() {
  return routes(7);
}

std::string scrape(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  shutdown(fd, SHUT_WR);  // the server would wait for more
  std::string reply, part(65536, '\0');
  for (ssize_t n; (n = recv(fd, part.data(), part.size(), 0)) > 0;)
    reply.append(part, 0, static_cast<std::size_t>(n));
  close(fd);
  return reply;
}

void expect_refused(const std::string& listen, const std::string& why) {
  EXPECT_THAT([&] { MetricsServer(listen, some); }, ThrowsMessage<std::runtime_error>(why));
}

TEST(MetricsServer, TakesOneReadingPerScrape) {
  std::atomic<int> readings = 0;
  const MetricsServer server("127.0.0.1:0", [&] { return routes(++readings); });
  const std::string first = scrape(server.port());
  EXPECT_THAT(first, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(first, HasSubstr("\nsurety_routes 1\n"));
  EXPECT_THAT(scrape(server.port()), HasSubstr("\nsurety_routes 2\n"));
  EXPECT_EQ(readings, 2);
}

TEST(MetricsServer, ListensOnIpv6OrSaysWhyNot) {
  try {
    MetricsServer("[::1]:0", some);
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(),
                 "metrics: [::1]:0 cannot be used because libcivetweb was built without IPv6: listen on an "
                 "IPv4 address such as 127.0.0.1:9464");
  }
}

TEST(MetricsServer, NamesATakenAddressAndTheFix) {
  const MetricsServer server("127.0.0.1:0", some);
  const std::string taken = "127.0.0.1:" + std::to_string(server.port());
  expect_refused(taken,
                 "metrics: " + taken +
                     " is taken by another program: choose another port under `metrics: {listen: ...}`");
}

TEST(MetricsServer, FreesItsAddress) {
  std::optional<MetricsServer> server(std::in_place, "127.0.0.1:0", some);
  const std::string address = "127.0.0.1:" + std::to_string(server->port());
  server.reset();
  server.emplace(address, some);
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
