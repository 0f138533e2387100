// SPDX-License-Identifier: Apache-2.0
//
// What TensorBoard is told of a run is what the run's other records say.

#include "convoy/monitor/event_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convoy/checkpoint/run_folder.h"
#include "convoy/models/models.h"
#include "convoy/strategy/registry.h"
#include "convoy/system/file.h"
#include "convoy/system/stop_request.h"
#include "convoy/system/temporary_folder.h"
#include "convoy/train/outcome.h"
#include "convoy/train/trainer.h"
#include "tests/comm/thread_ranks.h"
#include "tests/events/read_events.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

class EventsOfARun : public testing::Test {
 protected:
  /// Trains on as many ranks; returns the run's events.
  std::vector<json> train(int ranks, const std::string& name = "a") {
    RunFolder folder = RunFolder::create(here.path(), name, "default");
    run_ranks(ranks, [&](Comm& comm) {
      Trainer trainer(settings, comm);
      trainer.train(comm.is_first() ? &folder : nullptr, nullptr, stop, "the command");
    });
    return read_events(here.path() / name);
  }

  std::vector<json> metrics(const std::string& kind) const {
    std::vector<json> lines;
    std::istringstream text(read_text(here.path() / "a" / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);) {
      json record = json::parse(line);
      if (record.at("kind") == kind) lines.push_back(std::move(record));
    }
    return lines;
  }

  /// That a curve has for each of these lines its step, and what `value` takes from it.
  template <class Value>
  static void expect_curve(const std::map<std::string, ScalarCurve>& curves,
                           const std::string& tag, const std::vector<json>& lines,
                           const Value& value) {
    ASSERT_THAT(curves, Contains(Key(tag)));
    ScalarCurve expected;
    for (const json& line : lines) {
      expected.emplace_back(line.at("step"), static_cast<float>(value(line)));
    }
    EXPECT_EQ(curves.at(tag), expected) << tag;
  }

  static auto field(const char* name) {
    return [name](const json& line) { return line.at(name).get<double>(); };
  }

  TemporaryFolder here;
  StopRequest stop;
  // Three steps per epoch, the last of them smaller.
  Settings settings = small_settings(35, 9, 16, /*threads=*/1);
};

TEST_F(EventsOfARun, AreTheScalarsOfItsMetrics) {
  settings.data.val_fraction = 0.2;
  const std::map<std::string, ScalarCurve> curves = curves_of(train(1));

  expect_curve(curves, "train/loss", metrics("step"), field("loss"));
  expect_curve(curves, "train/accuracy", metrics("step"), field("accuracy"));
  expect_curve(curves, "train/lr", metrics("step"), field("lr"));
  expect_curve(curves, "train/weight_norm", metrics("step"), field("weight_norm"));
  expect_curve(curves, "perf/images_per_second", metrics("step"),
               field("images_per_second"));
  expect_curve(curves, "perf/step_ms", metrics("step"), field("step_ms"));
  expect_curve(curves, "train/epoch_loss", metrics("epoch"), field("loss"));
  expect_curve(curves, "train/epoch_accuracy", metrics("epoch"), field("accuracy"));
  expect_curve(curves, "perf/epoch_seconds", metrics("epoch"), field("seconds"));
  EXPECT_THAT(curves, Not(Contains(Key(HasSubstr("comm/"))))) << "there is one rank";
}

TEST_F(EventsOfARun, AreItsEvaluations) {
  settings.data.val_fraction = 0.2;
  const std::map<std::string, ScalarCurve> curves = curves_of(train(1));

  for (const std::string split : {"val", "test"}) {
    std::vector<json> lines = metrics("eval");
    std::erase_if(lines, [&](const json& line) { return line.at("split") != split; });
    ASSERT_FALSE(lines.empty());
    expect_curve(curves, split + "/loss", lines, field("loss"));
    expect_curve(curves, split + "/accuracy", lines, field("accuracy"));
  }
}

