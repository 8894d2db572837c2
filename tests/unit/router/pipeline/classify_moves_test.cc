// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/classify_moves.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

constexpr std::uint16_t kSame = MoveRequest::kSameService;

TEST(MoveRequests, ARecordHasOneForBothChanges) {
  MoveRequests requests;
  EXPECT_TRUE(requests.add(7, 2));
  EXPECT_TRUE(requests.add(7, kSame));
  EXPECT_TRUE(requests.has(7));
  EXPECT_FALSE(requests.has(8));
  int served = 0;
  requests.serve([&](MoveRequest& r) {
    ++served;
    EXPECT_EQ(r.service, 2);
    EXPECT_TRUE(r.flush);
    return true;
  });
  EXPECT_EQ(served, 1);
  EXPECT_TRUE(requests.empty());
}

TEST(MoveRequests, WhatIsNotDoneStaysAsItIsThen) {
  MoveRequests requests;
  requests.add(1, 2);
  requests.add(2, 2);
  requests.serve([](MoveRequest& r) {
    r.service = kSame;
    return r.id == 1;
  });
  EXPECT_FALSE(requests.has(1));
  ASSERT_TRUE(requests.has(2));
  requests.serve([](MoveRequest& r) {
    EXPECT_EQ(r.service, kSame);
    return true;
  });
}

TEST(MoveRequests, HasABound) {
  MoveRequests requests;
  for (FlowId id = 0; id < MoveRequests::kMost; ++id) EXPECT_TRUE(requests.add(id, 1));
  EXPECT_FALSE(requests.add(MoveRequests::kMost, 1));
  EXPECT_TRUE(requests.add(3, kSame)) << "it has one";
}

TEST(MoveRequests, AnotherReloadKeepsThoseThatFlowsWaitFor) {
  MoveRequests requests;
  requests.add(1, 2);
  requests.add(2, 2);
  requests.add(2, kSame);
  requests.drop_services();
  EXPECT_FALSE(requests.has(1));
  ASSERT_TRUE(requests.has(2));
  requests.serve([](MoveRequest& r) {
    EXPECT_EQ(r.service, kSame);
    return true;
  });
}

TEST(ClassifiedPorts, APortThatLosesItsRulesStaysUntilNothingIsHeld) {
  const auto yaml = [](const std::string& port) {
    return "version: 1\nports: {a: {addresses: [10.1.0.254/16]}, b: {addresses: [10.2.0.254/16]}}\n"
           "services: {s: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: EF}}}\n"
           "classify: [{match: {port: " +
           port + "}, service: s}]\n";
  };
  const Snapshot first(test::configured(yaml("a")));
  const Snapshot next(test::configured(yaml("b")), first);
  const Time now(std::chrono::seconds(1)), last = now + std::chrono::seconds(10);
  ClassifiedPorts ports(first);
  EXPECT_TRUE(ports.has(0));
  EXPECT_FALSE(ports.has(1));
  EXPECT_FALSE(ports.pending());
  ports.adopt(next, last);
  EXPECT_TRUE(ports.has(0));
  EXPECT_TRUE(ports.has(1)) << "at once";
  EXPECT_TRUE(ports.pending());
  EXPECT_FALSE(ports.due(false, now));
  EXPECT_TRUE(ports.due(false, last));
  EXPECT_TRUE(ports.due(true, now));
  ports.end(next);
  EXPECT_FALSE(ports.has(0));
  EXPECT_FALSE(ports.pending());
}

}  // namespace
}  // namespace surety
