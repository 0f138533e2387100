// SPDX-License-Identifier: Apache-2.0
//
// S3Server: s3rver (an npm package) on the loopback, with one bucket, for one test. See
// server.js. `script/bootstrap test` installs it.

#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "convoy/s3/access.h"
#include "convoy/s3/options.h"
#include "convoy/system/temporary_folder.h"
#include "test_places.h"
#include "tests/bootstrap_folder.h"

namespace convoy {

inline const std::string kBucket = "models";

class S3Server {
 public:
  /// Returns once the server listens, at a port that was free. With a key and its
  /// certificate (files) it speaks TLS.
  explicit S3Server(const std::string& key = "", const std::string& certificate = "") {
    ::setenv("no_proxy", "127.0.0.1", 1);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const std::string modules = modules_folder();
    child_ = ::fork();
    if (child_ == 0) serve(modules, key, certificate, ends[1]);
    ::close(ends[1]);
    port_ = read_port(ends[0]);
    ::close(ends[0]);
  }
  ~S3Server() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  S3Server(const S3Server&) = delete;
  S3Server& operator=(const S3Server&) = delete;

  int port() const { return port_; }

  /// Where the content of an object lies, to be looked at or damaged.
  std::filesystem::path stored(const std::string& key) const {
    return folder_.path() / kBucket / (key + "._S3rver_object");
  }
  bool has(const std::string& key) const { return std::filesystem::exists(stored(key)); }

  /// How many multipart uploads are neither complete nor given up.
  int open_uploads() const {
    const auto uploads = folder_.path() / kBucket / "._S3rver_uploads";
    if (!std::filesystem::exists(uploads)) return 0;
    int count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(uploads)) {
      ++count;
    }
    return count;
  }

 private:
  static std::string modules_folder() { return bootstrap_folder("s3rver"); }

  [[noreturn]] void serve(const std::string& modules, const std::string& key,
                          const std::string& certificate, int output) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(output, STDOUT_FILENO);
    ::execlp("node", "node", CONVOY_SOURCE_DIR "/tests/s3/server.js", modules.c_str(),
             folder_.path().c_str(), kBucket.c_str(), key.c_str(), certificate.c_str(),
             static_cast<char*>(nullptr));
    ::_exit(127);
  }

  /// From "listening 40123".
  static int read_port(int descriptor) {
    std::string text;
    char byte = 0;
    while (byte != '\n' && ::read(descriptor, &byte, 1) == 1) text += byte;
    if (!text.starts_with("listening ")) {
      throw std::runtime_error("no S3 server: run script/bootstrap test; " + text);
    }
    return std::stoi(text.substr(10));
  }

  TemporaryFolder folder_;
  pid_t child_ = -1;
  int port_ = 0;
};

/// The right key, at a port of this machine.
inline S3Access access_at(int port) {
  return {.key_id = "S3RVER",
          .secret = "S3RVER",
          .endpoint = "http://127.0.0.1:" + std::to_string(port)};
}

/// Patience for tests: little.
inline S3Options quick() {
  S3Options options;
  options.connect_seconds = 2;
  options.stall_seconds = 2;
  options.operation_seconds = 60;
  options.attempts = 4;
  options.first_pause = 0.02;
  options.longest_pause = 0.1;
  return options;
}

}  // namespace convoy
