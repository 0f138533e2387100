// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/multipart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "convoy/s3/etag.h"
#include "convoy/s3/md5.h"
#include "convoy/s3/xml.h"

namespace convoy {
namespace {

constexpr std::uint64_t kMostParts = 10000;  // limit of S3
constexpr double kAbortSeconds = 2;

class MultipartUpload {
 public:
  MultipartUpload(S3Transport& transport, const S3Location& object,
                  const SourceFile& file, const Deadline& deadline)
      : transport_(transport), object_(object), file_(file), deadline_(deadline) {}

  void run() {
    begin();
    try {
      send_parts();
      complete();
    } catch (...) {
      abort();
      throw;
    }
  }

 private:
  void begin() {
    const S3Answer answer = transport_.perform(
        {.method = "POST", .object = object_, .query = "uploads="}, deadline_);
    id_ = xml_field(answer.body, "InitiateMultipartUploadResult", "UploadId");
    if (id_.empty()) throw strange_answer(object_, "an upload without an id");
  }

  std::size_t part_bytes() const {
    const std::uint64_t least = (file_.size() + kMostParts - 1) / kMostParts;
    return std::max<std::uint64_t>(transport_.options().part_bytes, least);
  }

  void send_parts() {
    std::vector<std::byte> part(part_bytes());
    for (std::uint64_t begin = 0; begin < file_.size(); begin += part.size()) {
      part.resize(std::min<std::uint64_t>(part.size(), file_.size() - begin));
      file_.read(begin, part);
      send(part);
    }
  }

  void send(std::span<const std::byte> part) {
    const Md5Digest digest = md5(part);
    const S3Answer answer = transport_.perform(
        {.method = "PUT",
         .object = object_,
         .query = fmt::format("partNumber={}&{}", etags_.size() + 1, id_query()),
         .body = part},
        deadline_);
    check_etag(object_, answer, hex(digest));
    if (answer.etag.empty()) throw strange_answer(object_, "a part without an ETag");
    etags_.push_back(answer.etag);
    digests_.insert(digests_.end(), digest.begin(), digest.end());
    whole_.add(part);
    if (transport_.options().on_sent) transport_.options().on_sent(part.size());
  }

  /// If the answer is lost, the upload may have been completed, and a second request may
  /// be refused because the upload no longer exists: then the object itself is checked.
  void complete() {
    const std::string list = part_list();
    try {
      transport_.perform({.method = "POST",
                          .object = object_,
                          .query = id_query(),
                          .body = std::as_bytes(std::span(list)),
                          .content_type = "application/xml"},
                         deadline_);
    } catch (const S3Error&) {
      if (transport_.options().cancel.stop_requested() || !is_there()) throw;
    }
  }

  bool is_there() {
    const S3Answer found =
        transport_.try_once({.method = "HEAD", .object = object_}, kAbortSeconds);
    const std::string of_parts = fmt::format("{}-{}", hex(md5(digests_)), etags_.size());
    return found.good() && found.etag_is_md5 && found.length == file_.size() &&
           (found.etag == of_parts || found.etag == hex(whole_.finish()));
  }

  /// Parts that are not aborted cost their owner money. A failure here is ignored: the
  /// error that led here says more.
  void abort() {
    transport_.try_once({.method = "DELETE", .object = object_, .query = id_query()},
                        kAbortSeconds);
  }

  std::string id_query() const { return "uploadId=" + s3_encoded(id_, false); }

  std::string part_list() const {
    std::string xml = "<CompleteMultipartUpload>";
    for (std::size_t i = 0; i < etags_.size(); ++i) {
      xml += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>\"{}\"</ETag></Part>",
                         i + 1, xml_escaped(etags_[i]));
    }
    return xml + "</CompleteMultipartUpload>";
  }

  S3Transport& transport_;
  const S3Location& object_;
  const SourceFile& file_;
  const Deadline& deadline_;
  std::string id_;
  std::vector<std::string> etags_;  // of the parts, from the server
  std::vector<std::byte> digests_;  // MD5 of the parts, concatenated
  Digest whole_{DigestKind::md5};
};

}  // namespace

void put_in_parts(S3Transport& transport, const S3Location& object,
                  const SourceFile& file, const Deadline& deadline) {
  MultipartUpload(transport, object, file, deadline).run();
}

}  // namespace convoy
