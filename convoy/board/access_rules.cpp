// SPDX-License-Identifier: Apache-2.0

#include "convoy/board/access_rules.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/crypto.h>

#include <nlohmann/json.hpp>

#include "convoy/base/json.h"
#include "convoy/system/host_name.h"
#include "convoy/wire/socket.h"

namespace convoy {
namespace {

/// The host of "host:port" or "[::1]:port", without brackets.
std::string host_in(const std::string& text) {
  if (text.starts_with('[')) return text.substr(1, text.find(']') - 1);
  return text.substr(0, text.find(':'));
}

bool is_address(const std::string& host) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET, host.c_str(), &ignored) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

/// An address cannot be a name that somebody else directs here.
bool is_own_host(const std::string& host, const AccessRules& rules) {
  if (host == "localhost" || host == rules.host) return true;
  if (!rules.needs_token()) return is_loopback(host);
  return is_address(host) || host == host_name();
}

/// The value of a cookie in "a=1; b=2".
std::string cookie_in(const std::string& header, const std::string& name) {
  for (std::size_t begin = 0; begin < header.size();) {
    const std::size_t end = std::min(header.find(';', begin), header.size());
    std::string pair = header.substr(begin, end - begin);
    pair.erase(0, std::min(pair.find_first_not_of(' '), pair.size()));
    if (pair.starts_with(name + "=")) return pair.substr(name.size() + 1);
    begin = end + 1;
  }
  return "";
}

}  // namespace

bool AccessRules::needs_token() const { return !is_loopback(host); }

std::string AccessRules::cookie_name() const {
  return fmt::format("convoy-board-{}", port);
}

std::string AccessRules::set_cookie() const {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(), token);
}

bool is_token(const std::string& text, const AccessRules& rules) {
  return text.size() == rules.token.size() && !text.empty() &&
         ::CRYPTO_memcmp(text.data(), rules.token.data(), text.size()) == 0;
}

bool has_token(const HttpRequest& request, const AccessRules& rules) {
  const std::string authorization = request.header("authorization");
  if (authorization.starts_with("Bearer ")) {
    return is_token(authorization.substr(7), rules);
  }
  return is_token(cookie_in(request.header("cookie"), rules.cookie_name()), rules);
}

std::optional<HttpResponse> refuse_foreign(const HttpRequest& request,
                                           const AccessRules& rules) {
  const std::string host = request.header("host");
  if (!is_own_host(host_in(host), rules)) {
    return error_response(421, "the Host header names another place");
  }
  if (request.headers.contains("origin") &&
      request.header("origin") != "http://" + host) {
    return error_response(403, "the request comes from a page of another place");
  }
  return {};
}

HttpResponse error_response(int status, const std::string& text) {
  const nlohmann::ordered_json body{{"error", text}};
  return {.status = status, .body = json_text(body)};
}

}  // namespace convoy
