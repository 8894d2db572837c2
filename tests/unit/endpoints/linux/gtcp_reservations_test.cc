// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/linux/gtcp_reservations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "config/address.h"
#include "endpoints/linux/gtcp_attach.h"

namespace surety::endpoints {
namespace {

using namespace surety::literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

Prefix prefix(const char* text) {
  return *parse_prefix(text);
}

// The programs and maps in the kernel, but not registered: nobody can choose them, and they go with the test.
// Pinned in a BPF file system of the test's own.
class GtcpReservationsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to load BPF programs";
    try {
      check_kernel(kernel_btf());
    } catch (const std::runtime_error& e) {
      GTEST_SKIP() << e.what();
    }
    if (::unshare(CLONE_NEWNS) != 0)
      GTEST_SKIP() << "cannot make a mount namespace: " << std::strerror(errno);
    ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    ASSERT_EQ(::mount("bpf", "/mnt", "bpf", 0, nullptr), 0);
    loaded_.emplace(kPins);
    gtcp_.emplace(kPins);
  }
  void TearDown() override { ::umount2("/mnt", MNT_DETACH); }
  std::vector<Reservation> reservations() { return gtcp_->reservations(); }

  static constexpr const char* kPins = "/mnt/gtcp";
  std::optional<LoadedGtcp> loaded_;
  std::optional<GtcpReservations> gtcp_;
};

TEST_F(GtcpReservationsTest, StartsWithoutReservationsAndWithCountersAtZero) {
  EXPECT_THAT(reservations(), IsEmpty());
  const GtcpTotals t = gtcp_->totals();
  EXPECT_EQ(t.connections + t.reserved + t.closed + t.reductions + t.timeouts, 0u);
}

TEST_F(GtcpReservationsTest, ListsIpv4FirstAndShortPrefixesFirst) {
  for (const char* text : {"2001:db8::/32", "10.2.3.0/24", "10.2.0.0/16", "10.1.0.0/16", "0.0.0.0/0", "::/0"})
    gtcp_->reserve(prefix(text), 4_Mbps);
  EXPECT_THAT(
      reservations(),
      ElementsAre(Reservation{prefix("0.0.0.0/0"), 4_Mbps}, Reservation{prefix("10.1.0.0/16"), 4_Mbps},
                  Reservation{prefix("10.2.0.0/16"), 4_Mbps}, Reservation{prefix("10.2.3.0/24"), 4_Mbps},
                  Reservation{prefix("::/0"), 4_Mbps}, Reservation{prefix("2001:db8::/32"), 4_Mbps}));
}

TEST_F(GtcpReservationsTest, ASecondReservationReplacesTheFirst) {
  gtcp_->reserve(prefix("10.2.0.0/16"), 4_Mbps);
  gtcp_->reserve(prefix("10.2.0.0/16"), 6_Mbps);
  EXPECT_THAT(reservations(), ElementsAre(Reservation{prefix("10.2.0.0/16"), 6_Mbps}));
}

TEST_F(GtcpReservationsTest, HostBitsDoNotMatter) {
  gtcp_->reserve(prefix("10.2.3.4/16"), 4_Mbps);
  gtcp_->reserve(prefix("2001:db8:1:2::3/32"), 5_Mbps);
  EXPECT_THAT(reservations(), ElementsAre(Reservation{prefix("10.2.0.0/16"), 4_Mbps},
                                          Reservation{prefix("2001:db8::/32"), 5_Mbps}));
  gtcp_->release(prefix("10.2.9.9/16"));
  gtcp_->release(prefix("2001:db8::9/32"));
  EXPECT_THAT(reservations(), IsEmpty());
}

TEST_F(GtcpReservationsTest, RatesAreRoundedUpToWholeBytes) {
  gtcp_->reserve(prefix("10.2.0.0/16"), 1000001_bps);
  EXPECT_THAT(reservations(), ElementsAre(Reservation{prefix("10.2.0.0/16"), 1000008_bps}));
}

TEST_F(GtcpReservationsTest, ReleasesExactlyThePrefixAndNamesWhatIsNotThere) {
  gtcp_->reserve(prefix("10.2.0.0/16"), 4_Mbps);
  EXPECT_THAT([this] { gtcp_->release(prefix("10.2.3.4/24")); },
              ThrowsMessage<std::runtime_error>(
                  "nothing is reserved for 10.2.3.0/24; `surety-gtcp status` lists the reservations"));
  EXPECT_EQ(reservations().size(), 1u);
}

TEST_F(GtcpReservationsTest, OpensOnlyWhatIsPinned) {
  EXPECT_THAT([] { GtcpReservations("/mnt/elsewhere"); },
              ThrowsMessage<std::runtime_error>(StartsWith("no /mnt/elsewhere here: attach gtcp first")));
}

TEST_F(GtcpReservationsTest, LoadsOnceInOneDirectory) {
  EXPECT_THAT([] { LoadedGtcp{kPins}; },
              ThrowsMessage<std::runtime_error>("cannot pin the BPF maps in /mnt/gtcp: File exists"));
  EXPECT_NO_THROW(GtcpReservations{kPins});  // the first one's are still there
}

