// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/linux/gtcp_status.h"

#include <gtest/gtest.h>

#include "config/address.h"

namespace surety::endpoints {
namespace {

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
