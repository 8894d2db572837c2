// SPDX-License-Identifier: BSD-3-Clause
// The tables of fields of the rows of a reading. A new number is a line in reading_fields.cc or
// service_fields.cc; a new counter is a line of its own list only (counter_table.h).
#pragma once

#include "router/operate/observe/field_table.h"
#include "router/operate/observe/reading.h"

namespace surety::fields {

struct WorkerRow {
  const WorkerReading& worker;
  const Reading& reading;
};

extern const Table<Reading> kRouter;
extern const Table<PortReading> kPorts;
extern const Table<InterfaceReading> kInterfaces;
extern const Table<QueueReading> kQueues;  // `surety show` has columns of its own
extern const Table<ServiceReading> kServices;
extern const Table<ContractReading> kContracts;
extern const Table<FilterReading> kFilters;
extern const Table<FlowReading> kFlows;
extern const Table<AggregateReading> kAggregates;
extern const Table<DomainReading> kDomains;
extern const Table<WorkerRow> kWorkers;
extern const Table<config::Sale> kCommitments;
extern const Table<SubscriberReading> kSubscribers;
extern const Table<SignalSenderReading> kSenders;
extern const Table<SignalSourceReading> kSources;
extern const Table<SignalPathReading> kPaths;

}  // namespace surety::fields
