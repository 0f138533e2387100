// SPDX-License-Identifier: Apache-2.0

#include "convoy/acquire/download.h"

#include <curl/curl.h>

#include <exception>
#include <memory>
#include <span>

#include "convoy/base/error.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

constexpr long kConnectSeconds = 20;
constexpr long kStallSeconds = 30;
constexpr long kStallBytesPerSecond = 1024;

struct FreeCurl {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
};
using Curl = std::unique_ptr<CURL, FreeCurl>;

/// The received bytes, and why the transfer was refused. Exceptions must not cross
/// libcurl.
struct Arrival {
  const DownloadOptions& options;
  std::vector<std::byte> bytes{};
  bool too_long = false;
  std::exception_ptr thrown{};

  void take(std::span<const std::byte> piece) {
    too_long = piece.size() > options.limit - bytes.size();
    if (too_long) return;
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    if (options.progress) options.progress(bytes.size());
  }
};

std::size_t on_bytes(char* data, std::size_t, std::size_t size, void* arrival_pointer) {
  auto& arrival = *static_cast<Arrival*>(arrival_pointer);
  try {
    arrival.take(std::as_bytes(std::span(data, size)));
  } catch (...) {
    arrival.thrown = std::current_exception();
  }
  return arrival.too_long || arrival.thrown ? 0 : size;  // 0 ends the transfer
}

Curl new_curl() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  check(started == CURLE_OK, "libcurl starts");
  Curl curl(curl_easy_init());
  if (!curl) throw std::bad_alloc();
  return curl;
}

void configure(CURL* curl, const std::string& url, Arrival& arrival, char* error) {
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https,file");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);  // an error page is not content
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kStallSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kStallBytesPerSecond);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &arrival);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
}

bool is_missing(CURL* curl, CURLcode result) {
  if (result == CURLE_FILE_COULDNT_READ_FILE) return true;
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return result == CURLE_HTTP_RETURNED_ERROR && (status == 404 || status == 410);
}

InputError failure(const std::string& url, const std::string& found) {
  return {InputKind::storage,
          {.where = without_password(url),
           .found = found,
           .expected = "to download this",
           .hint = "check the address and the network"}};
}

}  // namespace

std::optional<std::vector<std::byte>> download(const std::string& url,
                                               const DownloadOptions& options) {
  const Curl curl = new_curl();
  Arrival arrival{.options = options};
  char error[CURL_ERROR_SIZE] = "";
  configure(curl.get(), url, arrival, error);
  const CURLcode result = curl_easy_perform(curl.get());

  if (arrival.thrown) std::rethrow_exception(arrival.thrown);
  if (arrival.too_long) {
    throw failure(url, "more than " + human_bytes(options.limit));
  }
  if (is_missing(curl.get(), result)) return std::nullopt;
  if (result == CURLE_OK) return std::move(arrival.bytes);
  throw failure(url, error[0] != '\0' ? error : curl_easy_strerror(result));
}

}  // namespace convoy
