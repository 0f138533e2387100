// SPDX-License-Identifier: Apache-2.0
//
// HttpServer: a folder served over HTTP on the loopback, by Python, for one test.

#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "test_places.h"

namespace convoy {

/// Python's own server sends whole files only; that of range_server.py also parts.
enum class HttpParts { none, ranges };

class HttpServer {
 public:
  /// Returns once the server listens, at a port that was free.
  explicit HttpServer(const std::filesystem::path& folder,
                      HttpParts parts = HttpParts::none) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    child_ = ::fork();
    if (child_ == 0) serve(folder, parts, ends[1]);
    ::close(ends[1]);
    url_ = "http://127.0.0.1:" + read_port(ends[0]);
    ::close(ends[0]);
  }
  ~HttpServer() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  const std::string& url() const { return url_; }

 private:
  [[noreturn]] static void serve(const std::filesystem::path& folder, HttpParts parts,
                                 int output) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
    if (parts == HttpParts::ranges) {
      ::execlp("python3", "python3", "-u",
               CONVOY_SOURCE_DIR "/tests/http/range_server.py", folder.c_str(),
               static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::execlp("python3", "python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1",
             "--directory", folder.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }

  /// From "Serving HTTP on 127.0.0.1 port 40123 (...".
  static std::string read_port(int descriptor) {
    std::string text;
    char byte = 0;
    while (byte != '\n' && ::read(descriptor, &byte, 1) == 1) text += byte;
    const std::size_t at = text.find("port ");
    if (at == std::string::npos) throw std::runtime_error("no HTTP server: " + text);
    const std::size_t begin = at + 5;
    return text.substr(begin, text.find(' ', begin) - begin);
  }

  pid_t child_ = -1;
  std::string url_;
};

}  // namespace convoy
