// SPDX-License-Identifier: BSD-3-Clause
// `surety-lab papers --report DIR`: a page with tables and plots in the papers' axes,
// and a summary in Markdown.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/lab/papers/papers_run_collect.h"
#include "tests/lab/papers/papers_text.h"

namespace surety::lab {

struct PaperReport {
  const Paper* paper = nullptr;
  Tally tally;
  std::vector<ExperimentResult> experiments;
};

std::vector<Tally> tallies_of(std::span<const PaperReport> papers);  // one for each paper

std::string papers_page(std::span<const PaperReport> papers, bool quick);
// A table for a README: a line for each paper.
std::string papers_markdown(std::span<const PaperReport> papers);

// Writes index.html and summary.md, over what is there; makes the directory. Throws std::system_error, whose
// text names the file.
void write_papers_report(const std::string& directory, std::span<const PaperReport> papers, bool quick);

}  // namespace surety::lab
