// SPDX-License-Identifier: BSD-3-Clause
// The kernel frees a receive queue some time after its AF_XDP socket is closed: in deferred work, without a
// notification. Until then the next socket is refused, and the driver leaks buffers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace surety {

enum class XdpQueue {
  free,
  taken,
  unknown,  // probing failed, or the queue does not copy: the probe then holds it for a while
};

// Probes with a socket of its own, whose options a copying device refuses in the last step.
XdpQueue look_at_xdp_queue(int ifindex, std::uint16_t queue);

// Waits for the first `queues` of a device, whose sockets were closed at `closed`. Queues of a veth, which
// always copies, are probed until they are free or two seconds have passed; if they are not free then,
// opening them reports the error. Probing other devices might change their receive mode for a moment: they
// get a tenth of a second, which has been enough for all devices tested.
void wait_for_xdp_queues(const std::string& interface, std::uint16_t queues,
                         std::chrono::steady_clock::time_point closed);

}  // namespace surety
