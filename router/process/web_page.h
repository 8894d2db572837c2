// SPDX-License-Identifier: BSD-3-Clause
// What a browser gets of the metrics' server besides /metrics: pages that somebody else makes, each answer of
// which shares one body, however many read it and however slowly.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct MHD_Connection;

namespace surety {

struct WebPage {
  std::string type{};                                          // Content-Type
  std::string tag{};                                           // another one for another content
  std::string text{};                                          // as it is
  std::string gzipped{};                                       // the same; empty: it is not worth it
  std::vector<std::pair<const char*, std::string>> headers{};  // more of them
};

// Of such text; `level`: zlib's, 1 (fast) to 9 (small).
WebPage make_page(std::string type, std::string text, int level);

// By path; null: there is none. It is asked on the server's thread, which serves nobody else meanwhile.
using WebPages = std::function<std::shared_ptr<const WebPage>(std::string_view path)>;

// Why somebody who has given no password may not see pages; empty: he may. A browser on this machine may be
// told by a page of elsewhere that some name is this machine; the name that it asks for gives that away.
std::string_view refusal(MHD_Connection* from, bool on_loopback);

// Queues the answer: 304 where he has it already, compressed where he takes that. Nothing on it is run, shown
// or sent but what comes from here. Returns MHD_YES or MHD_NO.
int answer(MHD_Connection* to, const std::shared_ptr<const WebPage>& page);

}  // namespace surety
