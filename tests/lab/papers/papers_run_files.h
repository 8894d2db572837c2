// SPDX-License-Identifier: BSD-3-Clause
// The YAML files of the papers, and what of them was asked for.
#pragma once

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lab/papers/experiment.h"

namespace surety::lab {

struct PapersFiles {
  std::string place;                         // before the names in messages, with `/`
  std::map<std::string, std::string> texts;  // by name: `gtfrc.yaml`, `scenarios/gtfrc-two-flows.yaml`
};
PapersFiles embedded_papers_files();
// Throws std::system_error (std::filesystem_error) when the directory cannot be read.
PapersFiles papers_files_in(const std::string& directory);

struct PapersSelection {
  std::string only;    // the paper of that name; empty: all
  std::string filter;  // experiments whose id it matches (`*`, `?`); empty: all
};

// In the order gtfrc, csa, ard, gtcp, tfrc; then others by name. A paper may have several files, which follow
// one another as papers of one name, each with its title: first the one that is called like the paper.
// Experiment ids are unique over all of them. None: there was an error, which `errors` now has; so it is when
// nothing is left of the selection.
std::optional<std::vector<Paper>> load_papers(const PapersFiles& files, const PapersSelection& selection,
                                              std::ostream& errors);

}  // namespace surety::lab
