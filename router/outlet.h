// SPDX-License-Identifier: BSD-3-Clause
// Where the packets of a worker go that leave by a port: to its own Egress, or to the worker that owns it.
#pragma once

#include "router/egress.h"
#include "router/rings/handover.h"

namespace surety {

struct Outlet {
  // Of the port, whoever owns it. Another worker's is only asked for alpha() and describe().
  Egress* egress = nullptr;
  // To the worker that owns the port; null: this one does.
  EgressHandover* owner = nullptr;
};

}  // namespace surety