TEST_F(EventsOfARun, TellOfMemory) {
  const std::map<std::string, ScalarCurve> curves = curves_of(train(1));

  for (const auto& [step, bytes] : curves.at("mem/resident_bytes")) {
    EXPECT_GT(bytes, 1 << 20);
  }
  const ScalarCurve& peak = curves.at("mem/peak_bytes");
  EXPECT_TRUE(std::ranges::is_sorted(peak)) << "it never falls";
  EXPECT_GE(peak.back().second, curves.at("mem/resident_bytes").back().second * 0.9);
}

TEST_F(EventsOfARun, TellOfEveryRank) {
  const std::map<std::string, ScalarCurve> curves = curves_of(train(2));

  for (const int rank : {0, 1}) {
    expect_curve(curves, "perf/rank_" + std::to_string(rank) + "/own_ms", metrics("step"),
                 [&](const json& line) {
                   return line.at("ranks").at(rank).at("own_ms").get<double>();
                 });
  }
  expect_curve(curves, "comm/bytes_sent", metrics("step"), [](const json& line) {
    double sum = 0;
    for (const json& rank : line.at("ranks")) sum += rank.at("bytes_sent").get<double>();
    return sum;
  });
  expect_curve(curves, "perf/waiting_for_data_ms", metrics("step"), [](const json& line) {
    double longest = 0;
    for (const json& rank : line.at("ranks")) {
      longest = std::max(longest, rank.at("data_ms").get<double>());
    }
    return longest;
  });
  EXPECT_GT(curves.at("comm/exposed_ms").back().second, 0);
}

TEST_F(EventsOfARun, HaveStepsThatRise) {
  for (const auto& [tag, curve] : curves_of(train(1))) {
    const auto no_later = [](const auto& a, const auto& b) { return a.first <= b.first; };
    EXPECT_TRUE(std::ranges::is_sorted(curve, std::less<>{}, [](const auto& point) {
      return point.first;
    })) << tag;
    EXPECT_EQ(std::ranges::adjacent_find(curve, std::not_fn(no_later)), curve.end());
  }
}

TEST_F(EventsOfARun, BeginWithSettingsGraphAndHparams) {
  settings.optimizer.lr = 0.25;
  const std::vector<json> events = train(1);

  const json text = value_tagged(events, "settings/text_summary").at("tensor");
  EXPECT_EQ(text.at("texts").at(0), "```\n" + to_yaml(settings) + "\n```");
  const json start = value_tagged(events, "_hparams_/session_start_info").at("content");
  EXPECT_EQ(start.at("hparams").at("optimizer.lr"), 0.25);
  EXPECT_EQ(start.at("hparams").at("model.name"), "lenet5");
  EXPECT_THAT(value_tagged(events, "_hparams_/experiment").at("content").at("metrics"),
              Contains("test/accuracy"));
  const json end = value_tagged(events, "_hparams_/session_end_info").at("content");
  EXPECT_EQ(end.at("status"), 1) << "success";
  EXPECT_GE(end.at("end"), start.at("start"));
  EXPECT_EQ(
      std::ranges::count_if(events, [](const json& e) { return e.contains("graph"); }),
      1);
}

TEST_F(EventsOfARun, AreNotThereIfNotWanted) {
  settings.run.tensorboard = false;
  EXPECT_THAT(train(1), testing::IsEmpty());
}

TEST_F(EventsOfARun, HaveNoHistogramsIfNotWanted) {
  for (const json& value : values_of(train(1))) EXPECT_FALSE(value.contains("histogram"));
}

/// Histograms by tag and step.
std::map<std::string, json> histograms_of(const std::vector<json>& events) {
  std::map<std::string, json> found;
  for (const json& value : values_of(events)) {
    if (!value.contains("histogram")) continue;
    const std::string key =
        value.at("tag").get<std::string>() + " " + value.at("step").dump();
    EXPECT_TRUE(found.emplace(key, value.at("histogram")).second) << key;
  }
  return found;
}

