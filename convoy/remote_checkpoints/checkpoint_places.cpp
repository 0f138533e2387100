// SPDX-License-Identifier: Apache-2.0

#include "convoy/remote_checkpoints/checkpoint_places.h"

#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/json.h"

namespace convoy {
namespace {

constexpr std::size_t kMostDigits = 19;  // fit into 64 bits

constexpr const char* kPointerForm = R"({"checkpoint": "00000120", "step": 120})";
constexpr const char* kPointerHint = "name a checkpoint: .../checkpoints/<step>";

InputError damaged_pointer(const S3Location& pointer, const std::string& found) {
  return {InputKind::data,
          {.where = pointer.text(),
           .found = found,
           .expected = kPointerForm,
           .hint = kPointerHint}};
}

}  // namespace

std::string role_name(CheckpointRole role) {
  return role == CheckpointRole::last ? "last" : "best";
}

bool is_step_name(const std::string& name) {
  return !name.empty() && name.size() <= kMostDigits &&
         name.find_first_not_of("0123456789") == std::string::npos;
}

S3Location checkpoint_place(const S3Location& run, const std::string& step_name) {
  return run / "checkpoints" / step_name;
}

S3Location pointer_place(const S3Location& run, CheckpointRole role) {
  return run / "checkpoints" / (role_name(role) + ".json");
}

std::string pointer_text(const std::string& step_name) {
  return nlohmann::ordered_json{{"checkpoint", step_name},
                                {"step", std::stoull(step_name)}}
             .dump() +
         "\n";
}

std::string pointed_at(std::string_view text, const S3Location& pointer) {
  const JsonSource source{
      .where = pointer.text(), .expected = kPointerForm, .hint = kPointerHint};
  const auto content = parse_json(text, source);
  const std::string name = JsonObject(content, source).text("checkpoint");
  if (!is_step_name(name)) throw damaged_pointer(pointer, "'" + name + "'");
  return name;
}

}  // namespace convoy
