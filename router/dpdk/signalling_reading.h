// The congestion signalling of one worker as numbers (reading.h).
#pragma once

#include <memory>
#include <span>

#include "router/ingress.h"
#include "router/reading.h"
#include "router/signal_sender.h"

namespace surety {

// `sender`: null where this router does not signal. `egresses`: by port; null: another worker's.
void fill_signalling(Reading& r, Ingress& ingress, std::span<const std::unique_ptr<Egress>> egresses,
                     const SignalSender* sender, const Snapshot& snapshot, Time now);

}  // namespace surety
