// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "router/daemon/memif/session.h"

namespace surety::memif {

namespace {

class ServerSession final : public Session {
 public:
  explicit ServerSession(const Terms& terms);
  void handle(ReceivedMessage received) override;
  bool claims() const override { return introduced_; }

 private:
  struct Place {
    AddRing at;
    Fd event;
  };
  void introduce(const Init& init);
  void add_region(const AddRegion& region, const Fd& file);
  void add_ring(const AddRing& ring, Fd event);
  void connect();
  Lane lane(const Place& place) const;

  Terms terms_;
  bool introduced_ = false;
  std::vector<std::optional<Place>> receive_;
  std::optional<Place> transmit_;
};

ServerSession::ServerSession(const Terms& terms) : terms_(terms), receive_(terms.receive_queues) {
  Hello hello{.min_version = kVersion,
              .max_version = kVersion,
              .max_region = Memory::kMostRegions - 1,
              .max_to_server_ring = static_cast<std::uint16_t>(terms.receive_queues - 1),
              .max_log2_ring_size = kMostLog2RingSize};
  copy_text(hello.name, "surety");
  say(hello);
}

void ServerSession::handle(ReceivedMessage received) {
  const Message& m = received.message;
  if (m.type == Type::ack) return;
  if (agreed_ || introduced_ == (m.type == Type::init)) throw Refusal("message out of order");
  switch (m.type) {
    case Type::init:
      introduce(m.as<Init>());
      return say_yes();
    case Type::add_region:
      add_region(m.as<AddRegion>(), received.fd);
      return say_yes();
    case Type::add_ring:
      add_ring(m.as<AddRing>(), std::move(received.fd));
      return say_yes();
    case Type::connect:
      return connect();
    default:
      throw Refusal("unknown message");
  }
}

void ServerSession::introduce(const Init& init) {
  if (init.version != kVersion) throw Refusal("unsupported version of memif");
  if (init.id != 0) throw Refusal("no interface has this id");
  if (init.mode != kEthernet) throw Refusal("unsupported mode: only Ethernet is supported");
  introduced_ = true;
}

void ServerSession::add_region(const AddRegion& region, const Fd& file) {
  if (region.index != link_.memory.regions()) throw Refusal("region index out of order");
  link_.memory.add(file, region.size);
}

void ServerSession::add_ring(const AddRing& ring, Fd event) {
  const bool to_us = (ring.flags & AddRing::kToServer) != 0;
  if (ring.index >= (to_us ? receive_.size() : 1)) throw Refusal("ring index too large");
  std::optional<Place>& place = to_us ? receive_[ring.index] : transmit_;
  if (place) throw Refusal("duplicate ring");
  if (!event) throw Refusal("ring without a descriptor");
  if (ring.log2_size > kMostLog2RingSize) throw Refusal("ring too large");
  place = Place{ring, std::move(event)};
}

Lane ServerSession::lane(const Place& place) const {
  const AddRing& ring = place.at;
  std::uint8_t* const at = link_.memory.at(ring.region, ring.offset, Ring::bytes(ring.log2_size));
  if (at == nullptr || ring.offset % Ring::kAlignment != 0) throw Refusal("ring outside its region");
  const Lane made{Ring(at, ring.log2_size, false)};
  if (made.ring.cookie() != kCookie) throw Refusal("ring without a valid cookie");
  return made;
}

void ServerSession::connect() {
  link_.receive.resize(receive_.size());
  link_.receive_events.resize(receive_.size());
  for (std::size_t q = 0; q < receive_.size(); ++q)
    if (receive_[q]) {
      link_.receive[q] = lane(*receive_[q]);
      link_.receive_events[q] = std::move(receive_[q]->event);
    }
  if (transmit_) {
    link_.transmit = lane(*transmit_);
    link_.transmit_event = std::move(transmit_->event);
  }
  agreed_ = true;
  Connected connected{};
  copy_text(connected.interface, terms_.interface);
  say(connected);
}

}  // namespace

std::unique_ptr<Session> serve(const Terms& terms) {
  return std::make_unique<ServerSession>(terms);
}

}  // namespace surety::memif
