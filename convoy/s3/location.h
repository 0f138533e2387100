// SPDX-License-Identifier: Apache-2.0
//
// S3Location: a place in object storage, written as s3://bucket/prefix.

#pragma once

#include <string>
#include <string_view>

namespace convoy {

struct S3Location {
  std::string bucket;
  std::string key{};  // without '/' at either end; empty: the bucket itself

  /// Parses "s3://bucket/prefix". `where` names the setting for messages:
  /// "checkpoint.upload". Throws InputError of kind `settings` for anything that a server
  /// might interpret differently.
  static S3Location parse(const std::string& text, const std::string& where);

  std::string text() const;  // "s3://bucket/key"

  S3Location operator/(std::string_view name) const;

  /// The parent, or the bucket itself; and the name after the last '/'.
  S3Location parent() const;
  std::string name() const;

  bool operator==(const S3Location&) const = default;
};

/// Whether a text begins like a location, valid or not.
bool is_s3_location(std::string_view text);

}  // namespace convoy
