// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/interface.h"

#include <gtest/gtest.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "router/process/fd.h"

namespace surety {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Has queue 0 of lo, as a router has one of its ports.
class Holder {
 public:
  Holder() : socket_(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0)) {
    page_ = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    xdp_umem_reg memory{};
    memory.addr = reinterpret_cast<std::uintptr_t>(page_);
    memory.len = memory.chunk_size = 4096;
    const int slots = 2;
    ok_ = setsockopt(socket_.get(), SOL_XDP, XDP_UMEM_REG, &memory, sizeof memory) == 0;
    for (const int ring : {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING})
      ok_ = ok_ && setsockopt(socket_.get(), SOL_XDP, ring, &slots, sizeof slots) == 0;
    sockaddr_xdp address{};
    address.sxdp_family = AF_XDP;
    address.sxdp_ifindex = if_nametoindex("lo");
    address.sxdp_flags = XDP_COPY;
    ok_ = ok_ && bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Holder() { munmap(page_, 4096); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  bool ok() const { return ok_; }
  void close() { socket_ = Fd(); }

 private:
  Fd socket_;
  void* page_ = nullptr;
  bool ok_ = false;
};

class XdpQueueTest : public testing::Test {
 protected:
  void SetUp() override {
    lo_ = static_cast<int>(if_nametoindex("lo"));
    XdpQueue state = look_at_xdp_queue(lo_, 0);  // a test before may just have had it
    if (state == XdpQueue::unknown) GTEST_SKIP() << "no AF_XDP sockets for this user";
    for (int i = 0; state == XdpQueue::taken && i < 60'000; ++i) {
      std::this_thread::sleep_for(1ms);
      state = look_at_xdp_queue(lo_, 0);
    }
    ASSERT_EQ(state, XdpQueue::free);
  }
  int lo_ = 0;
};

TEST_F(XdpQueueTest, IsTakenUntilTheKernelHasTakenItBack) {
  Holder holder;
  ASSERT_TRUE(holder.ok()) << std::strerror(errno);
  EXPECT_EQ(look_at_xdp_queue(lo_, 0), XdpQueue::taken);
  holder.close();
  SetUp();
  EXPECT_TRUE(Holder().ok()) << "the next one has it at once: to ask takes nothing";
}

TEST_F(XdpQueueTest, OfADeviceThatMayNotCopyIsNotAsked) {
  Holder holder;
  ASSERT_TRUE(holder.ok()) << std::strerror(errno);
  const auto closed = Clock::now();
  wait_for_xdp_queues("lo", 1, closed);
  EXPECT_GE(Clock::now() - closed, 100ms);
  // A call that waits does so each time; one that does not may be kept from its core, but not ten times.
  auto least = Clock::duration::max();
  for (int i = 0; i < 10; ++i) {
    const auto begin = Clock::now();
    wait_for_xdp_queues("lo", 1, begin - 1h);
    least = std::min(least, Clock::now() - begin);
  }
  EXPECT_LT(least, 50ms) << "long after it was closed";
}

TEST_F(XdpQueueTest, OfNoDeviceIsUnknown) {
  EXPECT_EQ(look_at_xdp_queue(0, 0), XdpQueue::unknown);
}

}  // namespace
}  // namespace surety
