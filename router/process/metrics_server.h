// SPDX-License-Identifier: BSD-3-Clause
// The Prometheus endpoint: http://host:port/metrics, or https.
//
// Guarantees: Collect() is called exactly once per scrape, so that one scrape is one consistent reading, and
// never twice at the same time; it runs on the server's one thread. Silent or slow clients do not delay
// others: connections are bounded in number, each address has a part of them (ConnectionParts), and
// connections idle for five seconds are closed. With a login, all other requests get only a refusal. Pages
// (WebPages) without a password are served only by a listener on this machine's loopback.
#pragma once

#include <prometheus/collectable.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"

struct MHD_Connection;

namespace surety {

// Pages that the metrics server serves besides /metrics. All answers with a page share one body, for any
// number of slow readers.
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

// Access to the metrics: the content of the files of `metrics: {tls, password_file}`.
struct MetricsAccess {
  using Digest = std::array<std::uint8_t, 32>;  // BLAKE2b of `USER:PASSWORD`, which is not stored

  std::string certificate{}, key{};  // PEM; empty: HTTP
  std::optional<Digest> login{};     // nullopt: no password
  bool console = true;               // serves pages, too, if there are any

  static Digest digest_of(std::string_view login);
  friend bool operator==(const MetricsAccess&, const MetricsAccess&) = default;
};

// Throws std::runtime_error, a line `file:line:column: error: message` for each error: files that cannot be
// read or that others may read, an invalid certificate or key or ones that do not match, no `USER:PASSWORD`.
// No message shows the content of a file.
MetricsAccess load_metrics_access(const config::Metrics& metrics);

class MetricsServer {
 public:
  static constexpr std::size_t kConnections = 64;

  // `listen` is "host:port", "[v6]:port", or with port 0 for any free one. Throws std::runtime_error, one
  // sentence with the reason and the fix, for an unusable address.
  MetricsServer(const std::string& listen, MetricsAccess access,
                std::unique_ptr<const prometheus::Collectable> readings, WebPages pages = {});
  ~MetricsServer();

  // Replaces the access. If it differs, existing connections are closed. On std::runtime_error nothing has
  // changed.
  void admit(MetricsAccess access);

  int port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace surety
