// SPDX-License-Identifier: Apache-2.0
//
// AccessRules: which requests are answered.
//
// A page of another site that is open in the same browser can send requests here, and a
// name of that site can lead to this machine's loopback (DNS rebinding). So the Host
// header must be an address, this machine's name or the one that was given, and Origin,
// which a browser adds, must be the same place. A token admits who has it: by the cookie
// that the page's first address sets, or by a header.

#pragma once

#include <optional>
#include <string>

#include "convoy/board/http_message.h"

namespace convoy {

struct AccessRules {
  std::string host = "127.0.0.1";  // that the server was told to listen on
  int port = 0;
  std::string token{};  // never empty

  /// Whether every request needs the token: others than this machine can reach it.
  bool needs_token() const;
  /// A browser sends cookies of a host to all its ports, so the name has the port.
  std::string cookie_name() const;
  /// The header that sets the cookie.
  std::string set_cookie() const;
};

/// Whether the request has the token: in the cookie, or as "Authorization: Bearer ...".
bool has_token(const HttpRequest& request, const AccessRules& rules);
/// Whether a text is the token, in a time that does not tell where they differ.
bool is_token(const std::string& text, const AccessRules& rules);

/// Why a request is refused, as the answer to it; nothing if Host and Origin are as they
/// should be.
std::optional<HttpResponse> refuse_foreign(const HttpRequest& request,
                                           const AccessRules& rules);

/// An answer with a text for people: {"error": "..."}.
HttpResponse error_response(int status, const std::string& text);

}  // namespace convoy
