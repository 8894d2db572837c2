// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/explain/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>
#include <stdexcept>

#include "router/operate/explain/explanation.h"
#include "router/operate/explain/question.h"

namespace surety {

// The question is looked at here, too: for what is wrong with it no router is needed.
int explain(const ExplainRequest& request, const TelemetryClient& client, std::ostream& out,
            std::ostream& err) {
  int status = 2;
  try {
    const std::string question = fmt::format("{}", fmt::join(request.words, " "));
    parse_question(question);
    status = 1;
    const Json answer = client.ask("explain", question, request.router);
    out << (request.json ? answer.dump(2) + '\n' : render_explanation(answer));
    return 0;
  } catch (const std::runtime_error& e) {
    err << "surety explain: " << e.what() << '\n';
    return status;
  }
}

}  // namespace surety
