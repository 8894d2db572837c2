// SPDX-License-Identifier: BSD-3-Clause
// The readings of several workers as one of the router.
//
// Pure. Rows of ports, queues, services, filters, domains and aggregates stand at the same places in all
// readings of one snapshot, and what only one worker has (queues, domains and aggregates: the owner of their
// port's egress) is zero in the others' (worker_reading.h), so that sums are right whoever owns what.
#pragma once

#include "router/observe/reading.h"

namespace surety {

// Adds a worker's reading to those of others. A default Reading is neutral: it becomes `part`.
//   ports, queues, services, filters, flows, stages: sums (the respect ratio: of the sums)
//   handover: what was given less what was taken
//   workers: appended; top flows: of both, most bytes first
//   signalling: sums by result and by queue; the age of what was heard last; of a path that several workers
//     keep a replica of, the lowest alpha
//   what the router fills in for itself (version, uptime, routes, buffers, ...): stays as it is
void merge(Reading& into, const Reading& part);

// Places without a port, and ports whose places others have now, as observers should see them: one row
// (kGonePorts), which is there if they have counted something.
void settle_gone(Reading& reading);

// What earlier configurations have left behind (snapshot.h), as observers should see it: a retired service
// counts for the one that has its name now, and is not shown where there is none, unless it still has flows;
// retired domains are not shown. The others in the order of the configuration.
void settle_retired(Reading& reading);
// The numbers of a queue with those of another one.
void add_numbers(QueueReading& into, const QueueReading& part);
// Queues of interfaces stand behind those of ports.
void settle_below(Reading& reading);

}  // namespace surety
