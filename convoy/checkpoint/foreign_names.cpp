// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/foreign_names.h"

#include <span>
#include <utility>

namespace convoy {
namespace {

using Renaming = std::pair<std::string_view, std::string_view>;

constexpr Renaming kTorchvisionTransformer[] = {
    {"class_token", "cls_token"},
    {"conv_proj.", "patch_embed.proj."},
    {"encoder.pos_embedding", "pos_embed"},
    {"encoder.ln.", "norm."},
    {"heads.head.", "head."},
};
constexpr std::string_view kTorchvisionBlock = "encoder.layers.encoder_layer_";
// Of one block. Older versions name the linear layers, newer ones number them.
constexpr Renaming kTorchvisionInBlock[] = {
    {"ln_1.", "norm1."},
    {"ln_2.", "norm2."},
    {"self_attention.in_proj_weight", "attn.qkv.weight"},
    {"self_attention.in_proj_bias", "attn.qkv.bias"},
    {"self_attention.out_proj.", "attn.proj."},
    {"mlp.linear_1.", "mlp.fc1."},
    {"mlp.linear_2.", "mlp.fc2."},
    {"mlp.0.", "mlp.fc1."},
    {"mlp.3.", "mlp.fc2."},
};

std::string renamed(std::string_view name, std::span<const Renaming> renamings) {
  for (const auto& [from, to] : renamings) {
    if (!name.starts_with(from)) continue;
    return std::string(to) + std::string(name.substr(from.size()));
  }
  return std::string(name);
}

}  // namespace

std::string own_name(std::string_view name) {
  for (const std::string_view prefix : {"module.", "model.", "_orig_mod."}) {
    if (name.starts_with(prefix)) return own_name(name.substr(prefix.size()));
  }
  if (!name.starts_with(kTorchvisionBlock)) return renamed(name, kTorchvisionTransformer);
  const std::string_view block = name.substr(kTorchvisionBlock.size());
  const std::size_t dot = block.find('.');
  if (dot == std::string_view::npos) return std::string(name);
  return "blocks." + std::string(block.substr(0, dot + 1)) +
         renamed(block.substr(dot + 1), kTorchvisionInBlock);
}

}  // namespace convoy
