// SPDX-License-Identifier: BSD-3-Clause
// The congestion controls of a TCP sender, one line each; the words of the YAML and the sender follow.
#pragma once

#include <array>
#include <string_view>
#include <variant>

#include "endpoints/tcp/cubic.h"
#include "endpoints/tcp/gtcp.h"
#include "endpoints/tcp/newreno.h"
#include "endpoints/tcp/tcp_params.h"

namespace surety::endpoints {

// Parameters for a control when the connection is established.
struct ControlStart {
  WindowParams window;
  Rate reserved;
  std::uint32_t packet = 1500;  // the IP packet of a full segment
};

// Holds whichever a sender has.
using AnyControl = std::variant<NewReno, Gtcp, Cubic>;

struct CongestionControl {
  std::string_view word;         // `protocol: newreno`
  bool reserves;                 // true: needs `target`, its reserved rate
  std::uint32_t initial_window;  // segments; 0: RFC 6928's 10
  NewReno* (*begin)(AnyControl&, const ControlStart&);
};

inline constexpr std::array kCongestionControls{
    // NewReno with a reserved rate; cwnd starts with 2 (III.B).
    CongestionControl{"gtcp", true, 2,
                      [](AnyControl& c, const ControlStart& s) -> NewReno* {
                        return &c.emplace<Gtcp>(GtcpParams{s.window, s.reserved, s.packet});
                      }},
    // RFC 5681 with RFC 6582.
    CongestionControl{
        "newreno", false, 0,
        [](AnyControl& c, const ControlStart& s) -> NewReno* { return &c.emplace<NewReno>(s.window); }},
    // RFC 5681 alone.
    CongestionControl{"reno", false, 0,
                      [](AnyControl& c, const ControlStart& s) -> NewReno* {
                        WindowParams w = s.window;
                        w.partial_acks = false;
                        return &c.emplace<NewReno>(w);
                      }},
    CongestionControl{
        "cubic", false, 0,
        [](AnyControl& c, const ControlStart& s) -> NewReno* { return &c.emplace<Cubic>(s.window); }},
};
inline const CongestionControl& congestion_control(TcpFlavour f) {
  return kCongestionControls[static_cast<std::size_t>(f)];
}

}  // namespace surety::endpoints
