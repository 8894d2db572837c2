// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/metrics_server.h"

#include <fmt/format.h>
#include <gnutls/gnutls.h>
#include <sodium.h>

#include <memory>
#include <stdexcept>
#include <type_traits>

#include "config/sections.h"
#include "config/text/problems.h"

namespace surety {

namespace {

using config::Problems;

// Appends the diagnostics without the source lines.
void append(std::string& report, Problems& problems, const std::string& file) {
  for (const auto& d : problems.take({}, file)) report += d.format();
}

gnutls_datum_t datum(std::string& text) {
  return {reinterpret_cast<unsigned char*>(text.data()), static_cast<unsigned>(text.size())};
}

// TLS's error for the pair; empty: none.
std::string fault_of(MetricsAccess& access) {
  gnutls_certificate_credentials_t made = nullptr;
  gnutls_certificate_allocate_credentials(&made);
  const std::unique_ptr<std::remove_pointer_t<decltype(made)>, decltype(&gnutls_certificate_free_credentials)>
      credentials(made, gnutls_certificate_free_credentials);
  const gnutls_datum_t certificate = datum(access.certificate), key = datum(access.key);
  const int status =
      gnutls_certificate_set_x509_key_mem(credentials.get(), &certificate, &key, GNUTLS_X509_FMT_PEM);
  return status < 0 ? gnutls_strerror(status) : "";
}

void load_tls(const config::Metrics::Tls& tls, MetricsAccess& access, std::string& report) {
  Problems of_certificate, of_key;
  const auto certificate = config::read_text(tls.cert_file, of_certificate);
  const auto key = config::read_secret(tls.key_file, of_key);
  access.certificate = certificate.value_or("");
  access.key = key.value_or("");
  if (certificate && key)
    if (const std::string fault = fault_of(access); !fault.empty())
      of_certificate.error({}, fmt::format("not a TLS certificate for the key {}: {}", tls.key_file, fault));
  append(report, of_certificate, tls.cert_file);
  append(report, of_key, tls.key_file);
}

void load_password(const std::string& file, MetricsAccess& access, std::string& report) {
  Problems problems;
  auto text = config::read_secret(file, problems);
  if (text) {
    const std::string_view line = std::string_view(*text).substr(0, text->find_first_of("\r\n"));
    const std::size_t colon = line.find(':');
    if (colon == 0 || colon >= line.size() - 1)
      problems.error({}, "expected one line, `USER:PASSWORD`");
    else if (text->find_first_not_of("\r\n", line.size()) != text->npos)
      problems.error({2, 1}, "expected nothing after the line `USER:PASSWORD`");
    else
      access.login = MetricsAccess::digest_of(line);
    sodium_memzero(text->data(), text->size());
  }
  append(report, problems, file);
}

}  // namespace

MetricsAccess::Digest MetricsAccess::digest_of(std::string_view login) {
  Digest digest;
  crypto_generichash(digest.data(), digest.size(), reinterpret_cast<const unsigned char*>(login.data()),
                     login.size(), nullptr, 0);
  return digest;
}

MetricsAccess load_metrics_access(const config::Metrics& metrics) {
  MetricsAccess access{.console = metrics.console};
  std::string report;
  if (metrics.tls) load_tls(*metrics.tls, access, report);
  if (!metrics.password_file.empty()) load_password(metrics.password_file, access, report);
  if (report.empty()) return access;
  report.pop_back();
  throw std::runtime_error(report);
}

}  // namespace surety
