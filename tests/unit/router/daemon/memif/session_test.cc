// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/memif/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/router/daemon/memif/talk.h"

namespace surety::memif {
namespace {

using test::received;

TEST(MemifMessage, HasTheLayoutOfVersionTwo) {
  EXPECT_EQ(sizeof(Hello), 43u);
  EXPECT_EQ(sizeof(Init), 63u);
  EXPECT_EQ(sizeof(AddRegion), 10u);
  EXPECT_EQ(sizeof(AddRing), 13u);
  EXPECT_EQ(sizeof(Disconnect), 100u);
  const auto m = Message::of(AddRegion{.index = 0x0102, .size = 3});
  EXPECT_EQ(m.type, Type::add_region);
  EXPECT_EQ(m.body[0], 2);
  EXPECT_EQ(m.body[2], 3);
  EXPECT_EQ(m.as<AddRegion>().size, 3u);
}

TEST(MemifMessage, TextsEndWithAZero) {
  Connect c{};
  copy_text(c.interface, std::string(100, 'x'));
  EXPECT_EQ(c.interface[30], 'x');
  EXPECT_EQ(c.interface[31], 0);
}

TEST(MemifSession, BothEndsSeeTheSameRings) {
  auto [server, client] = test::agree({.receive_queues = 3}, {.receive_queues = 2, .log2_ring_size = 4});
  ASSERT_EQ(server.receive.size(), 3u);
  ASSERT_EQ(client.receive.size(), 1u) << "a server transmits in one queue";
  EXPECT_TRUE(server.receive[0].ring);
  EXPECT_FALSE(server.receive[1].ring) << "so does a client";
  EXPECT_EQ(server.receive[0].ring.size(), 16u);
  client.transmit.ring.publish(7);
  EXPECT_EQ(server.receive[0].ring.peer(), 7);
  server.transmit.ring.publish(9);
  EXPECT_EQ(client.receive[0].ring.peer(), 9);
  const Descriptor d{.flags = 1, .region = 2, .length = 3, .offset = 4, .metadata = 5};
  client.transmit.ring.write(17, d);
  EXPECT_EQ(server.receive[0].ring.read(1).offset, 4u);
}

TEST(MemifSession, AClientsBuffersDoNotOverlap) {
  auto [server, client] = test::agree({}, {.log2_ring_size = 2, .buffer_size = 64});
  std::vector<std::uint32_t> offsets;
  for (const Lane& lane : {client.transmit, client.receive[0]})
    for (std::uint16_t slot = 0; slot < 4; ++slot) {
      const Descriptor d = lane.own_buffer(slot);
      EXPECT_NE(client.memory.at(d.region, d.offset, d.length), nullptr);
      offsets.push_back(d.offset);
    }
  for (std::size_t i = 1; i < offsets.size(); ++i) EXPECT_EQ(offsets[i], offsets[i - 1] + 64);
  EXPECT_GE(offsets[0], 2 * Ring::bytes(2));
}

constexpr std::uint32_t kSize = 8192;

// A server's session, as a client tries it.
class Hostile : public testing::Test {
 protected:
  Hostile() : file_(make_region(kSize)), event_(::eventfd(0, 0)) {
    Memory memory;
    memory.add(file_, kSize);
    Ring(memory.at(0, 0, kSize), 3, true).set_cookie();
  }

  template <class Body>
  std::string refusal(const Body& body, int fd = -1) {
    try {
      session_->handle(received(body, fd));
    } catch (const Refusal& e) {
      return e.what();
    }
    return "";
  }
  void introduce() { EXPECT_EQ(refusal(Init{.version = kVersion}), ""); }
  void give_region() { EXPECT_EQ(refusal(AddRegion{.index = 0, .size = kSize}, file_.get()), ""); }
  std::string refusal_of_ring(const AddRing& ring) {
    introduce();
    give_region();
    const std::string why = refusal(ring, event_.get());
    return why.empty() ? refusal(Connect{}) : why;
  }

