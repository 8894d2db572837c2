// SPDX-License-Identifier: BSD-3-Clause
// Results of the control thread for frames that the data plane does not forward, by port: frames that the
// port's workers punt, and frames that the port sends for the kernel or the responder.
//
// The names are the metric labels. Every punted packet is counted once under `up`, every frame for the port
// once under `down`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace surety {

// clang-format off
#define SURETY_EXCEPTION_RESULTS(X)                                                                         \
  X(to_twin,          up,   "given to the kernel by the port's TAP twin")                                   \
  X(to_kernel,        up,   "given to the kernel by the punt device")                                       \
  X(to_responder,     up,   "taken by the built-in responder (surety_responder_frames_total says how)")     \
  X(held,             up,   "waits for its next hop's MAC address")                                         \
  X(icmp_error,       up,   "cannot go on (surety_icmp_errors_total says whether its sender was told)")     \
  X(twin_refused,     up,   "lost: the TAP twin is down or has no room")                                    \
  X(kernel_refused,   up,   "lost: the punt device is down or has no room")                                 \
  X(not_held,         up,   "lost: its next hop does not answer, or too many packets wait")                 \
  X(no_taker,         up,   "lost: the process has no means to give it to the kernel")                      \
  X(from_twin,        down, "of the kernel, given to the port")                                             \
  X(from_kernel,      down, "sent by the kernel out of the port's own device, given to the port")             \
  X(from_responder,   down, "of the responder, given to the port: answers, requests, packets that waited")  \
  X(no_buffer,        down, "lost: no packet buffer")                                                       \
  X(ring_full,        down, "lost: the port's worker does not keep up")                                     \
  X(oversized,        down, "lost: larger than a packet buffer")                                            \
  X(forwarded,        down, "lost: frames of the network that the kernel has forwarded, past the conditioners")
// clang-format on
enum class ExceptionResult : std::uint8_t {
#define X(name, way, help) name,
  SURETY_EXCEPTION_RESULTS(X)
#undef X
      none,
};
inline constexpr std::size_t kExceptionResults = static_cast<std::size_t>(ExceptionResult::none);
struct ExceptionResultInfo {
  std::string_view name, way, help;
};
inline constexpr std::array<ExceptionResultInfo, kExceptionResults> kExceptionResultInfo{{
#define X(name, way, help) {#name, #way, help},
    SURETY_EXCEPTION_RESULTS(X)
#undef X
}};
using ExceptionCounters = std::array<std::uint64_t, kExceptionResults>;

}  // namespace surety
