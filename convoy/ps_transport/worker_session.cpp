// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps_transport/worker_session.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/system/quiet_thread.h"
#include "convoy/wire/socket.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;

constexpr auto kToSayHello = std::chrono::seconds(5);
constexpr std::uint64_t kLeastBeat = 10, kMostBeat = 5000;  // milliseconds

/// Ends a session because of an invalid message.
struct Rejected {
  Rejection why;
};

/// Returns the hello that the server expects from that worker.
HelloBody expected_hello(const ServerPortOptions& options, const HelloBody& hello) {
  HelloBody expected = hello;
  expected.gradients = options.gradients;
  expected.statistics = options.statistics;
  expected.partials = options.partials[hello.worker];
  expected.microbatches = options.microbatches[hello.worker];
  expected.constants = options.constants;
  expected.gradient_type = options.types.gradients;
  expected.pulled_bytes = options.pulled_bytes();
  return expected;
}

std::string sizes_of(const HelloBody& hello) {
  return fmt::format(
      "{} gradients, {} statistics, {} partial sums, {} micro-batches in a push of "
      "worker {}{}{}",
      hello.gradients, hello.statistics, hello.partials, hello.microbatches, hello.worker,
      hello.constants > 0 ? fmt::format(", {} frozen numbers", hello.constants) : "",
      hello.gradient_type != Dtype::fp32
          ? fmt::format(", in {}", name_of(hello.gradient_type))
          : "");
}

void check_magic(const FrameHead& head) {
  if (head.magic == kFrameMagic) return;
  throw Rejected{
      {.found = "something other than a message", .expected = "a worker's message"}};
}

void check_length(const FrameHead& head, std::uint64_t expected, const char* what) {
  if (head.length == expected) return;
  throw Rejected{{.found = fmt::format("{} of {} bytes", what, head.length),
                  .expected = fmt::format("{} bytes", expected)}};
}

}  // namespace

WorkerSession::WorkerSession(ProvenPeer peer, const SessionContext& context)
    : context_(context),
      stream_(std::move(peer.socket), kToSayHello, context.traffic),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      peer_(std::move(peer.name)) {
  if (!wake_) throw std::system_error(errno, std::generic_category(), "eventfd");
  set_blocking(stream_.socket());
  thread_ = quiet_thread([this] { run(); });
}

WorkerSession::~WorkerSession() {
  cut("the server ends");
  thread_.join();
}

void WorkerSession::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(wake_.get(), &one, sizeof(one));
}

void WorkerSession::cut(const char* why) {
  const char* nothing = nullptr;
  cut_why_.compare_exchange_strong(nothing, why);
  stream_.shut();
  wake();
}

void WorkerSession::probe() {
  received_at_probe_ = stream_.received();
  probe_ = Probe::asked;
  wake();
}

bool WorkerSession::shows_life() const {
  return stream_.received() > received_at_probe_ ||
         (probe_ == Probe::sent && stream_.is_acknowledged());
}

void WorkerSession::run() {
  try {
    admit();
    serve();
    end("left", /*said_goodbye=*/true);
  } catch (const Rejected& rejected) {
    reject(rejected.why);
  } catch (const std::exception& lost) {
    const char* const why = cut_why_ ? cut_why_.load() : lost.what();
    end(worker_ < 0 ? why : fmt::format("is lost: {}", why), /*said_goodbye=*/false);
  }
  stream_.shut();
  done_ = true;
}

/// Gives the peer a slot.
void WorkerSession::admit() {
  sizes_ = receive_hello();
  const int worker = static_cast<int>(sizes_.worker);
  if (!context_.slots.enter(worker, *this)) {
    throw Rejected{{.found = fmt::format("worker {} is connected already", worker),
                    .expected = "one process for each worker"}};
  }
  worker_ = worker;
  stream_.set_silence(context_.options.silence);
  shared_ = make_shared_numbers(sizes_, stream_.socket());
  const WelcomeBody welcome = shared_ ? shared_->welcome() : WelcomeBody{};
  stream_.send(FrameKind::admitted, bytes_in(welcome));
  context_.log(fmt::format("worker {} joined from {}", worker_, peer_));
}

HelloBody WorkerSession::receive_hello() {
  const FrameHead head = stream_.receive_head();
  check_magic(head);
  if (head.kind != FrameKind::hello) {
    throw Rejected{{.found = "no hello", .expected = "a hello first"}};
  }
  check_length(head, sizeof(HelloBody), "a hello");
  HelloBody hello;
  stream_.receive(writable_bytes_in(hello));
  const auto workers = static_cast<std::uint64_t>(context_.options.workers);
  if (hello.worker >= workers) {
    throw Rejected{{.found = fmt::format("worker {}", hello.worker),
                    .expected = fmt::format("worker 0 to {}", workers - 1)}};
  }
  const HelloBody expected = expected_hello(context_.options, hello);
  if (hello != expected) {
    throw Rejected{{InputKind::settings, sizes_of(hello), sizes_of(expected)}};
  }
  beat_ = milliseconds(std::clamp(hello.beat_milliseconds, kLeastBeat, kMostBeat));
  return hello;
}

