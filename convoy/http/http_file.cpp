// SPDX-License-Identifier: Apache-2.0

#include "convoy/http/http_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "convoy/base/printable.h"
#include "convoy/http/content_range.h"

namespace convoy {
namespace {

constexpr int kAttempts = 5;
constexpr std::chrono::milliseconds kFirstPause{250};  // doubles each time

/// Tries again while that may help. `begin` is called before each attempt.
template <class Begin>
HttpAnswer get_patiently(HttpConnection& connection, const HttpGet& request,
                         const Begin& begin) {
  auto pause = kFirstPause;
  for (int attempt = 1;; ++attempt, pause *= 2) {
    begin();
    HttpAnswer answer = connection.get(request);
    if (!answer.passing || attempt == kAttempts) return answer;
    std::this_thread::sleep_for(pause);
  }
}

/// A server that ignores ranges would send all of a large file: its first piece ends
/// that.
struct SentEverything {};

}  // namespace

InputError download_error(const std::string& url, const std::string& found) {
  return {InputKind::storage,
          {.where = without_password(url),
           .found = found,
           .expected = "to download this",
           .hint = "check the address and the network"}};
}

std::optional<RemoteMark> http_mark(HttpConnection& connection, const std::string& url) {
  std::size_t arrived = 0;
  HttpGet request{.url = url, .range = "0-0"};
  request.take = [&](std::span<const std::byte> piece) {
    arrived += piece.size();
    if (arrived > 1) throw SentEverything();
  };
  try {
    const HttpAnswer answer = get_patiently(connection, request, [&] { arrived = 0; });
    if (answer.missing) return std::nullopt;
    if (!answer.trouble.empty()) throw download_error(url, answer.trouble);
    if (answer.is_part && answer.total) return RemoteMark{*answer.total, answer.version};
  } catch (const SentEverything&) {
    // As below.
  }
  throw download_error(url, "a server that does not send parts of files");
}

void read_http_part(HttpConnection& connection, const std::string& url,
                    const RemoteMark& mark, std::uint64_t offset,
                    std::span<std::byte> bytes) {
  std::size_t arrived = 0;
  HttpGet request{.url = url,
                  .range = fmt::format("{}-{}", offset, offset + bytes.size() - 1)};
  request.take = [&](std::span<const std::byte> piece) {
    if (piece.size() > bytes.size() - arrived) throw SentEverything();
    std::ranges::copy(piece, bytes.begin() + static_cast<std::ptrdiff_t>(arrived));
    arrived += piece.size();
  };
  HttpAnswer answer;
  try {
    answer = get_patiently(connection, request, [&] { arrived = 0; });
  } catch (const SentEverything&) {
    throw download_error(url, "more bytes than were asked for");
  }
  if (!answer.trouble.empty()) throw download_error(url, answer.trouble);
  if (answer.version != mark.version || answer.total != mark.bytes) {
    throw download_error(url, "a file that has changed since it was opened");
  }
  if (const std::string wrong = wrong_begin(answer.first, offset); !wrong.empty()) {
    throw download_error(url, wrong);
  }
  if (arrived != bytes.size()) {
    throw download_error(url, fmt::format("{} of {} bytes", arrived, bytes.size()));
  }
}

}  // namespace convoy
