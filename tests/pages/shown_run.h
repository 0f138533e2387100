// SPDX-License-Identifier: Apache-2.0
//
// ShownRun: the folder of a run with everything that a page can show.

#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "convoy/pages/run_page.h"
#include "tests/compare/written_run.h"

namespace convoy {

inline std::string step_line(int step, double loss) {
  return fmt::format(
      R"({{"kind":"step","step":{0},"epoch":{1},"loss":{2},"accuracy":{3},"lr":0.1,)"
      R"("images_per_second":500,"step_ms":100,"weight_norm":9,"staleness":{{"mean":1,"max":2}},)"
      R"("ranks":[{{"own_ms":90,"data_ms":0,"exposed_ms":5,"bytes_sent":1000}},)"
      R"({{"own_ms":80,"data_ms":0,"exposed_ms":15,"bytes_sent":1000}}]}})"
      "\n",
      step, 1 + (step - 1) / 10, loss, 1 - loss / 3);
}

/// 2 exp(-step / 10).
inline double loss_at(int step) { return 2 * std::exp(-step / 10.0); }

/// Two tensors, the weights of which become wider.
inline std::string histogram_line(int epoch) {
  return fmt::format(R"({{"kind":"histograms","step":{0},"epoch":{1},"tensors":{{)"
                     R"("weights/fc":{{"least":-{1},"most":{1},"counts":[1,2,3,2,1]}},)"
                     R"("gradients/fc":{{"least":-1,"most":1,"counts":[0,0,9,0,0]}}}}}})"
                     "\n",
                     10 * epoch, epoch);
}

/// Twenty steps in two epochs, each evaluated.
inline std::string shown_metrics() {
  std::string text;
  for (int step = 1; step <= 20; ++step) {
    text += step_line(step, loss_at(step));
    if (step % 10 == 0) text += epoch_line(step / 10, 2);
    if (step % 10 == 0) text += eval_line(step / 10, 0.7 + 0.01 * step, "val");
    if (step % 10 == 0) text += histogram_line(step / 10);
  }
  return text;
}

inline std::string shown_resources() {
  std::string text = "time,rank,cpu_user_percent,cpu_system_percent,rss_bytes\n";
  for (int second = 0; second < 5; ++second) {
    for (int rank = 0; rank < 2; ++rank) {
      text += fmt::format("{},{},90,5,{},1000,{},{},1,1,\n", 1000 + second, rank,
                          1'000'000 * (second + 1), 500 * second, 400 * second);
    }
  }
  return text;
}

inline nlohmann::ordered_json shown_summary() {
  nlohmann::ordered_json summary = some_summary();
  summary["model"] = "lenet5";
  summary["data"] = "synthetic";
  summary["command"] = "convoy train -n 2";
  summary["rank_ms"] = {{{"own", 90},
                         {"waiting_for_data", 0},
                         {"exposed_communication", 5},
                         {"injected_in_all", 0}},
                        {{"own", 80},
                         {"waiting_for_data", 0},
                         {"exposed_communication", 15},
                         {"injected_in_all", 0}}};
  summary["slowest"] = nullptr;
  summary["staleness"] = {{"updates", 20},
                          {"mean", 1},
                          {"max", 2},
                          {"histogram",
                           {{{"from", 0}, {"to", 0}, {"updates", 5}},
                            {{"from", 1}, {"to", 1}, {"updates", 15}}}},
                          {"workers",
                           {{{"updates", 10}, {"mean", 1}, {"max", 2}},
                            {{"updates", 10}, {"mean", 1}, {"max", 1}}}}};
  return summary;
}

inline const char* shown_evaluation() {
  return R"({"accuracy":0.75,"correct":15,"total":20,"split":"test","classes":[
{"name":"cat","precision":0.72,"recall":0.8,"f1":0.76,"support":10},
{"name":"dog","precision":0.77,"recall":0.7,"f1":0.73,"support":10}],
"macro_average":{"precision":0.75,"recall":0.75,"f1":0.75,"support":20},
"weighted_average":{"precision":0.75,"recall":0.75,"f1":0.75,"support":20},
"most_confused":[{"true":"dog","predicted":"cat","count":3,"share":0.3}],
"confusion_matrix":[[8,2],[3,7]]})";
}

inline const char* shown_model() {
  return R"({"name":"lenet5","input":[1,28,28],"layers":[
{"layer":"convolution","name":"conv1","sources":[-1],"output":[6,28,28],"parameters":156,"forward_flops":235200,"activation_bytes":18816},
{"layer":"relu","name":"","sources":[0],"output":[6,28,28],"parameters":0,"forward_flops":0,"activation_bytes":18816},
{"layer":"linear","name":"fc","sources":[1],"output":[10,1,1],"parameters":850,"forward_flops":1680,"activation_bytes":40},
{"layer":"add","name":"sum","sources":[2,1],"output":[10,1,1],"parameters":0,"forward_flops":10,"activation_bytes":40}]})";
}

inline const char* shown_landscape() {
  return R"({"model":"lenet5","data":"synthetic","split":"test","samples":20,"minimum":{"x":0,"y":0,"loss":0.5},
"runs":[{"name":"one","saves":[{"step":0,"x":-1,"y":-1},{"step":1,"x":0,"y":0}]}],
"x":[-1,0,1],"y":[-1,0,1],"loss":[[3,2,3],[2,0.5,2],[3,2,null]],"accuracy":[[0,0,0],[0,0,0],[0,0,0]]})";
}

/// Of two groups of runs.
inline const char* shown_sweep() {
  return R"({"command":"sweep","name":"all","split":"val","score":"accuracy",
"dimensions":["train.seed","optimizer.name"],"groups":[
{"values":{"train.seed":"1","optimizer.name":"sgd"},"state":"done","epoch":2,"loss":{"mean":0.4,"deviation":0.1,"count":2},"accuracy":{"mean":0.9,"deviation":0.01,"count":2},"seconds":{"mean":4,"deviation":0,"count":2},"rows":[0,1],"command":"convoy train train.seed=1"},
{"values":{"train.seed":"7","optimizer.name":"adam"},"state":"done","epoch":2,"loss":{"mean":0.5,"deviation":0.1,"count":2},"accuracy":{"mean":0.8,"deviation":0.01,"count":2},"seconds":{"mean":4,"deviation":0,"count":2},"rows":[2,3],"command":"convoy train train.seed=7"}],
"rows":[]})";
}

inline WrittenRun write_shown_run(const std::filesystem::path& folder,
                                  const Settings& settings = {}) {
  const WrittenRun run(folder, settings);
  run.write("metrics.jsonl", shown_metrics());
  run.write("resources.csv", shown_resources());
  run.write("eval.json", shown_evaluation());
  run.write("model.json", shown_model());
  run.write("landscape.json", shown_landscape());
  run.write_summary(shown_summary());
  return run;
}

/// What a page shows of the run in a folder.
inline nlohmann::ordered_json page_of(const std::filesystem::path& folder,
                                      const PageOptions& options = {}) {
  return run_page(read_page_run(folder, options), "run", options);
}

}  // namespace convoy