void WorkerSession::serve() {
  for (;;) {
    if (!wait_for_worker()) {
      answer();
    } else if (!take_frame()) {
      return;
    }
  }
}

/// Waits for something to send or to read, or for the next beat. Returns true if there is
/// something to read, which has priority because it may be the end.
bool WorkerSession::wait_for_worker() {
  std::array<pollfd, 2> waits{{{stream_.socket(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
  const int limit = owes_ ? static_cast<int>(beat_.count()) : -1;
  const int ready = ::poll(waits.data(), waits.size(), limit);
  if (ready == 0) stream_.send(FrameKind::beat);
  std::uint64_t ignored = 0;
  if (waits[1].revents != 0) {
    [[maybe_unused]] const ssize_t read = ::read(wake_.get(), &ignored, sizeof(ignored));
  }
  return waits[0].revents != 0;
}

/// Returns false if it was the last message.
bool WorkerSession::take_frame() {
  const FrameHead head = stream_.receive_head();
  check_magic(head);
  if (head.kind == FrameKind::goodbye && head.length == 0) return false;
  const bool shared = head.kind == FrameKind::shared_push && shared_;
  if (head.kind != FrameKind::push && !shared) {
    throw Rejected{{.found = "a message that no worker sends", .expected = "a push"}};
  }
  if (owes_) {
    throw Rejected{{.found = "a push before the last one was answered",
                    .expected = "one push at a time"}};
  }
  check_length(head, shared ? shared_push_length(sizes_) : push_length(sizes_), "a push");
  take_push(shared);
  return true;
}

void WorkerSession::take_push(bool shared) {
  PushHead head;
  stream_.receive(writable_bytes_in(head));
  Push push = push_of(head);
  push.microbatches.resize(sizes_.microbatches);
  stream_.receive(std::as_writable_bytes(std::span(push.microbatches)));
  shares_ = shared;
  if (!shares_) shared_.reset();  // the worker could not open it
  receive_numbers();
  owes_ = true;
  context_.slots.deposit(worker_, std::move(push), shared_);
}

/// Shared numbers are used in place, if they are fp32.
void WorkerSession::receive_numbers() {
  if (sizes_.gradient_type != Dtype::fp32) return unpack_numbers();
  const auto gradients = std::as_writable_bytes(context_.slots.gradients(worker_));
  const auto statistics = std::as_writable_bytes(context_.slots.statistics(worker_));
  if (shares_) {
    context_.traffic.received += gradients.size() + statistics.size();
  } else {
    stream_.receive(gradients);
    stream_.receive(statistics);
  }
}

void WorkerSession::unpack_numbers() {
  const std::size_t bytes = pushed_bytes(sizes_);
  const std::span<std::byte> packed =
      shares_ ? shared_->pushed() : context_.slots.packed(worker_, bytes);
  if (shares_) {
    context_.traffic.received += bytes;
  } else {
    stream_.receive(packed);
  }
  const std::span<float> gradients = context_.slots.gradients(worker_);
  unpack(sizes_.gradient_type, packed.data(), gradients);
  unpack(Dtype::fp32, packed.data() + gradients.size() * bytes_of(sizes_.gradient_type),
         context_.slots.statistics(worker_));
}

void WorkerSession::answer() {
  if (const Answer answer = context_.slots.take_answer(worker_);
      answer.kind != Answer::Kind::none) {
    say(answer);
    owes_ = false;
  }
  if (probe_ == Probe::asked) {
    stream_.send(FrameKind::beat);
    probe_ = Probe::sent;
  }
}

void WorkerSession::say(const Answer& answer) {
  if (answer.kind == Answer::Kind::refusal) {
    throw Rejected{{.found = answer.why, .expected = "a push that can be applied"}};
  }
  if (answer.kind == Answer::Kind::over) {
    stream_.send(FrameKind::over, encode_over(answer.assignment));
    return;
  }
  const AssignmentHead head{answer.assignment.sequence, answer.assignment.version,
                            answer.assignment.loss_scale};
  const std::array<FrameStream::Part, 2> parts{bytes_in(head),
                                               context_.slots.values(worker_)};
  if (shares_) {
    context_.traffic.sent += parts.back().size();
    stream_.send(FrameKind::shared_assignment, parts.front());
  } else {
    stream_.send(FrameKind::assignment, parts);
  }
}

void WorkerSession::end(const std::string& how, bool said_goodbye) {
  if (worker_ < 0) {
    context_.log(fmt::format("refused {}: {}", peer_, how));
    return;
  }
  context_.slots.leave(worker_, said_goodbye);
  context_.log(fmt::format("worker {} at {} {}", worker_, peer_, how));
}

void WorkerSession::reject(const Rejection& rejection) {
  try {
    stream_.send(FrameKind::refused, encode(rejection));
  } catch (const ConnectionLost&) {
    // The peer has closed the connection and does not need the reason.
  }
  const std::string why =
      fmt::format("{}, expected {}", rejection.found, rejection.expected);
  end(worker_ < 0 ? why : "is cut off: " + why, /*said_goodbye=*/false);
}

}  // namespace convoy
