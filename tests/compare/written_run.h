// SPDX-License-Identifier: Apache-2.0
//
// WrittenRun: the folder of a run as a test writes it.

#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "convoy/settings/settings.h"
#include "convoy/system/file.h"

namespace convoy {

/// What summary.json of a finished run has, as far as it is read.
inline nlohmann::ordered_json some_summary() {
  return {{"strategy", "ddp"},
          {"ranks", 2},
          {"threads", 1},
          {"epochs", 2},
          {"steps", 20},
          {"train", {{"loss", 0.5}, {"accuracy", 0.75}}},
          {"test", {{"loss", 0.25}, {"accuracy", 0.9}}},
          {"seconds", {{"total", 5.0}, {"training", 4.0}}},
          {"images_per_second", 1000.0},
          {"step_ms", {{"mean", 200.0}}},
          {"communication", {{{"bytes_sent", 1000}}, {{"bytes_sent", 2000}}}},
          {"peak_rss_bytes", {1 << 20, 3 << 20}},
          {"weights_sha256", "0123456789abcdef"},
          {"exit", {{"code", 0}, {"reason", "done"}}}};
}

inline std::string epoch_line(int epoch, double seconds) {
  return fmt::format(R"({{"kind":"epoch","step":{},"epoch":{},"loss":0.5,"accuracy":0.7,)"
                     R"("lr":0.1,"seconds":{},"images_per_second":500}})"
                     "\n",
                     10 * epoch, epoch, seconds);
}

inline std::string eval_line(int epoch, double accuracy,
                             const std::string& split = "test") {
  return fmt::format(R"({{"kind":"eval","split":"{}","step":{},"epoch":{},"loss":0.4,)"
                     R"("accuracy":{},"correct":1,"total":2,"seconds":7}})"
                     "\n",
                     split, 10 * epoch, epoch, accuracy);
}

class WrittenRun {
 public:
  explicit WrittenRun(std::filesystem::path folder, const Settings& settings = {})
      : path(std::move(folder)) {
    make_folders(path);
    write("config.yaml", to_yaml(settings));
  }

  void write(const std::string& name, const std::string& text) const {
    write_atomically(path / name, text);
  }
  void write_summary(const nlohmann::ordered_json& summary = some_summary()) const {
    write("summary.json", summary.dump());
  }
  /// Two epochs of two seconds, evaluated to 0.8 and 0.9.
  void write_metrics() const {
    write("metrics.jsonl",
          R"({"kind":"step","step":5,"epoch":1,"loss":null,"accuracy":0.1})"
          "\n" +
              epoch_line(1, 2) + eval_line(1, 0.8) + epoch_line(2, 2) +
              eval_line(2, 0.9));
  }

  std::filesystem::path path;
};

}  // namespace convoy
