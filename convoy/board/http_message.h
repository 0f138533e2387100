// SPDX-License-Identifier: Apache-2.0
//
// A request over HTTP and its response, without the connection that carries them.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace convoy {

struct HttpRequest {
  std::string method{};  // "GET"
  std::string path{};    // decoded, without the query: "/api/runs"
  std::multimap<std::string, std::string> query{};
  std::map<std::string, std::string> headers{};  // by names in lower case

  /// The header, or the first field of the query, of that name; "" if there is none.
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
  std::string field(const std::string& name) const {
    const auto found = query.find(name);
    return found == query.end() ? "" : found->second;
  }
};

struct HttpResponse {
  int status = 200;
  std::string body{};
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// Answers a request. It is called by several threads at once.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

}  // namespace convoy
