// SPDX-License-Identifier: Apache-2.0
//
// CurlHandle: owns a handle of libcurl, which keeps its connections between requests. For
// source files only: other headers do not show libcurl.

#pragma once

#include <curl/curl.h>

#include <new>

#include "convoy/base/error.h"

namespace convoy {

class CurlHandle {
 public:
  CurlHandle() {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    check(started == CURLE_OK, "libcurl starts");
    handle_ = curl_easy_init();
    if (handle_ == nullptr) throw std::bad_alloc();
  }
  ~CurlHandle() { curl_easy_cleanup(handle_); }
  CurlHandle(const CurlHandle&) = delete;
  CurlHandle& operator=(const CurlHandle&) = delete;

  CURL* get() const { return handle_; }

 private:
  CURL* handle_ = nullptr;
};

}  // namespace convoy
