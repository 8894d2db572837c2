// SPDX-License-Identifier: BSD-3-Clause
// Collects the frames of the kernel and of the responders for the ports, and sends them; and what responders
// learn about neighbours, for the routes and the kernel: before the answers to these neighbours, which may
// send as soon as they have them.
#pragma once

#include <cstdint>
#include <vector>

#include "conditioners/units.h"
#include "router/daemon/control/control_links.h"
#include "router/daemon/linux/responder.h"
#include "router/pipeline/exception_counters.h"

namespace surety {

class FrameSender;
class KernelEntries;
class Routes;

class FrameCollector {
 public:
  static constexpr int kFramesPerRound = 256;  // from each device

  FrameCollector(ControlLinks& links, Routes& routes, KernelEntries& kernel, FrameSender& sender);

  // Sends the frames of all links, at most kFramesPerRound of each; true: there were some.
  bool collect(Time now);
  bool collected_all() const { return collected_all_; }  // the last collect() left no frame

  // Sends the frames of the responder of one link, with the same limit; true: there were some.
  bool collect_responder(ControlPort& c, Time now);

 private:
  template <class Device>
  bool collect_from(Device& device, ControlPort& c, ExceptionResult sent, Time now);
  bool collect_tap(ControlPort& c, Time now);
  int learn(ControlPort& c);  // the number of changes
  bool send_answers(ControlPort& c, Time now);
  int send_responder(ControlPort& c, Time now);
  int send_advertisements(ControlPort& c, ExceptionResult sent, Time now);

  ControlLinks& links_;
  Routes& routes_;
  KernelEntries& kernel_;
  FrameSender& sender_;
  std::vector<std::uint8_t> frame_;         // buffer for one frame
  std::vector<Responder::Change> learned_;  // changes of the link being collected
  bool collected_all_ = false;
};

}  // namespace surety
