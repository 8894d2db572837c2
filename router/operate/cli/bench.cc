// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench.h"

#include "router/operate/cli/commands.h"

namespace surety {

void add_bench(CLI::App& app, Action& action) {
  const auto options = std::make_shared<BenchOptions>();
  auto* bench = app.add_subcommand(
      "bench", "Cycles per 64-byte packet on one core, by path, number of flows and stage");
  bench->add_option("--flows", options->flows, "numbers of flows")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(true));
  bench
      ->add_option("--paths", options->paths,
                   "feed, anchor, forward, csa, everything, core, access-up, access-down, flat, below, "
                   "flat-one, below-one")
      ->delimiter(',');
  bench->add_flag("--worst", options->worst,
                  "instead of --paths: everything, and the same with bad input (new, classes, imix ...)");
  bench->add_option("--families", options->families, "4, 6")->delimiter(',');
  bench->add_option("--repetitions", options->repetitions, "number of runs; results are medians")
      ->check(CLI::Range(1, 99));
  bench->add_option("--exits", options->exits, "number of egress ports (paths feed to core)")
      ->check(CLI::Range(1, 16));
  bench->add_option("--core", options->core, "the core to measure on");
  bench->add_flag("--json", options->json, "one line of JSON per row");
  bench->add_flag("--workers", options->workers, "measure the gain of a second worker instead");
  bench->add_flag("--latency", options->latency, "measure the latency added at --load, and pauses, instead");
  bench->add_option("--load", options->loads, "shares of the maximum rate")
      ->delimiter(',')
      ->check(CLI::Range(0.01, 1.0));
  bench->add_flag("--step", options->step, "run one repetition for each line of standard input");
  bench->callback([&action, options] { action = [options] { return surety::bench(*options); }; });
}

}  // namespace surety
