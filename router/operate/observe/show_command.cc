// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <vector>

#include "router/operate/observe/show.h"
#include "router/operate/observe/show_rates.h"
#include "router/operate/observe/show_signalling.h"
#include "router/process/human.h"

namespace surety {
namespace {

std::vector<std::string_view> table_names() {
  std::vector<std::string_view> all(kTables.begin(), kTables.end());
  all.insert(all.end(), kOwnTables.begin(), kOwnTables.end());
  return all;
}

// Events come oldest first: the last are the newest.
bool newest_last(const ShowRequest& request) {
  return request.what == "events";
}

std::string as_json(const ShowRequest& request, std::vector<Json> rows, bool watched) {
  select(rows, columns_of(request.what), request.selection, newest_last(request));
  return Json(std::move(rows)).dump(watched ? -1 : 2) + '\n';
}

std::string as_text(const ShowRequest& request, std::vector<Json> rows, ShowRates* rates, double elapsed) {
  ShownTable table = shown(request.what, std::move(rows), request.all);
  if (rates != nullptr) rates->apply(table, elapsed);
  const std::string note = note_on(request.what, table.lines);  // before the selection
  std::vector<Json> heading;                                    // kept by the selection
  if (request.what == "signalling" && !table.lines.empty()) heading = {table.lines.front()};
  select(table.lines, table.columns, request.selection, newest_last(request));
  if (request.what != "signalling") return render(table.columns, table.lines) + note;
  heading.insert(heading.end(), table.lines.begin(), table.lines.end());
  return render_signalling(Json(std::move(heading)), request.all);
}

}  // namespace

int show(ShowRequest request, const TelemetryClient& client, std::ostream& out, std::ostream& err,
         const ShowAgain& again, std::string_view clear) {
  request.what = table_name(request.what);
  const std::vector<std::string_view> known = table_names();
  if (std::ranges::find(known, request.what) == known.end()) {
    err << fmt::format("surety show: no table is called {}: choose one of {}\n", request.what,
                       human::list(known));
    return 2;
  }
  try {
    ShowRates rates;
    for (double elapsed = 0;;) {
      Json table = client.table(request.what, request.router);
      std::vector<Json>& rows = table.get_ref<Json::array_t&>();
      const std::string text = request.json
                                   ? as_json(request, std::move(rows), again != nullptr)
                                   : as_text(request, std::move(rows), again ? &rates : nullptr, elapsed);
      out << text << std::flush;
      const auto more = again && out ? again() : std::nullopt;
      if (!more) return 0;
      elapsed = *more;
      if (!request.json) out << clear;
    }
  } catch (const std::invalid_argument& e) {
    err << fmt::format("surety show {}: {}\n", request.what, e.what());
    return 2;
  } catch (const std::runtime_error& e) {
    err << "surety show: " << e.what() << '\n';
    return 1;
  }
}

}  // namespace surety
