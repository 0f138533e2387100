// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/run_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/printable.h"
#include "convoy/system/append_file.h"
#include "convoy/system/descriptor.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

/// A text file to which complete lines are appended.
class LineFile {
 public:
  explicit LineFile(std::filesystem::path path) : file_(std::move(path)) {}

  void append(std::string_view line) {
    file_.append(line);
    file_.append("\n");
  }

  bool is_due() const { return file_.is_due(); }
  void flush() { file_.flush(); }

  /// Truncates the file after its last complete line.
  void mend() {
    if (!std::filesystem::is_regular_file(file_.path())) return;
    const std::string text = read_text(file_.path());
    if (text.empty() || text.back() == '\n') return;
    const std::size_t whole = text.rfind('\n') + 1;  // npos + 1 is 0
    if (::truncate(file_.path().c_str(), static_cast<off_t>(whole)) != 0) {
      throw storage_error(file_.path(), "shorten this file", errno);
    }
  }

 private:
  AppendFile file_;
};

std::string local_time(std::time_t time, const char* format) {
  std::tm parts{};
  ::localtime_r(&time, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof(text), format, &parts)};
}

InputError name_error(const std::string& name, std::string problem, std::string hint) {
  return {InputKind::settings,
          {.where = "run.name",
           .found = name + problem,
           .expected = "a folder name that is not in use, without '/'",
           .hint = std::move(hint)}};
}

void check_name(const std::string& name) {
  const bool odd = std::ranges::any_of(
      name, [](unsigned char c) { return c == '/' || c < ' ' || c == 0x7F; });
  if (odd || name == "." || name == "..") {
    throw name_error(name, ", which is no folder's name",
                     "set run.dir for another place");
  }
}

/// Returns the record of a line; null if the line is not JSON.
nlohmann::ordered_json parse_record(const std::string& line, const JsonSource& source) {
  try {
    return parse_json(line, source);
  } catch (const InputError&) {
    return nullptr;
  }
}

/// Throws InputError for a record whose step or kind has another type.
bool is_after(const JsonObject& record, std::size_t step, bool evaluated) {
  const std::uint64_t of = record.contains("step") ? record.whole("step") : 0;
  const std::string kind = record.contains("kind") ? record.text("kind") : "";
  return of > step || (of == step && !evaluated && kind != "step");
}

/// Returns false if something of that name exists. mkdir decides, because checking first
/// would be a race.
bool make_new_folder(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return true;
  if (errno == EEXIST) return false;
  throw storage_error(path, "make this folder", errno);
}

}  // namespace

struct RunFolder::Files {
  explicit Files(const std::filesystem::path& path)
      : lock(lock_folder(path, LockMode::exclusive)),
        metrics(path / "metrics.jsonl"),
        log(path / "log.txt"),
        resources(path / "resources.csv") {
    if (lock) return;
    throw InputError(InputKind::settings,
                     {.where = path,
                      .found = "a run that another process is writing",
                      .expected = "a run that no process is training",
                      .hint = "wait for it to end, or choose another run.name"});
  }

  Descriptor lock;  // is released with the process, however it ends

  LineFile metrics, log, resources;
};

RunFolder::RunFolder(std::filesystem::path path)
    : path_(std::move(path)), files_(std::make_unique<Files>(path_)) {}

RunFolder RunFolder::create(const std::filesystem::path& dir, const std::string& name,
                            const std::string& default_name) {
  check(!default_name.empty(), "a run has a default name");
  const std::string& wanted = name.empty() ? default_name : name;
  check_name(wanted);
  make_folders(dir);
  std::string free_name = wanted;
  for (int i = 2; !make_new_folder(dir / free_name); ++i) {
    if (!name.empty()) {
      throw name_error(name, ", which " + (dir / name).string() + " has already",
                       "choose another name, or none to have one made");
    }
    free_name = fmt::format("{}-{}", wanted, i);
  }
  return RunFolder(dir / free_name);
}

bool RunFolder::is_in_use(const std::filesystem::path& path) {
  return !lock_folder(path, LockMode::shared);
}

RunFolder RunFolder::open(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    throw storage_error(path, "find a run's folder here",
                        error ? error.value() : ENOTDIR);
  }
  RunFolder folder(path);
  folder.files_->metrics.mend();
  folder.files_->log.mend();
  folder.files_->resources.mend();
  return folder;
}

std::size_t RunFolder::forget_after(std::size_t step, bool evaluated) {
  const std::filesystem::path path = path_ / "metrics.jsonl";
  if (!std::filesystem::is_regular_file(path)) return 0;
  std::istringstream lines(read_text(path));
  std::string kept;
  std::size_t forgotten = 0;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const JsonSource source{
        .where = fmt::format("{}:{}", path.string(), ++number),
        .expected = "a record that convoy has written",
        .hint = "remove the line, or resume from the checkpoint in a new folder"};
    const auto record = parse_record(line, source);
    const bool later =
        record.is_object() && is_after(JsonObject(record, source), step, evaluated);
    if (later) ++forgotten;
    if (!later) kept += line + "\n";
  }
  if (forgotten > 0) write_atomically(path, kept);
  return forgotten;
}

RunFolder::RunFolder(RunFolder&&) noexcept = default;

RunFolder& RunFolder::operator=(RunFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(files_, other.files_);
  return *this;
}

RunFolder::~RunFolder() {
  if (!files_) return;
  try {
    flush();
  } catch (const InputError&) {
    // A destructor may run because of this very error. To get the error, call flush().
  }
}

void RunFolder::record(const nlohmann::ordered_json& line) {
  files_->metrics.append(json_text(line));
  if (files_->metrics.is_due()) files_->metrics.flush();
}

void RunFolder::log(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  const std::string time = local_time(std::time(nullptr), "%Y-%m-%d %H:%M:%S");
  files_->log.append(fmt::format("{}  {}", time, printable(line)));
  files_->log.flush();
}

void RunFolder::start_resources(std::string_view header) {
  std::error_code ignored;
  if (std::filesystem::exists(path_ / "resources.csv", ignored)) return;
  files_->resources.append(header);
}

void RunFolder::add_resources(std::string_view row) { files_->resources.append(row); }

void RunFolder::flush() {
  files_->metrics.flush();
  files_->resources.flush();
}

void RunFolder::write_config(std::string_view yaml) {
  write_atomically(path_ / "config.yaml", yaml);
}

void RunFolder::write_summary(const nlohmann::ordered_json& summary) {
  write_atomically(path_ / "summary.json", json_text(summary, 2) + "\n");
}

std::string default_run_name(std::string_view model, std::string_view strategy,
                             std::time_t time) {
  return fmt::format("{}_{}_{}", local_time(time, "%Y-%m-%d_%H-%M-%S"), model, strategy);
}

}  // namespace convoy
