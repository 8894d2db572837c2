// SPDX-License-Identifier: BSD-3-Clause
// Traces what would happen to a packet now: on each worker between two turns, on the control thread between
// two rounds.
#pragma once

#include <string_view>

#include "router/daemon/workers/remote_call.h"
#include "router/operate/observe/reading_json.h"

namespace surety {

class Control;
class ForwardingPlane;

// `question`: a packet (router/operate/explain/explain.h). Callable from any thread but `control_thread`'s.
// Throws std::runtime_error if such a packet is impossible, or if the workers do not answer.
Json explain_packet(std::string_view question, ForwardingPlane& plane, const Control& control,
                    RemoteCall& control_thread);

}  // namespace surety
