// SPDX-License-Identifier: Apache-2.0

#include "convoy/models/models.h"

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/models/mobilenet.h"
#include "convoy/models/resnets.h"
#include "convoy/models/transformers.h"
#include "convoy/network/layers/average_pool.h"
#include "convoy/network/layers/batch_norm.h"
#include "convoy/network/layers/convolution.h"
#include "convoy/network/layers/dropout.h"
#include "convoy/network/layers/flatten.h"
#include "convoy/network/layers/gelu.h"
#include "convoy/network/layers/linear.h"
#include "convoy/network/layers/max_pool.h"
#include "convoy/network/layers/relu.h"

namespace convoy {
namespace {

Model lenet5(Shape input, int classes) {
  return {"lenet5",
          input,
          {Convolution{.name = "conv1", .channels = 6, .kernel = 5, .padding = 2}, Relu{},
           MaxPool{2},  //
           Convolution{.name = "conv2", .channels = 16, .kernel = 5}, Relu{}, MaxPool{2},
           Flatten{},                   //
           Linear{"fc1", 120}, Relu{},  //
           Linear{"fc2", 84}, Relu{},   //
           Linear{"fc3", classes}}};
}

Model cnn1(Shape input, int classes) {
  return {"cnn1",
          input,
          {Convolution{.name = "conv1", .channels = 32, .kernel = 3}, Relu{},
           // There is no ReLU after the second convolution, as in the published model.
           Convolution{.name = "conv2", .channels = 64, .kernel = 3}, MaxPool{2},
           Dropout{0.25f}, Flatten{},                  //
           Linear{"fc1", 128}, Relu{}, Dropout{0.5f},  //
           Linear{"fc2", classes}}};
}

Model cnn2(Shape input, int classes) {
  return {"cnn2",
          input,
          {Convolution{.name = "conv1", .channels = 32, .kernel = 3, .padding = 1},
           Relu{}, MaxPool{2},  //
           Convolution{.name = "conv2", .channels = 64, .kernel = 3, .padding = 1},
           Relu{}, MaxPool{2}, Dropout{0.25f}, Flatten{},  //
           Linear{"fc1", 512}, Relu{}, Dropout{0.5f},      //
           Linear{"fc2", classes}}};
}

Model mlp6(Shape input, int classes) {
  Model model("mlp6", input, {Flatten{}});
  int number = 1;
  for (const int features : {1024, 512, 256, 128, 64, 32}) {
    model.add(Linear{"fc" + std::to_string(number++), features});
    model.add(Relu{});
  }
  model.add(Linear{"fc" + std::to_string(number), classes});
  return model;
}

/// Names as in PyTorch's modules: layers.N and fc1.
Model vgg11(Shape input, int classes) {
  constexpr int kPool = 0;
  Model model("vgg11", input);
  int number = 0;
  const auto name = [&] { return "layers." + std::to_string(number++); };
  for (const int channels :
       {64, kPool, 128, kPool, 256, 256, kPool, 512, 512, kPool, 512, 512, kPool}) {
    if (channels == kPool) {
      model.add(MaxPool{2});
      ++number;
      continue;
    }
    model.add(
        Convolution{.name = name(), .channels = channels, .kernel = 3, .padding = 1});
    model.add(BatchNorm{name()});
    model.add(Relu{});
    ++number;
  }
  model.add(Flatten{});
  model.add(Linear{"fc1", classes});
  return model;
}

/// Three groups of two convolutions, pooled between them before normalisation, where
/// there is less to normalise. Wide and shallow: made to train quickly.
Model fast_model(const std::string& name, Shape input, int classes,
                 std::initializer_list<int> widths) {
  Model model(name, input, {}, WeightInit::dirac);
  const auto append = [&](const std::string& name, int channels, bool pool) {
    model.add(Convolution{.name = name + ".conv",
                          .channels = channels,
                          .kernel = 3,
                          .padding = 1,
                          .bias = false});
    if (pool) model.add(MaxPool{2});
    model.add(BatchNorm{name + ".norm"});
    model.add(Gelu{});
  };
  append("stem", 32, /*pool=*/false);
  int group = 1;
  for (const int channels : widths) {
    const std::string part = "group" + std::to_string(group++);
    append(part + ".0", channels, /*pool=*/true);
    append(part + ".1", channels, /*pool=*/false);
  }
  model.add(AveragePool{});
  model.add(Flatten{});
  model.add(Linear{"fc", classes});
  return model;
}

Model fastnet(Shape input, int classes) {
  return fast_model("fastnet", input, classes, {64, 256, 256});
}

Model fastnet_small(Shape input, int classes) {
  return fast_model("fastnet_small", input, classes, {64, 128, 256});
}

const ModelEntry kEntries[] = {
    {"lenet5",
     "two convolutions and three linear layers, for 28x28 digits",
     {1, 28, 28},
     lenet5},
    {"cnn1", "two 3x3 convolutions with dropout, for 28x28 images", {1, 28, 28}, cnn1},
    {"cnn2", "two 3x3 convolutions with dropout, for 32x32 images", {3, 32, 32}, cnn2},
    {"mlp6", "six hidden linear layers on flattened pixels", {3, 32, 32}, mlp6},
    {"vgg11", "VGG-11 with batch norm and one linear layer", {3, 32, 32}, vgg11},
    {"fastnet",
     "seven convolutions, for quick training on 32x32 images",
     {3, 32, 32},
     fastnet},
    {"fastnet_small",
     "the same with fewer channels, for still quicker training",
     {3, 32, 32},
     fastnet_small},
    {"resnet18_cifar",
     "ResNet-18 with a 3x3 stem, for 32x32 images",
     {3, 32, 32},
     resnet18_cifar},
    {"resnet18", "torchvision's ResNet-18", {3, 224, 224}, resnet18},
    {"resnet50", "torchvision's ResNet-50", {3, 224, 224}, resnet50},
    {"vit_cifar",
     "a vision transformer with patches of 4, for 32x32 images",
     {3, 32, 32},
     vit_cifar},
    {"vit_ti_16", "timm's vit_tiny_patch16_224", {3, 224, 224}, vit_ti_16},
    {"vit_s_16", "timm's vit_small_patch16_224", {3, 224, 224}, vit_s_16},
    {"vit_b_16", "timm's vit_base_patch16_224", {3, 224, 224}, vit_b_16},
    {"vit_b_32", "timm's vit_base_patch32_224", {3, 224, 224}, vit_b_32},
    {"mobilenet_v2", "torchvision's MobileNetV2", {3, 224, 224}, mobilenet_v2},
    {"mobilenet_v3_small",
     "torchvision's MobileNetV3-Small",
     {3, 224, 224},
     mobilenet_v3_small},
};

}  // namespace

std::span<const ModelEntry> model_entries() { return kEntries; }

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelEntry& entry : kEntries) names.push_back(entry.name);
  return names;
}

const ModelEntry& find_model(const std::string& name) {
  const auto entry = std::ranges::find(kEntries, name, &ModelEntry::name);
  if (entry != std::end(kEntries)) return *entry;
  const std::vector<std::string> names = model_names();
  const std::string nearest = nearest_name(name, names);
  throw InputError(InputKind::settings,
                   {.where = "model",
                    .found = name,
                    .expected = "one of " + join(names),
                    .hint = nearest.empty() ? "" : "nearest name: " + nearest});
}

Model make_model(const std::string& name, Shape input, int classes) {
  return find_model(name).make(input, classes);
}

}  // namespace convoy
