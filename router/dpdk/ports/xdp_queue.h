// SPDX-License-Identifier: BSD-3-Clause
// The kernel takes a receive queue back from an AF_XDP socket some time after that is closed: a deferred work
// does it, and it says to nobody when. Until then the next one is refused, and the driver forgets buffers.
#pragma once

#include <chrono>
#include <cstdint>

namespace surety {

enum class XdpQueue {
  free,
  taken,
  unknown,  // it was free, and is taken a while by having been asked: a device without copying
};

// Asks by a socket of its own, which wants what a device that copies refuses at the last.
XdpQueue look_at_xdp_queue(int ifindex, std::uint16_t queue);

// Of the first `queues` of a device, whose sockets have been closed at `closed`. Returns once they are free,
// or after two seconds; what comes after says what is wrong then.
void wait_for_xdp_queues(int ifindex, std::uint16_t queues, std::chrono::steady_clock::time_point closed);

}  // namespace surety
