// SPDX-License-Identifier: BSD-3-Clause
// Pages that the metrics server serves besides /metrics. All answers with a page share one body, for any
// number of slow readers.
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
  std::string tag{};                                           // changes with the content
  std::string text{};                                          // uncompressed
  std::string gzipped{};                                       // compressed; empty: not worth it
  std::vector<std::pair<const char*, std::string>> headers{};  // additional headers
};

// Makes a page of this text; `level`: zlib's, 1 (fast) to 9 (small).
WebPage make_page(std::string type, std::string text, int level);

// Returns the page of a path; nullptr: there is none. Called on the server's thread, which serves no other
// request meanwhile.
using WebPages = std::function<std::shared_ptr<const WebPage>(std::string_view path)>;

// Why a client without a password may not see pages; empty: it may. A foreign page may have the browser
// resolve its name to this machine (DNS rebinding); the requested host name reveals this.
std::string_view refusal(MHD_Connection* from, bool on_loopback);

// Queues the answer: 304 if the client has the page, compressed if it accepts that. The page may load, run
// and send only to this server. Returns MHD_YES or MHD_NO.
int answer(MHD_Connection* to, const std::shared_ptr<const WebPage>& page);

}  // namespace surety
