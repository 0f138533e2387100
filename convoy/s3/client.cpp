// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "convoy/http/content_range.h"
#include "convoy/s3/etag.h"
#include "convoy/s3/md5.h"
#include "convoy/s3/multipart.h"
#include "convoy/s3/xml.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

/// Counts and hashes what arrives, from the beginning in each attempt.
struct Arrival {
  std::uint64_t bytes = 0;
  Digest digest{DigestKind::md5};

  void add(std::span<const std::byte> piece) {
    bytes += piece.size();
    digest.add(piece);
  }
};

/// Downloads an object into `write`, which `restart` resets before each attempt. Returns
/// the number of bytes, or nothing if there is no such object.
std::optional<std::uint64_t> get(
    S3Transport& transport, const S3Location& object, std::uint64_t limit,
    const std::function<void()>& restart,
    const std::function<void(std::span<const std::byte>)>& write) {
  Arrival arrival;
  S3Request request{.object = object};
  request.begin = [&] {
    arrival = {};
    restart();
  };
  request.take = [&](std::span<const std::byte> piece) {
    arrival.add(piece);
    if (arrival.bytes > limit) {
      throw damaged_object(object, fmt::format("more than {} bytes", limit),
                           "no more than that");
    }
    write(piece);
  };
  try {
    const S3Answer answer =
        transport.perform(request, Deadline(transport.options().operation_seconds));
    check_etag(object, answer, hex(arrival.digest.finish()));
    return arrival.bytes;
  } catch (const S3Error& error) {
    if (error.code() != "NoSuchKey") throw;
    return std::nullopt;
  }
}

}  // namespace

S3Client::S3Client(const S3Access& access, const S3Options& options)
    : transport_(access, options) {}

void S3Client::put_bytes(const S3Location& object, std::span<const std::byte> bytes) {
  const S3Answer answer =
      transport_.perform({.method = "PUT", .object = object, .body = bytes},
                         Deadline(transport_.options().operation_seconds));
  check_etag(object, answer, hex(md5(bytes)));
}

void S3Client::put_file(const S3Location& object, const SourceFile& file) {
  if (file.size() > transport_.options().part_bytes) {
    put_in_parts(transport_, object, file,
                 Deadline(transport_.options().operation_seconds));
    return;
  }
  std::vector<std::byte> content(file.size());
  file.read(0, content);
  put_bytes(object, content);
  if (transport_.options().on_sent) transport_.options().on_sent(content.size());
}

std::optional<std::vector<std::byte>> S3Client::get_bytes(const S3Location& object,
                                                          std::size_t limit) {
  std::vector<std::byte> content;
  const auto found = get(
      transport_, object, limit, [&] { content.clear(); },
      [&](std::span<const std::byte> piece) {
        content.insert(content.end(), piece.begin(), piece.end());
      });
  if (!found) return std::nullopt;
  return content;
}

bool S3Client::get_file(const S3Location& object, const std::filesystem::path& path,
                        std::uint64_t bytes) {
  std::unique_ptr<AtomicFile> file;
  const auto found = get(
      transport_, object, bytes,
      [&] {
        file.reset();  // before the next one is made
        file = std::make_unique<AtomicFile>(path);
      },
      [&](std::span<const std::byte> piece) { file->write(piece); });
  if (!found) return false;
  if (*found != bytes) {
    throw damaged_object(object, fmt::format("{} bytes", *found),
                         fmt::format("{} bytes", bytes));
  }
  file->commit();
  return true;
}

std::optional<S3Mark> S3Client::mark(const S3Location& object) {
  try {
    const S3Answer answer =
        transport_.perform({.object = object, .range = "0-0"},
                           Deadline(transport_.options().operation_seconds));
    if (answer.total) return S3Mark{*answer.total, answer.etag};
  } catch (const S3Error& error) {
    if (error.code() != "NoSuchKey") throw;
    return std::nullopt;
  }
  throw strange_answer(object, "an object of unknown size");
}

void S3Client::get_part(const S3Location& object, const S3Mark& mark,
                        std::uint64_t offset, std::span<std::byte> bytes) {
  std::size_t arrived = 0;
  S3Request request{.object = object,
                    .range = fmt::format("{}-{}", offset, offset + bytes.size() - 1)};
  request.begin = [&] { arrived = 0; };
  request.take = [&](std::span<const std::byte> piece) {
    if (piece.size() > bytes.size() - arrived) {
      throw strange_answer(object, "more bytes than were asked for");
    }
    std::ranges::copy(piece, bytes.begin() + static_cast<std::ptrdiff_t>(arrived));
    arrived += piece.size();
  };
  const S3Answer answer =
      transport_.perform(request, Deadline(transport_.options().operation_seconds));
  if (answer.etag != mark.etag || answer.total != mark.bytes) {
    throw strange_answer(object, "an object that has changed since it was opened");
  }
  if (const std::string wrong = wrong_begin(answer.first, offset); !wrong.empty()) {
    throw strange_answer(object, wrong);
  }
  if (arrived != bytes.size()) {
    throw strange_answer(object, fmt::format("{} of {} bytes", arrived, bytes.size()));
  }
}

void S3Client::remove(const S3Location& object) {
  transport_.perform({.method = "DELETE", .object = object},
                     Deadline(transport_.options().operation_seconds));
}

std::vector<std::string> S3Client::folders(const S3Location& place) {
  const std::string prefix = place.key.empty() ? "" : place.key + "/";
  const S3Answer answer = transport_.perform(
      {.object = {.bucket = place.bucket},
       .query = "delimiter=%2F&list-type=2&prefix=" + s3_encoded(prefix, false)},
      Deadline(transport_.options().operation_seconds));
  if (xml_field(answer.body, "ListBucketResult", "IsTruncated") == "true") {
    throw InputError(InputKind::data,
                     {.where = place.text(),
                      .found = "more folders than the server lists at once",
                      .expected = "fewer, or a longer address",
                      .hint = "name the run"});
  }
  std::vector<std::string> names;
  for (const std::string& found :
       xml_fields(answer.body, "ListBucketResult", "CommonPrefixes", "Prefix")) {
    if (!found.starts_with(prefix) || !found.ends_with('/')) continue;
    names.push_back(found.substr(prefix.size(), found.size() - prefix.size() - 1));
  }
  return names;
}

}  // namespace convoy
