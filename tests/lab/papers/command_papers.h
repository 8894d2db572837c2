// SPDX-License-Identifier: BSD-3-Clause
// `surety-lab papers`: every table and figure of the papers, theirs beside ours.
//
// Standard output is a function of the experiments alone: the same bytes on every machine, whatever the
// number of threads. Errors, progress and speed go to standard error.
#pragma once

#include <string>

namespace surety::lab {

struct PapersOptions {
  std::string only;      // gtfrc, csa, ard, gtcp or tfrc; empty: all of them
  bool quick = false;    // fewer seeds
  std::string report;    // directory, made if it is not there; empty: no report
  bool json = false;     // a line for each row, no text
  unsigned threads = 0;  // 0: one per core
  std::string filter;    // ids of experiments, with `*` and `?`; empty: all
  std::string from_dir;  // read the YAML there instead of the embedded one
};

// The exit status: 0; 1 when a band that is claimed or a pin is missed, or for an error of the files; 128 and
// the signal's number when a signal ended it, with what was done until then printed.
int command_papers(const PapersOptions& options);

}  // namespace surety::lab