TEST_F(GtcpReservationsTest, AnAttachmentThatFailsLeavesNoPins) {
  if (gtcp_attached()) GTEST_SKIP() << "gtcp is attached to this machine";
  std::vector<Reservation> too_many;
  for (std::uint32_t i = 0; i <= 65536; ++i)
    too_many.push_back({{IpAddress::v4(htonl(0x01000000 + i)), 32}, 4_Mbps});
  EXPECT_THAT([&] { attach_gtcp(too_many, "/mnt/second"); },
              ThrowsMessage<std::runtime_error>("cannot reserve for 1.1.0.0/32: No space left on device"));
  EXPECT_FALSE(std::filesystem::exists("/mnt/second"));
}

TEST_F(GtcpReservationsTest, ReservesForOneSocket) {
  const Fd tcp(::socket(AF_INET, SOCK_STREAM, 0));
  gtcp_->reserve(tcp.get(), 4_Mbps);
  gtcp_->reserve(tcp.get(), 5_Mbps);
  EXPECT_THAT([this] { gtcp_->reserve(-1, 4_Mbps); },
              ThrowsMessage<std::runtime_error>("cannot reserve for the socket: Bad file descriptor"));
}

TEST(SocketOf, TakesADescriptorOfAnotherProcess) {
  const Fd theirs(::socket(AF_INET6, SOCK_STREAM, 0));
  const Fd ours = socket_of(::getpid(), theirs.get());
  EXPECT_NE(ours.get(), theirs.get());
  const int on = 1;
  ASSERT_EQ(::setsockopt(ours.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
  int seen = 0;
  socklen_t size = sizeof(seen);
  ASSERT_EQ(::getsockopt(theirs.get(), IPPROTO_TCP, TCP_NODELAY, &seen, &size), 0);
  EXPECT_NE(seen, 0);  // it is the same socket
}

TEST(SocketOf, NamesWhatIsNoTcpSocket) {
  const std::string me = std::to_string(::getpid());
  const Fd udp(::socket(AF_INET, SOCK_DGRAM, 0));
  EXPECT_THAT([&] { socket_of(::getpid(), udp.get()); },
              ThrowsMessage<std::runtime_error>("descriptor " + std::to_string(udp.get()) + " of process " +
                                                me + " is not a TCP socket"));
  EXPECT_THAT([] { socket_of(::getpid(), 9999); },
              ThrowsMessage<std::runtime_error>("cannot get descriptor 9999 of process " + me +
                                                ": Bad file descriptor"));
  EXPECT_THAT([] { socket_of(0x3fffffff, 0); },
              ThrowsMessage<std::runtime_error>("cannot open process 1073741823: No such process"));
}

TEST(ChooseGtcp, NeedsItAttached) {
  if (gtcp_attached()) GTEST_SKIP() << "gtcp is attached to this machine";
  const Fd tcp(::socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_THAT([&] { choose_gtcp(tcp.get()); },
              ThrowsMessage<std::runtime_error>("gtcp is not attached; run `surety-gtcp attach`"));
}

using namespace surety::literals;

GtcpStatus used() {
  GtcpStatus status;
  status.attached = true;
  status.reservations = {{*parse_prefix("10.2.0.0/16"), 4_Mbps, 12},
                         {*parse_prefix("2001:db8::/32"), 1500_kbps, 0}};
  status.totals = {20, 12, 17, 340, 2};
  return status;
}

TEST(GtcpStatus, TextIsForTheOperator) {
  EXPECT_EQ(status_text(used()),
            "gtcp is attached, for processes with CAP_NET_ADMIN (`surety-gtcp attach --allow`: every user)\n"
            "\n"
            "to             each connection  connections\n"
            "10.2.0.0/16           4 Mbit/s           12\n"
            "2001:db8::/32       1.5 Mbit/s            0\n"
            "\n"
            "20 connections so far, 12 with a reservation; 3 open now\n"
            "340 window reductions, 2 timeouts\n"
            "Windows of each connection: ss -tin\n");
}

TEST(GtcpStatus, TextTellsWhoMayUseItAndWhenNobodyHasAReservation) {
  GtcpStatus status;
  status.attached = status.allowed = true;
  EXPECT_EQ(status_text(status),
            "gtcp is attached, for every user\n"
            "\n"
            "to  each connection  connections\n"
            "(none)\n"
            "\n"
            "0 connections so far, 0 with a reservation; 0 open now\n"
            "0 window reductions, 0 timeouts\n"
            "Windows of each connection: ss -tin\n");
}

TEST(GtcpStatus, JsonIsForProgramsInBaseUnits) {
  EXPECT_EQ(status_json(used()),
            R"({"attached":true,"allowed":false,"reservations":[)"
            R"({"to":"10.2.0.0/16","bits_per_second":4000000,"connections":12},)"
            R"({"to":"2001:db8::/32","bits_per_second":1500000,"connections":0}],)"
            R"("connections":{"total":20,"reserved":12,"open":3},"reductions":340,"timeouts":2})"
            "\n");
}

TEST(GtcpStatus, DetachedIsAllThereIsToSay) {
  EXPECT_EQ(status_text({}), "gtcp is not attached\n");
  EXPECT_EQ(status_json({}), "{\"attached\":false}\n");
}

}  // namespace
}  // namespace surety::endpoints
