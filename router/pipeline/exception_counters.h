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

#include "conditioners/counter_table.h"

namespace surety {

// clang-format off
#define SURETY_EXCEPTION_RESULTS(X)                                                                         \
  X(to_twin,          up,   "given to the kernel by the port's TAP mirror")                                 \
  X(to_kernel,        up,   "given to the kernel by the punt device")                                       \
  X(to_responder,     up,   "given to the built-in responder (results: surety_responder_frames_total)")     \
  X(held,             up,   "held until its next hop is resolved")                                          \
  X(icmp_error,       up,   "cannot be forwarded (its ICMP error: surety_icmp_errors_total)")               \
  X(twin_refused,     up,   "dropped: the TAP mirror is down or has no room")                               \
  X(kernel_refused,   up,   "dropped: the punt device is down or has no room")                              \
  X(not_held,         up,   "dropped: its next hop does not answer, or too many packets wait")              \
  X(no_taker,         up,   "dropped: there is no device or responder for it")                              \
  X(from_twin,        down, "from the kernel by the TAP mirror, given to the port")                         \
  X(from_kernel,      down, "from the kernel by the port's own device, given to the port")                  \
  X(from_responder,   down, "from the responder, given to the port: answers, requests, held packets")       \
  X(no_buffer,        down, "dropped: no packet buffer is free")                                            \
  X(ring_full,        down, "dropped: the port's worker does not keep up")                                  \
  X(oversized,        down, "dropped: larger than a packet buffer")                                         \
  X(forwarded,        down, "dropped: the kernel forwarded it past the conditioners")
// clang-format on
struct ExceptionResultInfo {
  std::string_view name, way, help;
};
#define SURETY_EXCEPTION_INFO(name, way, help) ExceptionResultInfo{#name, #way, help},
SURETY_ENUM_TABLE(ExceptionResult, SURETY_EXCEPTION_RESULTS, SURETY_EXCEPTION_INFO)
using ExceptionCounters = std::array<std::uint64_t, kExceptionResults>;

}  // namespace surety
