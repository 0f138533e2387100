// SPDX-License-Identifier: Apache-2.0

#include "convoy/http/connection.h"

#include <exception>

#include "convoy/base/error.h"
#include "convoy/http/content_range.h"
#include "convoy/http/curl_handle.h"

namespace convoy {
namespace {

constexpr long kConnectSeconds = 20;
constexpr long kStallSeconds = 30;
constexpr long kStallBytesPerSecond = 1024;
constexpr long kPart = 206;

/// State of libcurl's callback. Exceptions must not cross libcurl.
struct Reception {
  const HttpGet& request;
  std::exception_ptr thrown{};
};

std::size_t on_bytes(char* data, std::size_t, std::size_t size, void* pointer) {
  auto& reception = *static_cast<Reception*>(pointer);
  try {
    if (reception.request.take) {
      reception.request.take(std::as_bytes(std::span(data, size)));
    }
    return size;
  } catch (...) {
    reception.thrown = std::current_exception();
    return size == 0 ? 1 : 0;  // another number than `size` ends the transfer
  }
}

void configure(CURL* curl, const HttpGet& request, Reception& reception, char* error) {
  curl_easy_reset(curl);  // keeps connections
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  if (!request.range.empty()) {
    curl_easy_setopt(curl, CURLOPT_RANGE, request.range.c_str());
  }
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
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reception);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
}

long status_of(CURL* curl) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

bool is_missing(CURL* curl, CURLcode result) {
  if (result == CURLE_FILE_COULDNT_READ_FILE) return true;
  const long status = status_of(curl);
  return result == CURLE_HTTP_RETURNED_ERROR && (status == 404 || status == 410);
}

bool is_passing(CURL* curl, CURLcode result) {
  switch (result) {
    case CURLE_HTTP_RETURNED_ERROR:
      return status_of(curl) == 429 || status_of(curl) >= 500;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    default:
      return false;
  }
}

/// Of the last answer, after redirects.
std::string header_of(CURL* curl, const char* name) {
  curl_header* found = nullptr;
  return curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK
             ? found->value
             : "";
}

}  // namespace

HttpConnection::HttpConnection() : curl_(std::make_unique<CurlHandle>()) {}
HttpConnection::~HttpConnection() = default;
HttpConnection::HttpConnection(HttpConnection&&) noexcept = default;
HttpConnection& HttpConnection::operator=(HttpConnection&&) noexcept = default;

HttpAnswer HttpConnection::get(const HttpGet& request) {
  CURL* curl = curl_->get();
  Reception reception{.request = request};
  char error[CURL_ERROR_SIZE] = "";
  configure(curl, request, reception, error);
  const CURLcode result = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, nullptr);  // they end with this call
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  if (reception.thrown) std::rethrow_exception(reception.thrown);

  const ContentRange part = content_range(header_of(curl, "Content-Range"));
  HttpAnswer answer{.missing = is_missing(curl, result),
                    .passing = is_passing(curl, result),
                    .is_part = status_of(curl) == kPart,
                    .first = part.first,
                    .total = part.total,
                    .version = header_of(curl, "ETag")};
  if (answer.version.empty()) answer.version = header_of(curl, "Last-Modified");
  if (result != CURLE_OK) {
    answer.trouble = error[0] != '\0' ? error : curl_easy_strerror(result);
  }
  return answer;
}

}  // namespace convoy
