// SPDX-License-Identifier: BSD-3-Clause
// The tables over one run, or over several seeds of one scenario, that the text and the report share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/lab/results/result.h"

namespace surety::lab {

// What a flow was promised: its target, else its contract's committed rate; 0: nothing.
double promise_of(const FlowResult& flow);
// Whether at least 95 % of the promise arrived.
bool kept(const FlowResult& flow);

// Whether its control series is a rate X in bit/s (TFRC, gTFRC), not a window in packets.
bool controls_rate(const FlowResult& flow);

// "core.out.assured", as links and settings write it.
std::string full_name(const QueueResult& queue);
std::string full_name(const DomainResult& domain);

// "bulk" of "bulk#7": the sender or host that stands once in the file.
std::string stem_of(const std::string& name);

struct ResultTable {
  struct Column {
    std::string title;
    bool number = false;
  };
  std::string title;
  std::vector<Column> columns;  // those that say something
  std::vector<std::vector<std::string>> rows;
};

// Flows, and where there are any: queues, those of interfaces, groups, domains, aggregates, drops. Values are
// those of spread.h. More than `rows_per_stem` flows of one stem, or interfaces of one template, share a row:
// "least / mean / greatest" of their means over the seeds, and Jain's index of what they got.
std::vector<ResultTable> result_tables(std::span<const RunResult> runs, std::size_t rows_per_stem);

}  // namespace surety::lab
