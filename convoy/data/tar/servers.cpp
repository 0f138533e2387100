// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/tar/servers.h"

#include <optional>

#include "convoy/base/error.h"
#include "convoy/http/http_file.h"
#include "convoy/s3/access.h"

namespace convoy {
namespace {

constexpr const char* kWhere = "data.train and data.val";

std::unique_ptr<S3Client> new_client() {
  return std::make_unique<S3Client>(find_s3_access());
}

std::unique_ptr<HttpConnection> new_connection() {
  return std::make_unique<HttpConnection>();
}

[[noreturn]] void refuse_missing(const std::string& address) {
  throw download_error(address, "no such file on the server");
}

}  // namespace

bool is_remote(std::string_view address) {
  return is_s3_location(address) || address.starts_with("https://") ||
         address.starts_with("http://");
}

ShardMark Servers::mark(const std::string& address) {
  if (is_s3_location(address)) {
    const S3Location object = S3Location::parse(address, kWhere);
    const std::optional<S3Mark> found =
        s3_.with(new_client, [&](S3Client& client) { return client.mark(object); });
    if (!found) refuse_missing(address);
    return {found->bytes, found->etag};
  }
  const std::optional<RemoteMark> found = http_.with(
      new_connection,
      [&](HttpConnection& connection) { return http_mark(connection, address); });
  if (!found) refuse_missing(address);
  return {found->bytes, found->version};
}

void Servers::read(const std::string& address, const ShardMark& mark,
                   std::uint64_t offset, std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  if (is_s3_location(address)) {
    const S3Location object = S3Location::parse(address, kWhere);
    s3_.with(new_client, [&](S3Client& client) {
      client.get_part(object, {mark.bytes, mark.version}, offset, bytes);
      return true;
    });
    return;
  }
  http_.with(new_connection, [&](HttpConnection& connection) {
    read_http_part(connection, address, {mark.bytes, mark.version}, offset, bytes);
    return true;
  });
}

}  // namespace convoy
