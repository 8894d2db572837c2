// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "router/process/fd.h"

namespace surety {
namespace {

using namespace std::chrono_literals;

// A service manager: its end of $NOTIFY_SOCKET, an abstract one.
class ServiceManagerTest : public testing::Test {
 protected:
  ServiceManagerTest() {
    const std::string name = "surety-notify-" + std::to_string(::getpid());
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    name.copy(address.sun_path + 1, name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
    ::setenv("NOTIFY_SOCKET", ("@" + name).c_str(), 1);
  }
  ~ServiceManagerTest() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  }
  // The next message; empty: there is none.
  std::string hears() const {
    std::array<char, 256> text{};
    const auto n = ::recv(socket_.get(), text.data(), text.size(), MSG_DONTWAIT);
    return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : "";
  }

  const Fd socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  ServiceManager manager_;
};

TEST_F(ServiceManagerTest, TellsHowTheServiceDoes) {
  ServiceManager::ready();
  EXPECT_EQ(hears(), "READY=1");
  ServiceManager::reloading();
  EXPECT_EQ(hears(), "RELOADING=1");
  ServiceManager::stopping();
  EXPECT_EQ(hears(), "STOPPING=1");
  ServiceManager::alive();
  EXPECT_EQ(hears(), "WATCHDOG=1");
}

TEST_F(ServiceManagerTest, TellsAStatusOnce) {
  manager_.status("2 of 2 ports up");
  EXPECT_EQ(hears(), "STATUS=2 of 2 ports up");
  manager_.status("2 of 2 ports up");
  EXPECT_EQ(hears(), "");
  manager_.status("1 of 2 ports up");
  EXPECT_EQ(hears(), "STATUS=1 of 2 ports up");
}

TEST_F(ServiceManagerTest, KnowsItsPatience) {
  EXPECT_EQ(ServiceManager::patience(), std::nullopt);
  ::setenv("WATCHDOG_USEC", "10000000", 1);
  EXPECT_EQ(ServiceManager::patience(), std::chrono::microseconds(10s));
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(ServiceManager::patience(), std::nullopt) << "it watches another process";
}

TEST_F(ServiceManagerTest, IsSilentWhereNobodyListens) {
  ::unsetenv("NOTIFY_SOCKET");
  ServiceManager::ready();
  manager_.status("2 of 2 ports up");
  EXPECT_EQ(hears(), "");
}

}  // namespace
}  // namespace surety
