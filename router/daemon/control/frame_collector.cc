// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/frame_collector.h"

#include <optional>

#include "router/daemon/control/frame_sender.h"
#include "router/daemon/control/kernel_entries.h"
#include "router/pipeline/routes/routes.h"

namespace surety {

namespace {

constexpr std::size_t kLargestFrame = 65535 + 14 + 8;

}  // namespace

FrameCollector::FrameCollector(ControlLinks& links, Routes& routes, KernelEntries& kernel,
                               FrameSender& sender)
    : links_(links), routes_(routes), kernel_(kernel), sender_(sender), frame_(kLargestFrame) {}

bool FrameCollector::collect(Time now) {
  bool any = false;
  collected_all_ = true;
  links_.for_each([&](ControlPort& c) {
    if (c.tap) any |= collect_tap(c, now);
    if (c.responder) any |= learn(c) > 0;
    if (c.twin) any |= collect_from(*c.twin, c, ExceptionResult::from_twin, now);
    if (auto& divert = c.programs.divert) any |= collect_from(*divert, c, ExceptionResult::from_kernel, now);
    if (c.responder) any |= send_answers(c, now);
  });
  return any;
}

template <class Device>
bool FrameCollector::collect_from(Device& device, ControlPort& c, ExceptionResult sent, Time now) {
  int n = 0;
  for (; n < kFramesPerRound; ++n) {
    const auto frame = device.read(frame_);
    if (frame.empty()) break;
    if (const auto interface = c.tags ? c.tags->tag_of(frame, *c.responder) : std::optional(c.index))
      sender_.send(*interface, frame, sent);
    else if (!c.tags->hold_advertisement(frame))
      links_.count(links_.port_of(c), ExceptionResult::no_taker);
  }
  if (c.tags) n += send_advertisements(c, sent, now);
  collected_all_ = collected_all_ && n < kFramesPerRound;
  return n > 0;
}

int FrameCollector::send_advertisements(ControlPort& c, ExceptionResult sent, Time now) {
  int n = 0;
  for (; n < kFramesPerRound; ++n) {
    const auto interface = c.tags->next_tag(*c.responder, now);
    if (!interface) break;
    sender_.send(*interface, c.tags->advertisement(), sent);
  }
  return n;
}

bool FrameCollector::collect_tap(ControlPort& c, Time now) {
  int n = 0;
  for (; n < kFramesPerRound; ++n) {
    const auto frame = c.tap->read(frame_);
    if (frame.empty()) break;
    c.responder->receive(frame, now);
  }
  return n > 0;
}

bool FrameCollector::collect_responder(ControlPort& c, Time now) {
  const bool any = learn(c) > 0;
  return send_answers(c, now) || any;
}

int FrameCollector::learn(ControlPort& c) {
  int n = 0;
  for (; n < kFramesPerRound; ++n) {
    const auto change = c.responder->next_change();
    if (!change) break;
    routes_.learn(change->interface, change->address, change->mac);
    if (change->mac || !change->unreachable) kernel_.set_neighbor(c, change->address, change->mac);
    learned_.push_back(*change);
  }
  collected_all_ = collected_all_ && n < kFramesPerRound;
  return n;
}

bool FrameCollector::send_answers(ControlPort& c, Time now) {
  int n = send_responder(c, now);
  for (const Responder::Change& change : learned_) {
    c.responder->release(change);
    n += send_responder(c, now);
  }
  learned_.clear();
  collected_all_ = collected_all_ && n < kFramesPerRound;
  return n > 0;
}

int FrameCollector::send_responder(ControlPort& c, Time now) {
  Responder& responder = *c.responder;
  int n = 0;
  for (; n < kFramesPerRound && responder.next_wakeup() <= now; ++n) {
    Slot slot{frame_.data(), static_cast<std::uint32_t>(frame_.size()), 0};
    if (responder.poll({&slot, 1}, now) == 0) break;
    sender_.send(slot.interface, {frame_.data(), slot.length}, ExceptionResult::from_responder);
  }
  return n;
}

}  // namespace surety
