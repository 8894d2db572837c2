// SPDX-License-Identifier: BSD-3-Clause
// The kernel takes a receive queue back from an AF_XDP socket some time after that is closed: a deferred work
// does it, and it says to nobody when. Until then the next one is refused, and the driver forgets buffers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace surety {

enum class XdpQueue {
  free,
  taken,
  unknown,  // it cannot be asked, or receives without copying: then it is taken for a while now
};

// Asks by a socket of its own, which wants what a device that copies refuses at the last.
XdpQueue look_at_xdp_queue(int ifindex, std::uint16_t queue);

// Of the first `queues` of a device, whose sockets have been closed at `closed`. Those of a veth, which
// always copies, are asked, until they are free or two seconds have gone; what comes after says what is wrong
// then. To ask others might give them another way of receiving for a moment: they have a tenth of a second,
// which has been enough for all that were seen.
void wait_for_xdp_queues(const std::string& interface, std::uint16_t queues,
                         std::chrono::steady_clock::time_point closed);

}  // namespace surety
