// SPDX-License-Identifier: Apache-2.0

#include "convoy/models/transformers.h"

#include "convoy/network/layers/attention.h"
#include "convoy/network/layers/class_token.h"
#include "convoy/network/layers/gelu.h"
#include "convoy/network/layers/layer_norm.h"
#include "convoy/network/layers/linear.h"
#include "convoy/network/layers/patches.h"
#include "convoy/network/layers/position_embedding.h"
#include "convoy/network/layers/take_row.h"

namespace convoy {
namespace {

struct VitSizes {
  int patch;
  int width;  // features of a token
  int depth;  // blocks
  int heads;
};

constexpr float kVitEpsilon = 1e-6f;

void append_embedding(Model& model, const VitSizes& sizes) {
  const int patch = sizes.patch;
  model.begin_block();
  model.add(Patches{patch});
  model.add(Linear{.name = "patch_embed.proj",
                   .features = sizes.width,
                   .kernel = {model.input.channels, patch, patch}});
  model.add(ClassToken{"cls_token"});
  model.add(PositionEmbedding{"pos_embed"});
  model.end_block();
}

/// Attention, then two linear layers, each with a norm before and a sum after.
void append_block(Model& model, const VitSizes& sizes, int number) {
  const std::string name = "blocks." + std::to_string(number);
  model.begin_block();
  model.add(Residual({LayerNorm{name + ".norm1", kVitEpsilon},
                      Linear{name + ".attn.qkv", 3 * sizes.width}, Attention{sizes.heads},
                      Linear{name + ".attn.proj", sizes.width}}));
  model.add(Residual({LayerNorm{name + ".norm2", kVitEpsilon},
                      Linear{name + ".mlp.fc1", 4 * sizes.width}, Gelu{},
                      Linear{name + ".mlp.fc2", sizes.width}}));
  model.end_block();
}

Model vit(const char* name, Shape input, int classes, const VitSizes& sizes) {
  Model model(name, input, {}, WeightInit::timm);
  append_embedding(model, sizes);
  for (int i = 0; i < sizes.depth; ++i) append_block(model, sizes, i);
  // A norm treats every row alone: only the class token's result is needed.
  model.add(TakeRow{0});
  model.add(LayerNorm{"norm", kVitEpsilon});
  model.add(Linear{"head", classes});
  return model;
}

}  // namespace

Model vit_b_32(Shape input, int classes) {
  return vit("vit_b_32", input, classes, {32, 768, 12, 12});
}

Model vit_b_16(Shape input, int classes) {
  return vit("vit_b_16", input, classes, {16, 768, 12, 12});
}

Model vit_s_16(Shape input, int classes) {
  return vit("vit_s_16", input, classes, {16, 384, 12, 6});
}

Model vit_ti_16(Shape input, int classes) {
  return vit("vit_ti_16", input, classes, {16, 192, 12, 3});
}

Model vit_cifar(Shape input, int classes) {
  return vit("vit_cifar", input, classes, {4, 128, 6, 4});
}

}  // namespace convoy
