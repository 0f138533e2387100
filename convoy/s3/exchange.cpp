// SPDX-License-Identifier: Apache-2.0
//
// libcurl computes the signature (AWS signature version 4) from the path as it is encoded
// in the URL, the query as given, and our own headers, so these must be in canonical
// form.

#include "convoy/s3/exchange.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "convoy/base/base64.h"
#include "convoy/base/error.h"
#include "convoy/base/sha256.h"
#include "convoy/http/content_range.h"
#include "convoy/http/curl_handle.h"
#include "convoy/s3/md5.h"

namespace convoy {
namespace {

constexpr std::size_t kMostBodyBytes = 1 << 20;
constexpr long kStallBytesPerSecond = 1024;
constexpr long kLeaveToSendMilliseconds = 300;

/// A list of headers for libcurl.
class Headers {
 public:
  Headers() = default;
  ~Headers() { curl_slist_free_all(list_); }
  Headers(const Headers&) = delete;
  Headers& operator=(const Headers&) = delete;

  void add(const std::string& line) {
    curl_slist* longer = curl_slist_append(list_, line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    list_ = longer;
  }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

/// State of libcurl's callbacks. Exceptions must not cross libcurl.
struct Transfer {
  const S3Request& request;
  const std::stop_token& cancel;
  CURL* curl;
  S3Answer answer{};

  void take(std::span<const std::byte> bytes) {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (request.take && status >= 200 && status < 300) {
      request.take(bytes);
    } else {
      const std::size_t room = kMostBodyBytes - answer.body.size();
      answer.body.append(reinterpret_cast<const char*>(bytes.data()),
                         std::min(room, bytes.size()));
    }
  }
};

std::size_t on_bytes(char* data, std::size_t, std::size_t size, void* pointer) {
  auto& transfer = *static_cast<Transfer*>(pointer);
  try {
    transfer.take(std::as_bytes(std::span(data, size)));
    return size;
  } catch (...) {
    transfer.answer.thrown = std::current_exception();
    return size == 0 ? 1 : 0;  // another number than `size` ends the transfer
  }
}

/// Called at least once per second; a result other than 0 ends the transfer.
int on_progress(void* pointer, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Transfer*>(pointer)->cancel.stop_requested() ? 1 : 0;
}

std::string header(CURL* curl, const char* name) {
  curl_header* found = nullptr;
  return curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK
             ? found->value
             : "";
}

S3Trouble trouble_of(CURLcode result) {
  switch (result) {
    case CURLE_OK:
      return S3Trouble::none;
    case CURLE_ABORTED_BY_CALLBACK:
      return S3Trouble::cancelled;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_WEIRD_SERVER_REPLY:
      return S3Trouble::passing;
    default:
      return S3Trouble::permanent;
  }
}

std::string unquoted(std::string etag) {
  std::erase(etag, '"');
  return etag;
}

void read_headers(CURL* curl, S3Answer& answer) {
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_off_t length = -1;
  curl_easy_getinfo(curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  if (length >= 0) answer.length = static_cast<std::uint64_t>(length);
  const ContentRange part = content_range(header(curl, "Content-Range"));
  answer.first = part.first;
  answer.total = part.total;
  answer.etag = unquoted(header(curl, "ETag"));
  const std::string cipher = header(curl, "x-amz-server-side-encryption");
  answer.etag_is_md5 =
      (cipher.empty() || cipher == "AES256") &&
      header(curl, "x-amz-server-side-encryption-customer-algorithm").empty();
  answer.bucket_region = header(curl, "x-amz-bucket-region");
}

void set_method(CURL* curl, const S3Request& request, Headers& headers) {
  if (!request.range.empty()) {
    curl_easy_setopt(curl, CURLOPT_RANGE, request.range.c_str());
  }
  headers.add("x-amz-content-sha256: " + sha256_hex(request.body));
  if (request.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    return;
  }
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  if (request.method != "PUT" && request.method != "POST") return;
  headers.add("Content-Type: " + request.content_type);
  headers.add("Content-MD5: " + base64(md5(request.body)));
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(
      curl, CURLOPT_POSTFIELDS,
      request.body.empty() ? "" : reinterpret_cast<const char*>(request.body.data()));
}

void set_access(CURL* curl, const S3Access& access, Headers& headers) {
  const std::string scheme = "aws:amz:" + access.region + ":s3";
  curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, scheme.c_str());
  curl_easy_setopt(curl, CURLOPT_USERNAME, access.key_id.c_str());
  curl_easy_setopt(curl, CURLOPT_PASSWORD, access.secret.c_str());
  if (!access.ca_bundle.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, access.ca_bundle.c_str());
  }
  if (!access.session_token.empty()) {
    headers.add("x-amz-security-token: " + access.session_token);
  }
}

void set_limits(CURL* curl, const S3Options& options, double seconds) {
  const auto whole = [](double value) { return std::max(1L, std::lround(value)); };
  // "Expect: 100-continue" cannot be switched off: the empty header that does it would be
  // signed (as of libcurl 7.88), and every server would refuse that signature.
  curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS, kLeaveToSendMilliseconds);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_QUICK_EXIT,
                   1L);  // cancelling does not wait for the resolver
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, whole(seconds * 1000));
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                   whole(options.connect_seconds * 1000));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, whole(options.stall_seconds));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kStallBytesPerSecond);
}

/// Redirects are not followed: the signature is not valid for another place.
void set_transfer(CURL* curl, const std::string& url, Transfer& transfer) {
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
}

}  // namespace

S3Connection::S3Connection(S3Access access)
    : access_(std::move(access)), curl_(std::make_unique<CurlHandle>()) {}

S3Connection::~S3Connection() = default;

S3Answer S3Connection::exchange(const S3Request& request, const S3Options& options,
                                double seconds) {
  CURL* curl = curl_->get();
  curl_easy_reset(curl);  // keeps connections
  Headers headers;
  Transfer transfer{.request = request, .cancel = options.cancel, .curl = curl};
  const std::string url = s3_url(access_, request.object) +
                          (request.query.empty() ? "" : "?" + request.query);
  set_transfer(curl, url, transfer);
  set_limits(curl, options, seconds);
  set_method(curl, request, headers);
  set_access(curl, access_, headers);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  const CURLcode result = curl_easy_perform(curl);

  S3Answer answer = std::move(transfer.answer);
  if (answer.thrown) return answer;
  read_headers(curl, answer);
  answer.trouble = trouble_of(result);
  answer.distrust =
      result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CACERT_BADFILE;
  if (result != CURLE_OK) answer.trouble_text = curl_easy_strerror(result);
  return answer;
}

}  // namespace convoy