  std::unique_ptr<Session> session_ = serve({});
  Fd file_, event_;
};

constexpr AddRing kGood{.flags = AddRing::kToServer, .log2_size = 3};

TEST_F(Hostile, WhatIsRightIsTaken) {
  EXPECT_EQ(refusal_of_ring(kGood), "");
  EXPECT_TRUE(session_->agreed());
}

struct WrongRing {
  const char* name;
  AddRing ring;
  const char* refusal;
};

class HostileRing : public Hostile, public testing::WithParamInterface<WrongRing> {};

TEST_P(HostileRing, IsRefused) {
  EXPECT_EQ(refusal_of_ring(GetParam().ring), GetParam().refusal);
}

constexpr std::uint16_t kOut = AddRing::kToServer;
INSTANTIATE_TEST_SUITE_P(
    All, HostileRing,
    testing::Values(
        WrongRing{
            "BehindTheRegion", {.flags = kOut, .offset = kSize, .log2_size = 3}, "ring outside its region"},
        WrongRing{"EndsBehindIt", {.flags = kOut, .log2_size = 9}, "ring outside its region"},
        WrongRing{"NotAligned", {.flags = kOut, .offset = 8, .log2_size = 3}, "ring outside its region"},
        WrongRing{"InNoRegion", {.flags = kOut, .region = 1, .log2_size = 3}, "ring outside its region"},
        WrongRing{
            "WithoutCookie", {.flags = kOut, .offset = 4096, .log2_size = 3}, "ring without a valid cookie"},
        WrongRing{"TooLarge", {.flags = kOut, .log2_size = 15}, "ring too large"},
        WrongRing{"NotOffered", {.flags = kOut, .index = 1, .log2_size = 3}, "ring index too large"}),
    [](const auto& ring) { return ring.param.name; });

TEST_F(Hostile, RingsComeOnceEachWithADescriptor) {
  introduce();
  EXPECT_EQ(refusal(kGood), "ring without a descriptor");
  EXPECT_EQ(refusal(kGood, event_.get()), "");
  EXPECT_EQ(refusal(kGood, event_.get()), "duplicate ring");
}

TEST_F(Hostile, RegionsComeInTheirOrder) {
  introduce();
  EXPECT_EQ(refusal(AddRegion{.index = 1, .size = kSize}, file_.get()), "region index out of order");
  EXPECT_EQ(refusal(AddRegion{.index = 0, .size = kSize}), "region without a descriptor");
}

TEST_F(Hostile, FirstOnesName) {
  EXPECT_EQ(refusal(Connect{}), "message out of order");
  EXPECT_FALSE(session_->claims());
  EXPECT_EQ(refusal(Init{.version = 0x0100}), "unsupported version of memif");
  EXPECT_EQ(refusal(Init{.version = kVersion, .id = 1}), "no interface has this id");
  EXPECT_EQ(refusal(Init{.version = kVersion, .mode = 1}), "unsupported mode: only Ethernet is supported");
  introduce();
  EXPECT_TRUE(session_->claims());
  EXPECT_EQ(refusal(Init{.version = kVersion}), "message out of order");
}

TEST_F(Hostile, NothingAfterTheAgreement) {
  EXPECT_EQ(refusal_of_ring(kGood), "");
  EXPECT_EQ(refusal(Connect{}), "message out of order");
  EXPECT_EQ(refusal(AddRegion{.index = 1, .size = kSize}, file_.get()), "message out of order");
}

TEST_F(Hostile, AServersMessagesAreNotAClients) {
  introduce();
  EXPECT_EQ(refusal(Hello{}), "unknown message");
  EXPECT_EQ(refusal(Connected{}), "unknown message");
}

TEST(MemifClient, WantsAGreetingFirstAndOnce) {
  const auto handle = [](Session& s, const auto& body) { s.handle(received(body)); };
  auto session = request({});
  EXPECT_THROW(handle(*session, Connected{}), Refusal);
  EXPECT_THROW(handle(*session, Hello{.min_version = kVersion + 1, .max_version = kVersion + 1}), Refusal);
  session = request({.log2_ring_size = 2});
  handle(*session, Hello{.min_version = kVersion, .max_version = kVersion});
  EXPECT_THROW(handle(*session, Hello{.min_version = kVersion, .max_version = kVersion}), Refusal);
  handle(*session, Connected{});
  EXPECT_TRUE(session->agreed());
  EXPECT_EQ(session->take_link().transmit.ring.size(), 1u) << "a server that takes rings of one";
}

}  // namespace
}  // namespace surety::memif
