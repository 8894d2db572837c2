// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/metrics_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "router/process/metric_family.h"
#include "tests/unit/router/process/http.h"

namespace surety {
namespace {

using test::get;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kLong(3000, 'x');
constexpr const char* kLogin = "Authorization: Basic cHJvbWV0aGV1czpzM2NyZXQ=\r\n";

std::shared_ptr<const WebPage> pages(std::string_view path) {
  auto page = std::make_shared<WebPage>(make_page("text/css", path == "/long" ? kLong : "short", 1));
  page->headers = {{"Surety-Rows", "3"}};
  return path == "/none" ? nullptr : page;
}

class WebPages : public testing::Test {
 protected:
  MetricsServer& server(const std::string& listen, MetricsAccess access = {}) {
    return server_.emplace(listen, std::move(access),
                           std::make_unique<metrics::Readings>([] { return metrics::Families(); }), pages);
  }
  std::optional<MetricsServer> server_;
};

TEST_F(WebPages, AreBesideTheMetrics) {
  const int port = server("127.0.0.1:0").port();
  const std::string reply = get(port, "/short");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(reply, HasSubstr("\r\nContent-Type: text/css\r\n"));
  EXPECT_THAT(reply, HasSubstr("\r\nSurety-Rows: 3\r\n"));
  EXPECT_THAT(reply, EndsWith("\r\n\r\nshort"));
  EXPECT_THAT(get(port, "/none"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(get(port, "/metrics"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(get(port, "/short", "", "localhost", "DELETE"), StartsWith("HTTP/1.1 405 "));
}

TEST_F(WebPages, RunNothingOfOthers) {
  const std::string reply = get(server("127.0.0.1:0").port(), "/short");
  EXPECT_THAT(reply,
              HasSubstr("\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; style-src "
                        "'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action "
                        "'none'; frame-ancestors 'none'\r\n"));
  EXPECT_THAT(reply, HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"));
}

TEST_F(WebPages, AreCompressedForWhoTakesThat) {
  const int port = server("127.0.0.1:0").port();
  EXPECT_THAT(get(port, "/long"), EndsWith("\r\n\r\n" + kLong));
  const std::string reply = get(port, "/long", "Accept-Encoding: br, gzip\r\n");
  EXPECT_THAT(reply, HasSubstr("\r\nContent-Encoding: gzip\r\n"));
  std::string body = reply.substr(reply.find("\r\n\r\n") + 4), text(kLong.size() + 1, '\0');
  z_stream z{};
  inflateInit2(&z, 15 + 16);
  z.next_in = reinterpret_cast<Bytef*>(body.data());
  z.avail_in = static_cast<uInt>(body.size());
  z.next_out = reinterpret_cast<Bytef*>(text.data());
  z.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&z, Z_FINISH), Z_STREAM_END);
  text.resize(z.total_out);
  inflateEnd(&z);
  EXPECT_EQ(text, kLong);
  EXPECT_THAT(get(port, "/short", "Accept-Encoding: gzip\r\n"), EndsWith("\r\n\r\nshort"));
}

TEST_F(WebPages, AreNotSentTwice) {
  const int port = server("127.0.0.1:0").port();
  const std::string tag = pages("/long")->tag;
  EXPECT_THAT(get(port, "/long"), HasSubstr("\r\nETag: " + tag + "\r\n"));
  const std::string reply = get(port, "/long", "If-None-Match: " + tag + "\r\n");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 304 "));
  EXPECT_THAT(reply, HasSubstr("\r\nSurety-Rows: 3\r\n"));
  EXPECT_THAT(reply, EndsWith("\r\n\r\n"));
  EXPECT_THAT(get(port, "/short", "If-None-Match: " + tag + "\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(WebPages, BeyondThisMachineNeedAPassword) {
  MetricsServer& open = server("0.0.0.0:0");
  const std::string reply = get(open.port(), "/short");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(reply, HasSubstr("password_file"));
  EXPECT_THAT(get(open.port(), "/metrics"), StartsWith("HTTP/1.1 200 "));
  open.admit({.login = MetricsAccess::digest_of("prometheus:s3cret")});
  EXPECT_THAT(get(open.port(), "/short"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(get(open.port(), "/short", kLogin, "router.example:9464"), EndsWith("\r\n\r\nshort"));
}

TEST_F(WebPages, WithoutAPasswordAnswerToNoNameThatOthersMayGive) {
  MetricsServer& local = server("127.0.0.1:0");
  for (const char* host : {"localhost", "localhost:9464", "127.0.0.1:9464", "[::1]:9464", "127.0.0.1"})
    EXPECT_THAT(get(local.port(), "/short", "", host), StartsWith("HTTP/1.1 200 ")) << host;
  for (const char* host : {"evil.example", "evil.example:9464", "127.0.0.1.evil.example", "localhost.evil"})
    EXPECT_THAT(get(local.port(), "/short", "", host), StartsWith("HTTP/1.1 403 ")) << host;
  EXPECT_THAT(get(local.port(), "/metrics", "", "evil.example"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(WebPages, MayBeOff) {
  MetricsServer& s = server("127.0.0.1:0", {.console = false});
  EXPECT_THAT(get(s.port(), "/short"), HasSubstr("See /metrics."));
  s.admit({});
  EXPECT_THAT(get(s.port(), "/short"), StartsWith("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace surety