TEST_F(EventsOfARun, HaveHistogramsOfEveryTensorWhenWanted) {
  settings.train.epochs = 5;
  settings.run.histograms = 2;
  const std::map<std::string, json> found = histograms_of(train(1));

  const Layout layout = build_layout(make_model("lenet5", {1, 28, 28}, 10));
  EXPECT_EQ(found.size(), 2 * 2 * layout.segments().size()) << "of epochs 2 and 4";
  for (const Segment& segment : layout.segments()) {
    for (const std::string kind : {"weights/", "gradients/"}) {
      for (const char* step : {" 6", " 12"}) {
        EXPECT_EQ(found.at(kind + segment.name + step).at("num"), segment.range.size());
      }
    }
  }
}

TEST_F(EventsOfARun, HaveTheWholeGradientOnAnyRanksInAnyStrategy) {
  settings.run.histograms = 1;
  settings.train.microbatches = 3;
  const std::map<std::string, json> alone = histograms_of(train(1, "alone"));
  EXPECT_GT(alone.at("gradients/fc3.weight 3").at("sum_squares"), 0);

  for (const std::string& strategy : strategy_names()) {
    if (is_for_one_rank(strategy)) continue;
    settings.strategy.name = find_choice<StrategyChoice>(strategy).value();
    EXPECT_EQ(histograms_of(train(2, strategy)), alone) << strategy;
  }
}

TEST_F(EventsOfARun, ContinueTheirCurvesAfterTheStepItGoesOnFrom) {
  const RunFolder folder = RunFolder::create(here.path(), "a", "default");
  const Model model = make_model("lenet5", {1, 28, 28}, 10);
  const std::vector<RankTiming> ranks(1);
  StepScalars scalars;
  scalars.ranks = ranks;
  {
    EventRecords first(&folder, settings);
    first.begin(model);
    while (++scalars.step <= 5) first.step(scalars);
    first.finish(/*over=*/false, /*success=*/false);
  }
  EventRecords second(&folder, settings);
  second.begin(model, /*steps_done=*/3);
  scalars.step = 4;
  second.step(scalars);
  second.finish(/*over=*/true, /*success=*/true);

  const std::vector<json> events = read_events(folder.path());
  const auto start = std::ranges::find_if(
      events, [](const json& event) { return event.contains("session"); });
  ASSERT_NE(start, events.end());
  EXPECT_EQ(start->at("step"), 4) << "step 3 stays, 4 and 5 go";
  EXPECT_GT(start->at("file"), events.front().at("file")) << "a file of its own";
  const ScalarCurve after = curves_of({start, events.end()}).at("train/loss");
  EXPECT_THAT(after, testing::ElementsAre(testing::Pair(4, testing::_)));
  EXPECT_EQ(
      std::ranges::count_if(events, [](const json& e) { return e.contains("graph"); }), 1)
      << "TensorBoard warns of a second one";
}

TEST_F(EventsOfARun, ReplaceThoseOfAnEarlierStartInTheSameFolder) {
  const RunFolder folder = RunFolder::create(here.path(), "a", "default");
  const Model model = make_model("lenet5", {1, 28, 28}, 10);
  for (int i = 0; i < 2; ++i) EventRecords(&folder, settings).begin(model);

  std::vector<json> events = read_events(folder.path());
  std::erase_if(events, [](const json& event) { return !event.contains("session"); });
  ASSERT_EQ(events.size(), 1u) << "the first has nothing to replace";
  EXPECT_EQ(events.front().at("step"), 0);
}

TEST_F(EventsOfARun, HaveTheTagsOfTheImagenetExampleInItsStyle) {
  settings.console.style = ConsoleStyle::imagenet;
  const std::map<std::string, ScalarCurve> curves = curves_of(train(1));

  const ScalarCurve& steps = curves.at("train/accuracy");
  const ScalarCurve& points = curves.at("Accuracy/train");
  ASSERT_EQ(points.size(), steps.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].first, i + 1);
    EXPECT_FLOAT_EQ(points[i].second, 100 * steps[i].second);
  }
  EXPECT_EQ(curves.at("Loss/train"), curves.at("train/loss"));
  EXPECT_EQ(curves.at("Loss/Val").size(), 2u) << "one batch per epoch";
  EXPECT_EQ(curves.at("Accuracy/Val").back().first, 2u);
}

}  // namespace
}  // namespace convoy
