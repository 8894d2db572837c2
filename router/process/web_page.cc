// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/metrics_server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <zlib.h>

#include <array>
#include <utility>

namespace surety {
namespace {

constexpr std::size_t kWorthIt = 1000;  // bytes
// A page may load files that are served with it, and request tables.
constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-cache"},
    {"Vary", "Accept-Encoding"}};

// Empty where zlib finds no memory for it.
std::string gzip(std::string_view text, int level) {
  z_stream z{};
  constexpr int kGzip = 15 + 16;  // the largest window, in gzip's format
  if (deflateInit2(&z, level, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string made(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(made.data());
  z.avail_out = static_cast<uInt>(made.size());
  const int status = deflate(&z, Z_FINISH);
  made.resize(status == Z_STREAM_END ? z.total_out : 0);
  deflateEnd(&z);
  return made;
}

std::string_view header(MHD_Connection* of, const char* name) {
  const char* const value = MHD_lookup_connection_value(of, MHD_HEADER_KIND, name);
  return value ? value : "";
}

// The response holds the page until it is sent.
MHD_Response* response_of(std::string_view body, std::shared_ptr<const WebPage> page) {
  const auto forget = [](void* held) { delete static_cast<std::shared_ptr<const WebPage>*>(held); };
  return MHD_create_response_from_buffer_with_free_callback_cls(
      body.size(), const_cast<char*>(body.data()), forget,
      new std::shared_ptr<const WebPage>(std::move(page)));
}

// "localhost", or an address: names that no name server can resolve.
bool names_this_machine(std::string_view host) {
  if (host.starts_with('[')) return true;
  host = host.substr(0, host.rfind(':'));
  return host == "localhost" || host.find_first_not_of("0123456789.") == host.npos;
}

}  // namespace

WebPage make_page(std::string type, std::string text, int level) {
  WebPage page{.type = std::move(type)};
  page.tag = fmt::format("\"{:x}\"", std::hash<std::string>()(text));
  if (text.size() >= kWorthIt) page.gzipped = gzip(text, level);
  page.text = std::move(text);
  return page;
}

std::string_view refusal(MHD_Connection* from, bool on_loopback) {
  if (!on_loopback)
    return "The console needs a password: the metrics listen beyond this machine, and there is no "
           "`metrics: {password_file: ...}`.\n";
  if (!names_this_machine(header(from, MHD_HTTP_HEADER_HOST)))
    return "The console without a password answers to `localhost` and to addresses, not to other names.\n";
  return {};
}

int answer(MHD_Connection* to, const std::shared_ptr<const WebPage>& page) {
  const bool known = header(to, MHD_HTTP_HEADER_IF_NONE_MATCH) == page->tag;
  const bool zipped = !page->gzipped.empty() &&
                      header(to, MHD_HTTP_HEADER_ACCEPT_ENCODING).find("gzip") != std::string_view::npos;
  const std::string_view body = known ? std::string_view() : zipped ? page->gzipped : page->text;
  MHD_Response* const response = response_of(body, page);
  if (response == nullptr) return MHD_NO;
  for (const auto& [name, value] : kHeaders) MHD_add_response_header(response, name, value);
  for (const auto& [name, value] : page->headers) MHD_add_response_header(response, name, value.c_str());
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, page->type.c_str());
  MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, page->tag.c_str());
  if (zipped && !known) MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
  const int result = MHD_queue_response(to, known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, response);
  MHD_destroy_response(response);
  return result;
}

}  // namespace surety
