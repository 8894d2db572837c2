// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/result_tables.h"

#include <algorithm>

#include "tests/lab/results/result_flows.h"
#include "tests/lab/results/result_lines.h"

namespace surety::lab {
namespace {

constexpr double kKept = 0.95;  // of the promise

using Runs = std::span<const RunResult>;

struct QueueRow {
  PrecedenceResult counts;
  Value average, utilisation;
};

PrecedenceResult sum(const PrecedenceResult& a, const PrecedenceResult& b) {
  return {a.arrivals + b.arrivals, a.early_drops + b.early_drops, a.forced_drops + b.forced_drops,
          a.overflow_drops + b.overflow_drops, a.marked + b.marked};
}

std::vector<Named<QueueRow>> queue_rows(const RunResult& run) {
  std::vector<Named<QueueRow>> rows;
  for (const auto& q : run.queues) {
    if (!q.interface.empty()) continue;
    const std::string queue = full_name(q);
    const auto& [in, out, red] = q.by_precedence;
    // A queue without precedences has only the sum.
    if (q.thresholds || in.arrivals > 0) {
      rows.push_back({{queue, "in"}, {in, q.average_in_mean, {}}});
      rows.push_back({{queue, "out"}, {out, {}, {}}});
      if (red.arrivals > 0) rows.push_back({{queue, "red"}, {red, {}, {}}});
    }
    const Value utilisation = q.rate_bps > 0 ? Value(q.utilisation) : Value();
    rows.push_back({{queue, "all"}, {sum(sum(in, out), red), q.average_total_mean, utilisation}});
  }
  return rows;
}

auto counted(std::uint64_t PrecedenceResult::*member) {
  return [member](const QueueRow& q) { return Value(static_cast<double>(q.counts.*member)); };
}

Value drop_share(const QueueRow& q) {
  if (q.counts.arrivals == 0) return {};
  const auto drops = q.counts.early_drops + q.counts.forced_drops + q.counts.overflow_drops;
  return static_cast<double>(drops) / static_cast<double>(q.counts.arrivals);
}

ResultTable queue_table(Runs runs) {
  return table_of<QueueRow>(
      "Queues", {{"queue"}, {"packets"}}, lines_of<QueueRow>(runs, queue_rows),
      {{"arrivals", Quantity::count, counted(&PrecedenceResult::arrivals)},
       {"early drops", Quantity::count, counted(&PrecedenceResult::early_drops)},
       {"forced", Quantity::count, counted(&PrecedenceResult::forced_drops)},
       {"overflow", Quantity::count, counted(&PrecedenceResult::overflow_drops)},
       {"marked", Quantity::count, counted(&PrecedenceResult::marked), true},
       {"dropped", Quantity::share, drop_share},
       {"average", Quantity::number, [](const QueueRow& q) { return q.average; }},
       {"utilisation", Quantity::share, [](const QueueRow& q) { return q.utilisation; }}});
}

// A row for each class of an interface, or for that of all of a template's interfaces.
ResultTable interface_table(Runs runs, std::size_t rows_per_stem) {
  using Row = const QueueResult*;
  const auto lines = lines_of<Row>(runs, [](const RunResult& run) {
    std::vector<Named<Row>> rows;
    for (const auto& q : run.queues)
      if (!q.interface.empty()) rows.push_back({{q.router + '.' + q.interface, q.queue}, &q});
    return rows;
  });
  const auto of_all = [](std::uint64_t PrecedenceResult::*member) {
    return [member](const Row& q) {
      const auto& [in, out, red] = q->by_precedence;
      return Value(static_cast<double>(in.*member + out.*member + red.*member));
    };
  };
  const std::vector<Column<Row>> all{
      {"arrivals", Quantity::count, of_all(&PrecedenceResult::arrivals)},
      {"early drops", Quantity::count, of_all(&PrecedenceResult::early_drops), true},
      {"forced", Quantity::count, of_all(&PrecedenceResult::forced_drops), true},
      {"overflow", Quantity::count, of_all(&PrecedenceResult::overflow_drops)},
      {"marked", Quantity::count, of_all(&PrecedenceResult::marked), true},
      {"depth", Quantity::number, field(&QueueResult::average_total_mean)},
      {"departed", Quantity::rate, field(&QueueResult::departed_bps)},
      {"shaper", Quantity::rate, [](const Row& q) { return unless_zero(q->rate_bps); }}};
  const auto columns = used(all, lines);
  ResultTable table{"Queues of interfaces", {{"interface"}, {"queue"}}, {}};
  for (const auto& c : columns) table.columns.push_back({c.title, true});
  table.columns.push_back({"Jain", true});
  const auto alike = [](const Line<Row>& a, const Line<Row>& b) {
    return a.any()->router == b.any()->router && a.any()->definition == b.any()->definition &&
           a.names[1] == b.names[1];
  };
  for_each_row<Row>(lines, alike, rows_per_stem, [&](std::span<const Line<Row>> row) {
    const QueueResult& first = *row[0].any();
    std::vector<std::string> cells = row[0].names;
    if (row.size() > 1) cells[0] = fmt::format("{}.{} x {}", first.router, first.definition, row.size());
    for (const auto& c : columns) cells.push_back(row.size() == 1 ? cell(c, row[0]) : cell(c, row));
    cells.push_back(jain_cell<Row>(row, [](const Row& q) { return q->departed_bps; }));
    table.rows.push_back(std::move(cells));
  });
  drop_if_empty(table, table.columns.size() - 1);
  return table;
}

ResultTable group_table(Runs runs) {
  using Row = const GroupResult*;
  const auto lines = lines_of<Row>(runs, [](const RunResult& run) {
    std::vector<Named<Row>> rows;
    for (const auto& g : run.groups)
      if (g.sending > 0)
        rows.push_back({{g.router + '.' + g.port, g.group.empty() ? "(no group)" : g.group}, &g});
    return rows;
  });
  const auto number = [](std::uint64_t GroupResult::*member) {
    return [member](const Row& g) { return Value(static_cast<double>(g->*member)); };
  };
  return table_of<Row>("Groups", {{"port"}, {"group"}}, lines,
                       {{"interfaces", Quantity::count, number(&GroupResult::interfaces)},
                        {"sending", Quantity::count, number(&GroupResult::sending)},
                        {"departed", Quantity::rate, field(&GroupResult::departed_bps)},
                        {"shaper", Quantity::rate, [](const Row& g) { return unless_zero(g->limit_bps); }},
                        {"Jain", Quantity::number, field(&GroupResult::jain)}});
}

ResultTable domain_table(Runs runs) {
  using Row = const DomainResult*;
  const auto lines = lines_of<Row>(runs, [](const RunResult& run) {
    std::vector<Named<Row>> rows;
    for (const auto& d : run.domains)
      rows.push_back({{full_name(d), d.applied ? d.at : d.at + " (observed)"}, &d});
    return rows;
  });
  return table_of<Row>("Congestion domains", {{"congested queue"}, {"alpha at"}}, lines,
                       {{"mean alpha", Quantity::number, field(&DomainResult::alpha_mean)},
                        {"least", Quantity::number, field(&DomainResult::alpha_min)},
                        {"last", Quantity::number, field(&DomainResult::alpha_last)}});
}

ResultTable aggregate_table(Runs runs) {
  using Row = const AggregateResult*;
  const auto lines = lines_of<Row>(runs, [](const RunResult& run) {
    std::vector<Named<Row>> rows;
    for (const auto& a : run.aggregates) rows.push_back({{a.router, a.name}, &a});
    return rows;
  });
  return table_of<Row>("Aggregates", {{"router"}, {"aggregate"}}, lines,
                       {{"TPR", Quantity::rate, field(&AggregateResult::tpr_bps)},
                        {"of at most", Quantity::rate, field(&AggregateResult::tpr_max_bps)},
                        {"IN rate", Quantity::rate, field(&AggregateResult::lambda_in_bps)},
                        {"OUT rate", Quantity::rate, field(&AggregateResult::lambda_out_bps)},
                        {"IN passed", Quantity::count, field(&AggregateResult::passed_in)},
                        {"OUT passed", Quantity::count, field(&AggregateResult::passed_out)},
                        {"remarked", Quantity::count, field(&AggregateResult::remarked)},
                        {"dropped", Quantity::count, field(&AggregateResult::dropped)}});
}

ResultTable count_table(Runs runs, const char* title, const char* what,
                        std::map<std::string, std::map<std::string, std::uint64_t>> RunResult::*counts) {
  using Row = std::uint64_t;
  const auto lines = lines_of<Row>(runs, [counts](const RunResult& run) {
    std::vector<Named<Row>> rows;
    for (const auto& [router, reasons] : run.*counts) {
      for (const auto& [reason, n] : reasons) {
        if (n > 0) rows.push_back({{router, reason}, n});
      }
    }
    return rows;
  });
  const auto packets = [](const Row& n) { return Value(static_cast<double>(n)); };
  return table_of<Row>(title, {{"router"}, {what}}, lines, {{"packets", Quantity::count, packets}});
}

}  // namespace

double promise_of(const FlowResult& flow) {
  const double promised = flow.target_bps > 0 ? flow.target_bps : flow.committed_bps;
  return flow.offered_bps > 0 ? std::min(promised, flow.offered_bps) : promised;
}

bool kept(const FlowResult& flow) {
  return flow.delivered_bps >= kKept * promise_of(flow);
}

bool controls_rate(const FlowResult& flow) {
  return flow.protocol == "tfrc" || flow.protocol == "gtfrc";
}

std::string full_name(const QueueResult& queue) {
  return queue.router + '.' + queue.port + '.' + queue.queue;
}
std::string full_name(const DomainResult& domain) {
  return domain.router + '.' + domain.port + '.' + domain.queue;
}

std::string stem_of(const std::string& name) {
  return name.substr(0, name.find('#'));
}

std::vector<ResultTable> result_tables(Runs runs, std::size_t rows_per_stem) {
  std::vector<ResultTable> tables{flow_table(runs, rows_per_stem)};
  for (auto& table : {queue_table(runs), interface_table(runs, rows_per_stem), group_table(runs),
                      domain_table(runs), aggregate_table(runs),
                      count_table(runs, "Congestion signals, whole run", "result", &RunResult::signals),
                      count_table(runs, "Drops, whole run", "reason", &RunResult::drops)}) {
    if (!table.rows.empty()) tables.push_back(table);
  }
  return tables;
}

}  // namespace surety::lab
