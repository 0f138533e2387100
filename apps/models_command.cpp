// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands.h"
#include "convoy/base/json.h"
#include "convoy/base/text.h"
#include "convoy/models/models.h"
#include "convoy/monitor/layers_json.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

struct ModelsArguments {
  std::string name;
  int classes = 10;
  bool as_json = false;
};

Model default_image_model(const ModelEntry& entry, int classes) {
  return entry.make(entry.usual_input, classes);
}

std::string shape_text(Shape shape) {
  return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
}

json shape_json(Shape shape) { return {shape.channels, shape.height, shape.width}; }

json model_json(const ModelEntry& entry, int classes) {
  const Model model = default_image_model(entry, classes);
  return {{"name", entry.name},
          {"description", entry.description},
          {"input", shape_json(entry.usual_input)},
          {"classes", classes},
          {"parameters", build_layout(model).parameter_count()},
          {"layers", layers_json(model)}};
}

void print_layers(const ModelEntry& entry, int classes) {
  fmt::print("{}: {}\n\n", entry.name, entry.description);
  fmt::print("{:<8} {:<12} {:>12} {:>12} {:>14} {:>12}\n", "name", "layer", "output",
             "parameters", "FLOPs/image", "bytes/image");
  std::size_t parameters = 0, flops = 0, bytes = 0;
  for (const LayerInfo& layer : describe(default_image_model(entry, classes))) {
    const std::size_t layer_bytes = layer.dst().size() * sizeof(float);
    fmt::print("{:<8} {:<12} {:>12} {:>12} {:>14} {:>12}\n", layer.name, layer.kind,
               shape_text(layer.dst()), with_commas(layer.parameters()),
               with_commas(layer.description.flops), with_commas(layer_bytes));
    parameters += layer.parameters();
    flops += layer.description.flops;
    bytes += layer_bytes;
  }
  fmt::print("{:<8} {:<12} {:>12} {:>12} {:>14} {:>12}\n", "total", "", "",
             with_commas(parameters), with_commas(flops), with_commas(bytes));
  fmt::print(
      "\nFLOPs and bytes are those of one image's forward pass; a training\n"
      "step takes about three times the FLOPs.\n");
}

void print_list(int classes) {
  fmt::print("{:<10} {:>12} {:>10}  {}\n", "model", "parameters", "input", "description");
  for (const ModelEntry& entry : model_entries()) {
    const std::size_t parameters =
        build_layout(default_image_model(entry, classes)).parameter_count();
    fmt::print("{:<10} {:>12} {:>10}  {}\n", entry.name, with_commas(parameters),
               shape_text(entry.usual_input), entry.description);
  }
}

ExitCode models(const ModelsArguments& arguments) {
  if (!arguments.name.empty()) {
    const ModelEntry& entry = find_model(arguments.name);
    if (arguments.as_json) {
      fmt::print("{}\n", json_text(model_json(entry, arguments.classes), 2));
    } else {
      print_layers(entry, arguments.classes);
    }
    return ExitCode::done;
  }
  if (!arguments.as_json) {
    print_list(arguments.classes);
    return ExitCode::done;
  }
  json all = json::array();
  for (const ModelEntry& entry : model_entries()) {
    all.push_back(model_json(entry, arguments.classes));
  }
  fmt::print("{}\n", json_text(all, 2));
  return ExitCode::done;
}

}  // namespace

void add_models_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ModelsArguments>();
  CLI::App* command =
      app.add_subcommand("models", "List the models, or the layers of one");
  command->footer(
      "Examples:\n  convoy models\n  convoy models lenet5\n"
      "  convoy models cnn1 --classes 100 --json\n");
  command->add_option("name", arguments->name,
                      "name of a model; without it, all are listed");
  command->add_option("--classes", arguments->classes, "number of classes (10)")
      ->check(CLI::Range(1, 1'000'000));
  command->add_flag("--json", arguments->as_json, "print JSON");
  command->callback(
      [arguments, &action] { action = [arguments] { return models(*arguments); }; });
}

}  // namespace convoy
