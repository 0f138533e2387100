// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace convoy {
namespace {

/// Returns early if cancelled.
void sleep_for(double seconds, const std::stop_token& cancel) {
  std::mutex mutex;
  std::condition_variable_any nobody_calls;
  std::unique_lock lock(mutex);
  nobody_calls.wait_for(lock, cancel, std::chrono::duration<double>(seconds),
                        [] { return false; });
}

bool succeeded(const S3Request& request, const S3Answer& answer) {
  return answer.good() && !(request.method == "POST" && holds_error(answer));
}

S3Answer cancelled() {
  S3Answer answer;
  answer.trouble = S3Trouble::cancelled;
  return answer;
}

S3Error out_of_time(const S3Request& request, const Deadline& deadline,
                    const std::string& last) {
  return {{.where = request.object.text(),
           .found = fmt::format("{}, and the {:.0f} s for this are over", last,
                                deadline.seconds()),
           .expected = "an answer to " + request.method,
           .hint = "check the network and AWS_ENDPOINT_URL"},
          ""};
}

}  // namespace

S3Transport::S3Transport(S3Access access, S3Options options)
    : access_(access),
      options_(std::move(options)),
      connection_(std::move(access)),
      random_(std::random_device()()) {}

double S3Transport::pause_after(int attempt) {
  const double full =
      std::min(options_.longest_pause, options_.first_pause * std::pow(2.0, attempt - 1));
  return full * std::uniform_real_distribution<double>(0.5, 1.0)(random_);
}

void S3Transport::pause_or_throw(const S3Request& request, const S3Answer& answer,
                                 int attempt, const Deadline& deadline) {
  const S3Failure failure = failure_of(answer, access_);
  if (!failure.passing || attempt >= options_.attempts) {
    throw error_of(request, failure, answer);
  }
  const double pause = pause_after(attempt);
  if (pause >= deadline.left()) throw out_of_time(request, deadline, failure.text);
  if (options_.on_retry) {
    options_.on_retry(fmt::format("{} {}: {}; attempt {} of {} in {:.1f} s",
                                  request.method, request.object.text(), failure.text,
                                  attempt + 1, options_.attempts, pause));
  }
  sleep_for(pause, options_.cancel);
}

S3Answer S3Transport::perform(const S3Request& request, const Deadline& deadline) {
  for (int attempt = 1;; ++attempt) {
    if (request.begin) request.begin();
    const double left = deadline.left();
    if (left <= 0) throw out_of_time(request, deadline, "no answer");
    S3Answer answer = options_.cancel.stop_requested()
                          ? cancelled()
                          : connection_.exchange(request, options_, left);
    if (answer.thrown) std::rethrow_exception(answer.thrown);
    if (succeeded(request, answer)) return answer;
    pause_or_throw(request, answer, attempt, deadline);
  }
}

S3Answer S3Transport::try_once(const S3Request& request, double seconds) {
  S3Options options = options_;
  options.cancel = {};
  return connection_.exchange(request, options, seconds);
}

}  // namespace convoy
