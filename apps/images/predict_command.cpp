// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/cluster_arguments.h"
#include "apps/eval_target.h"
#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/printable.h"
#include "convoy/checkpoint/checkpoint.h"
#include "convoy/predict/prediction_report.h"
#include "convoy/predict/predictor.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

// Files that are held in memory together, with what is predicted for them.
constexpr std::size_t kFilesAtOnce = 4096;

struct PredictArguments {
  std::string run;
  std::vector<std::string> files;  // and settings
  int best = 5;
  bool as_json = false;
  SettingArguments settings;
};

/// Moves "name=value" to the settings; "runs/lr=0.1/a.jpg" and "./a=b.jpg" are files.
void sort_arguments(PredictArguments& arguments) {
  std::vector<std::string> files;
  for (const std::string& argument : arguments.files) {
    const std::size_t equals = argument.find('=');
    const bool is_file = equals == std::string::npos || argument.find('/') < equals;
    (is_file ? files : arguments.settings.assignments).push_back(argument);
  }
  arguments.files = files;
  if (!files.empty()) return;
  throw InputError(InputKind::usage,
                   {.where = "convoy predict",
                    .found = "no files",
                    .expected = "JPEG or PNG files, folders of them, or "
                                "idx files after the run",
                    .hint = ""});
}

/// Prints predictions as they come, or one JSON object at the end.
class PredictionPrinter {
 public:
  PredictionPrinter(const std::vector<std::string>& classes, bool as_json)
      : classes_(classes), as_json_(as_json) {}

  void print(const std::vector<ImagePrediction>& predictions) {
    for (const ImagePrediction& one : predictions) {
      if (!one.fault.empty()) {
        ++bad_;
        fmt::print(stderr, "convoy: {}\n", printable(one.fault));
      }
      if (as_json_) {
        all_.push_back(prediction_json(one, classes_));
      } else if (one.fault.empty()) {
        fmt::print("{}", printable(prediction_text(one, classes_)));
      }
    }
  }

  void finish(const fs::path& checkpoint) const {
    if (!as_json_) return;
    const nlohmann::ordered_json object{{"checkpoint", checkpoint.string()},
                                        {"predictions", all_}};
    fmt::print("{}\n", json_text(object, 2));
  }

  std::size_t bad() const { return bad_; }

 private:
  const std::vector<std::string>& classes_;
  bool as_json_;
  std::size_t bad_ = 0;
  nlohmann::ordered_json all_ = nlohmann::ordered_json::array();
};

/// A file that cannot be read has no images, and is one prediction with a fault.
void predict_idx(const fs::path& file, std::size_t best, Predictor& predictor,
                 PredictionPrinter& printer) {
  GivenImages images;
  try {
    images = given_idx(file, predictor.like());
  } catch (const InputError& error) {
    printer.print({{.name = file, .fault = error.what()}});
    return;
  }
  printer.print(predictor.predict(std::move(images), best));
}

/// Files in groups; idx files, which have many images, one by one.
void predict_all(const std::vector<fs::path>& files, std::size_t best, int threads,
                 Predictor& predictor, PredictionPrinter& printer) {
  std::vector<fs::path> group;
  const auto predict_group = [&] {
    if (group.empty()) return;
    printer.print(predictor.predict(given_files(group, predictor.like(), threads), best));
    group.clear();
  };
  for (const fs::path& file : files) {
    if (!is_idx_file(file)) {
      group.push_back(file);
      if (group.size() == kFilesAtOnce) predict_group();
      continue;
    }
    predict_group();
    predict_idx(file, best, predictor, printer);
  }
  predict_group();
}

ExitCode predict(PredictArguments arguments) {
  sort_arguments(arguments);
  const std::vector<fs::path> files = image_files(arguments.files);
  const EvalTarget target(arguments.run, [](const std::string& text) {
    fmt::print(stderr, "convoy: {}\n", printable(text));
  });
  const Settings settings =
      settings_of_run(arguments.settings, target.checkpoint() / kConfigFile);
  Predictor predictor(settings, target.checkpoint());
  PredictionPrinter printer(predictor.classes(), arguments.as_json);
  predict_all(files, static_cast<std::size_t>(arguments.best), thread_count(settings),
              predictor, printer);
  printer.finish(target.checkpoint());
  if (printer.bad() == 0) return ExitCode::done;
  fmt::print(stderr, "convoy: {} of the images cannot be read\n", printer.bad());
  return ExitCode::bad_data;
}

}  // namespace

void add_predict_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<PredictArguments>();
  CLI::App* command = app.add_subcommand(
      "predict", "Print the most probable classes of images by a run's model");
  command->footer(
      "Images are resized and normalised as the run's own. Files that cannot be read are "
      "named, and the others predicted.\n\n"
      "Examples:\n"
      "  convoy predict runs/NAME cat.jpg dog.png\n"
      "  convoy predict runs/NAME photos --json\n"
      "  convoy predict runs/NAME t10k-images-idx3-ubyte.gz --best 1\n"
      "  convoy predict runs/NAME photos data.root=/data/imagenet\n");
  command
      ->add_option("run", arguments->run,
                   "a run's folder, a checkpoint, or s3://bucket/prefix/run")
      ->required();
  command
      ->add_option("files", arguments->files,
                   "JPEG and PNG files, folders of them, idx files; settings as "
                   "name=value")
      ->required();
  command->add_option("--best", arguments->best, "classes per image (5)")
      ->check(CLI::Range(1, 1'000'000));
  command->add_flag("--json", arguments->as_json, "print JSON");
  add_config_flag(*command, arguments->settings);
  command->callback(
      [arguments, &action] { action = [arguments] { return predict(*arguments); }; });
}

}  // namespace convoy
