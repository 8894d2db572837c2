// SPDX-License-Identifier: BSD-3-Clause
// Certificates are in the functional tests, which make some.
#include "router/process/metrics_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace surety {
namespace {

using testing::HasSubstr;
using testing::Not;

class MetricsAccessFiles : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  MetricsAccess with_password(const std::string& text, mode_t mode = 0600) const {
    return load_metrics_access({.password_file = file("password", text, mode)});
  }
  std::string fault(const config::Metrics& m) const {
    try {
      load_metrics_access(m);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  }

  const std::string directory_ = testing::TempDir() + "metrics_access_test_" + std::to_string(getpid());
};

TEST_F(MetricsAccessFiles, NoneIsHttpForAll) {
  EXPECT_EQ(load_metrics_access({}), MetricsAccess{});
}

TEST_F(MetricsAccessFiles, ALineWithUserAndPassword) {
  for (const char* text : {"u:p:q", "u:p:q\n", "u:p:q\r\n", "u:p:q\n\n"})
    EXPECT_EQ(with_password(text).login, MetricsAccess::digest_of("u:p:q")) << text;
  EXPECT_NE(with_password("u:p").login, MetricsAccess::digest_of("u:p:q"));
}

TEST_F(MetricsAccessFiles, AnythingElseIsRefusedAndNotShown) {
  for (const char* text : {"", "\n", "s3cret", ":s3cret", "s3cret:", "u:s3cret\nmore", "\nu:s3cret"}) {
    const std::string said = fault({.password_file = file("password", text)});
    EXPECT_THAT(said, HasSubstr(directory_ + "/password:")) << text;
    EXPECT_THAT(said, HasSubstr("`USER:PASSWORD`")) << text;
    EXPECT_THAT(said, Not(HasSubstr("s3cret"))) << text;
  }
}

TEST_F(MetricsAccessFiles, SecretsAreNobodyElsesBusiness) {
  EXPECT_THAT(fault({.password_file = file("password", "u:p", 0644)}),
              HasSubstr("password:1:1: error: every user of this machine may read or change it"));
  EXPECT_TRUE(with_password("u:p", 0640).login);
  const std::string said =
      fault({.tls = config::Metrics::Tls{file("cert", "x", 0644), file("key", "y", 0604)}});
  EXPECT_THAT(said, HasSubstr("key:1:1: error: every user of this machine may read"));
  EXPECT_THAT(said, HasSubstr("cert:1:1: error: not a TLS certificate for the key " + directory_ + "/key"));
}

TEST_F(MetricsAccessFiles, WhatIsNotThereIsNamed) {
  EXPECT_EQ(
      fault({.tls = config::Metrics::Tls{"/none/cert", "/none/key"}, .password_file = "/none/password"}),
      "/none/cert:1:1: error: cannot be read: No such file or directory\n"
      "/none/key:1:1: error: cannot be read: No such file or directory\n"
      "/none/password:1:1: error: cannot be read: No such file or directory");
}

}  // namespace
}  // namespace surety
