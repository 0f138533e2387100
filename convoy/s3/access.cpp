// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "convoy/base/error.h"
#include "convoy/s3/profile_file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

InputError refusal(const std::string& where, const std::string& found,
                   const std::string& expected, const std::string& hint) {
  return {InputKind::settings,
          {.where = where, .found = found, .expected = expected, .hint = hint}};
}

/// What both files say about the chosen profile, and their paths for messages.
struct Profiles {
  std::string name;
  std::string credentials_path, config_path;
  Profile credentials, config;
  bool found = false;
};

std::string path_of(const VariableLookup& variable, const char* name,
                    const char* usual_name) {
  const std::string path = variable(name);
  if (!path.empty()) return path;
  const std::string home = variable("HOME");
  return home.empty() ? "" : fs::path(home) / ".aws" / usual_name;
}

/// Returns the first of these sections that the file has, or nothing.
std::optional<Profile> section(const ProfileFile& file,
                               std::initializer_list<std::string> names) {
  for (const std::string& name : names) {
    if (const auto entry = file.find(name); entry != file.end()) return entry->second;
  }
  return std::nullopt;
}

Profiles read_both(const VariableLookup& variable) {
  Profiles profiles;
  profiles.name = variable("AWS_PROFILE");
  if (profiles.name.empty()) profiles.name = "default";
  profiles.credentials_path =
      path_of(variable, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
  profiles.config_path = path_of(variable, "AWS_CONFIG_FILE", "config");
  const auto credentials =
      section(read_profiles(profiles.credentials_path), {profiles.name});
  // In the config file, only the default profile may omit the word "profile".
  const std::string long_name = "profile " + profiles.name;
  const std::string short_name = profiles.name == "default" ? "default" : long_name;
  const auto config =
      section(read_profiles(profiles.config_path), {long_name, short_name});
  profiles.found = credentials || config;
  profiles.credentials = credentials.value_or(Profile{});
  profiles.config = config.value_or(Profile{});
  return profiles;
}

std::string field(const Profile& profile, const std::string& name) {
  const auto entry = profile.find(name);
  return entry == profile.end() ? "" : entry->second;
}

struct Credentials {
  std::string key_id, secret, session_token;
};

/// Returns the credentials of one place, or nothing if it has none. Parts of two places
/// do not mix.
std::optional<Credentials> whole(const std::string& place, Credentials found) {
  if (found.key_id.empty() && found.secret.empty()) return std::nullopt;
  if (found.key_id.empty() || found.secret.empty()) {
    throw refusal(place,
                  found.key_id.empty() ? "a secret access key without its id"
                                       : "an access key's id without its secret",
                  "both parts of an access key", "set both, or neither");
  }
  for (const std::string* part : {&found.key_id, &found.secret, &found.session_token}) {
    const bool visible =
        std::ranges::all_of(*part, [](char c) { return c > ' ' && c < 127; });
    if (!visible) {
      throw refusal(place, "spaces or invisible characters in credentials",
                    "credentials as Amazon gives them out", "copy them again");
    }
  }
  return found;
}

std::optional<Credentials> from_profile(const std::string& path, const Profile& profile) {
  return whole(
      path, {field(profile, "aws_access_key_id"), field(profile, "aws_secret_access_key"),
             field(profile, "aws_session_token")});
}

Credentials find_credentials(const VariableLookup& variable, const Profiles& profiles) {
  if (auto found =
          whole("AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY",
                {variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"),
                 variable("AWS_SESSION_TOKEN")})) {
    return *found;
  }
  if (auto found = from_profile(profiles.credentials_path, profiles.credentials)) {
    return *found;
  }
  if (auto found = from_profile(profiles.config_path, profiles.config)) return *found;
  throw refusal(
      "credentials for S3",
      fmt::format("none in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, {} in {} "
                  "and {}",
                  profiles.found ? "no key in profile '" + profiles.name + "'"
                                 : "no profile '" + profiles.name + "'",
                  profiles.credentials_path, profiles.config_path),
      "an access key in one of these places",
      "export both variables, or choose a profile with AWS_PROFILE");
}

std::string first_of(std::initializer_list<std::string> values) {
  for (const std::string& value : values) {
    if (!value.empty()) return value;
  }
  return "";
}

/// A region becomes part of a host name and of signatures.
std::string checked_region(const std::string& region) {
  const bool plain = std::ranges::all_of(region, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (plain) return region;
  throw refusal("AWS_REGION", "'" + region + "'", "a region such as eu-central-1", "");
}

/// The value is not shown when it is refused: it may contain a password.
std::string checked_endpoint(std::string endpoint) {
  if (endpoint.empty()) return endpoint;
  const bool has_scheme =
      endpoint.starts_with("http://") || endpoint.starts_with("https://");
  const bool plain = std::ranges::all_of(endpoint, [](char c) {
    return c > ' ' && c < 127 &&
           std::string_view("@?#\\\"<>").find(c) == std::string_view::npos;
  });
  const bool has_host =
      endpoint.find_first_not_of('/', endpoint.find("//")) != std::string::npos;
  while (endpoint.ends_with('/')) endpoint.pop_back();
  if (has_scheme && has_host && plain) return endpoint;
  throw refusal("AWS_ENDPOINT_URL", "an address of another form",
                "http://host:port or https://host, without user, '?' or '#'",
                "credentials belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
}

/// Amazon's wildcard certificates do not cover bucket names with dots.
bool fits_into_host(const std::string& bucket) {
  return bucket.find('.') == std::string::npos;
}

void replace_all(std::string& text, const std::string& secret) {
  if (secret.empty()) return;
  for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += 3) {
    text.replace(at, secret.size(), "***");
  }
}

}  // namespace

S3Access find_s3_access() {
  return find_s3_access([](const std::string& name) -> std::string {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? "" : value;
  });
}

S3Access find_s3_access(const VariableLookup& variable) {
  const Profiles profiles = read_both(variable);
  const Credentials credentials = find_credentials(variable, profiles);
  return {.key_id = credentials.key_id,
          .secret = credentials.secret,
          .session_token = credentials.session_token,
          .region = checked_region(
              first_of({variable("AWS_REGION"), variable("AWS_DEFAULT_REGION"),
                        field(profiles.config, "region"),
                        field(profiles.credentials, "region"), "us-east-1"})),
          .endpoint = checked_endpoint(
              first_of({variable("AWS_ENDPOINT_URL_S3"), variable("AWS_ENDPOINT_URL"),
                        field(profiles.config, "endpoint_url"),
                        field(profiles.credentials, "endpoint_url")})),
          .ca_bundle =
              first_of({variable("AWS_CA_BUNDLE"), field(profiles.config, "ca_bundle")})};
}

std::string s3_encoded(std::string_view text, bool keep_slashes) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
                       c == '~' || (c == '/' && keep_slashes);
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string s3_url(const S3Access& access, const S3Location& object) {
  const std::string path = "/" + s3_encoded(object.key);
  const std::string whole_path = "/" + object.bucket + (object.key.empty() ? "" : path);
  if (!access.endpoint.empty()) return access.endpoint + whole_path;
  const char* domain =
      access.region.starts_with("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const std::string host = fmt::format("s3.{}.{}", access.region, domain);
  return fits_into_host(object.bucket) ? "https://" + object.bucket + "." + host + path
                                       : "https://" + host + whole_path;
}

std::string without_secrets(std::string text, const S3Access& access) {
  for (const std::string* secret :
       {&access.session_token, &access.secret, &access.key_id}) {
    replace_all(text, *secret);
  }
  return text;
}

}  // namespace convoy
