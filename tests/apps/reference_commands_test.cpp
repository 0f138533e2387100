// SPDX-License-Identifier: Apache-2.0
//
// docs/reproduce/README.md says where everything of the reference projects is here: the
// command of every row is run, in a shell, beside runs of the names that the page uses.

#include "tests/apps/small_run.h"
#include "tests/images/image_folders.h"

namespace convoy {
namespace {

struct ReferenceRow {
  std::string theirs, command;
};

/// The cells of a table's row, or none if the line is no row.
std::vector<std::string> cells_of_row(const std::string& line) {
  std::vector<std::string> cells;
  if (!line.starts_with("| ") || line.starts_with("| ---")) return cells;
  std::size_t begin = 2;
  for (std::size_t end = line.find(" | "); end != std::string::npos;
       end = line.find(" | ", begin)) {
    cells.push_back(line.substr(begin, end - begin));
    begin = end + 3;
  }
  return cells;
}

/// Rows of the tables whose first column is headed "theirs".
std::vector<ReferenceRow> reference_rows() {
  std::vector<ReferenceRow> rows;
  std::istringstream text(read_text(CONVOY_SOURCE_DIR "/docs/reproduce/README.md"));
  bool is_reference = false;
  for (std::string line; std::getline(text, line);) {
    const std::vector<std::string> cells = cells_of_row(line);
    if (line.starts_with("#")) is_reference = false;
    if (is_reference && cells.size() == 2) rows.push_back({cells[0], cells[1]});
    if (line.starts_with("| theirs |")) is_reference = true;
  }
  return rows;
}

/// Commands that train only plan here, with a small network and generated images in place
/// of what is large or not on every machine.
constexpr const char* kConvoyInShell = R"(
made_up="data=synthetic data.synthetic.train_count=1000 data.synthetic.test_count=100"
colours="data.split=[] data.resize=0 data.synthetic.channels=3 data.synthetic.height=32
  data.synthetic.width=32"
convoy() {
  case "$1" in
    train | sweep | kfold | simulate | fit) ;;
    data) [ "$2" != partition ] || set -- "$@" $made_up; "$BINARY" "$@"; return ;;
    *) "$BINARY" "$@"; return ;;
  esac
  case "$*" in
    *train.resume=*) ;;
    *imagenet*) set -- "$@" train.batch_size=4 data.crop=32 ;;
    *cifar* | *svhn* | *vgg11*) set -- "$@" $made_up $colours ;;
    *) set -- "$@" $made_up ;;
  esac
  case "$*" in *imagenet* | *resnet* | *vgg11* | *vit* | *mlp6*) set -- "$@" model=lenet5 ;; esac
  case "$*" in fit*) ;; *) set -- "$@" cluster.memory_gib=64 --dry-run ;; esac
  "$BINARY" "$@"
}
)";

class ReferenceCommands : public ProgramTest {
 protected:
  ReferenceCommands() {
    images_.add_two_classes();
    const Arguments saved{"-n", "2", "data.val_fraction=0.2", "eval.before_training=true",
                          "checkpoint.saves_per_epoch=2"};
    train("mine", saved);
    train("again", saved + Arguments{"train.seed=2"});
    train("other", {"-n", "2", "strategy=ps_async"});
    train("o2", {"precision=amp_o2", "console.style=imagenet", "train.log_every=1"});
  }

  CommandResult in_shell(std::string command) const {
    const std::string place = "/data/imagenet";
    if (const std::size_t at = command.find(place); at != std::string::npos) {
      command.replace(at, place.size(), images_.path());
    }
    return run_convoy(
        {"-c", kConvoyInShell + command}, here(),
        {.program = "/bin/sh",
         .environment = {{"BINARY", CONVOY_BINARY},
                         {"CONVOY_CONFIGS", CONVOY_SOURCE_DIR "/configs"}}});
  }

 private:
  const ImageFolder images_;
};

TEST_F(ReferenceCommands, OfEveryRowAreUnderstood) {
  const std::vector<ReferenceRow> rows = reference_rows();
  EXPECT_GT(rows.size(), 150u);
  for (const ReferenceRow& row : rows) {
    ASSERT_TRUE(row.command.starts_with("`") && row.command.ends_with("`")) << row.theirs;
    const CommandResult result = in_shell(row.command.substr(1, row.command.size() - 2));
    EXPECT_EQ(result.code, 0) << row.theirs << "\n" << row.command << "\n" << result.err;
  }
}

}  // namespace
}  // namespace convoy
