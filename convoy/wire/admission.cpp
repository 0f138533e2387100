// SPDX-License-Identifier: Apache-2.0

#include "convoy/wire/admission.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "convoy/wire/handshake.h"
#include "convoy/wire/socket.h"

namespace convoy {
namespace {

constexpr int kAcceptedAtOnce = 64;  // connections accepted before answers are read
constexpr int kMostRefusalLines = 200;

/// Sends on a new connection, whose buffer is empty, so that everything fits.
bool send_at_once(int socket, const Bytes& bytes) {
  return ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

bool begins_as_answer(std::span<const std::byte> bytes) {
  const std::size_t length = std::min(bytes.size(), kMagic.size());
  return text_of(bytes.first(length)) == kMagic.substr(0, length);
}

/// Appends what has arrived, up to a complete answer. Returns false if no more will come.
bool receive_answer(int socket, Bytes& answer) {
  std::array<std::byte, kAnswerBytes> block;
  const ssize_t got = ::recv(socket, block.data(), kAnswerBytes - answer.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  answer.insert(answer.end(), block.begin(), block.begin() + got);
  return got > 0;
}

}  // namespace

Admission::Admission(Descriptor listening, AdmissionOptions options)
    : listening_(std::move(listening)), options_(std::move(options)) {}

void Admission::add_to(std::vector<pollfd>& polled) const {
  // If descriptors are exhausted, polling the listener would return at once, forever.
  if (!out_of_files_) polled.push_back({listening_.get(), POLLIN, 0});
  for (const Stranger& stranger : strangers_) {
    polled.push_back({stranger.socket.get(), POLLIN, 0});
  }
}

std::vector<ProvenPeer> Admission::advance() {
  std::vector<ProvenPeer> proven;
  for (int i = 0; i < kAcceptedAtOnce && accept_one(); ++i) {
  }
  read_answers(proven);
  while (strangers_.size() > kMostStrangers) make_room();
  return proven;
}

/// Returns false if there is no connection to accept.
bool Admission::accept_one() {
  Descriptor socket(
      ::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  out_of_files_ = !socket && (errno == EMFILE || errno == ENFILE);
  if (out_of_files_ && !strangers_.empty()) make_room();
  if (!socket) return false;
  Stranger stranger{std::move(socket), "", fresh_nonce(),
                    Steady::now() + options_.time_to_prove};
  stranger.name = peer_name(stranger.socket.get());
  if (send_at_once(stranger.socket.get(), challenge(stranger.nonce))) {
    strangers_.push_back(std::move(stranger));
  }
  return true;
}

/// Drops a random one: dropping the oldest would let a fast flood drop everyone in time.
void Admission::make_room() {
  std::uniform_int_distribution<std::size_t> any(0, strangers_.size() - 1);
  std::swap(strangers_[any(random_)], strangers_.back());
  log_refusal(strangers_.back().name, "too many strangers");
  strangers_.pop_back();
}

void Admission::read_answers(std::vector<ProvenPeer>& proven) {
  std::erase_if(strangers_, [&](Stranger& stranger) {
    std::string reason;
    const Step step = read_answer(stranger, reason);
    if (step == Step::proven) {
      proven.push_back({std::move(stranger.socket), std::move(stranger.name)});
    } else if (step == Step::refused) {
      log_refusal(stranger.name, reason);
    }
    return step != Step::waiting;
  });
}

Admission::Step Admission::read_answer(Stranger& stranger, std::string& reason) const {
  const bool open = receive_answer(stranger.socket.get(), stranger.answer);
  const Step step = classify(stranger, reason);
  if (step != Step::waiting) return step;
  if (open && Steady::now() < stranger.deadline) return Step::waiting;
  reason = describe(stranger.answer.empty() ? Handshake::silent : Handshake::incomplete);
  return Step::refused;
}

/// Judges by what has arrived: the first bytes alone may show that it is not an answer.
Admission::Step Admission::classify(const Stranger& stranger, std::string& reason) const {
  const auto refuse = [&](Handshake why) {
    reason = describe(why);
    return Step::refused;
  };
  const Bytes& answer = stranger.answer;
  const int socket = stranger.socket.get();
  if (!begins_as_answer(answer)) return refuse(Handshake::foreign);
  if (answer.size() < kAnswerBytes) return Step::waiting;
  if (!answer_proves(answer, options_.token, stranger.nonce)) {
    send_at_once(socket, Bytes(kWelcomeBytes));  // all zero: refused
    return refuse(Handshake::wrong_token);
  }
  const Bytes yes = welcome(options_.token, stranger.nonce, *nonce_of(answer));
  return send_at_once(socket, yes) ? Step::proven : refuse(Handshake::closed);
}

void Admission::log_refusal(const std::string& peer, const std::string& reason) {
  if (!options_.log || ++refusals_ > kMostRefusalLines) return;
  options_.log(fmt::format("refused {}: {}", peer, reason));
  if (refusals_ == kMostRefusalLines) options_.log("further refusals are not logged");
}

}  // namespace convoy
