// SPDX-License-Identifier: Apache-2.0

#include "convoy/board/board.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/printable.h"
#include "convoy/board/lock_holder.h"
#include "convoy/compare/comparison_report.h"
#include "convoy/pages/page.h"
#include "convoy/pages/page_files.h"
#include "convoy/pages/run_page.h"
#include "convoy/pages/web_files.h"
#include "convoy/settings/settings_schema.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kMostPoints = 20'000;
constexpr std::size_t kMostCompared = 100;

/// A whole number of the query; `otherwise` if there is none.
std::uint64_t whole_in(const HttpRequest& request, const std::string& name,
                       std::uint64_t otherwise) {
  const std::string text = request.field(name);
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty()
             ? number
             : otherwise;
}

PageOptions options_of(const HttpRequest& request) {
  PageOptions options;
  options.points = std::clamp<std::size_t>(whole_in(request, "points", options.points), 2,
                                           kMostPoints);
  if (request.query.contains("from")) {
    options.steps =
        StepRange{whole_in(request, "from", 0), whole_in(request, "to", UINT64_MAX)};
  }
  return options;
}

/// The list of runs has only the settings that differ from these.
json setting_defaults() {
  json defaults = json::object();
  for (const SettingInfo& info : settings_schema()) {
    defaults[info.name] = info.default_text;
  }
  return defaults;
}

/// Without the runs' folders, which say where this machine has them.
json comparison_of(std::vector<RunRecord> records) {
  json object = comparison_json(compare_runs(std::move(records)));
  for (json& run : object["runs"]) run.erase("folder");
  return object;
}

/// The script that draws surfaces, which the page's policy names by its hash.
HttpResponse surfaces() {
  std::string script = surface_library();
  if (script.empty()) return error_response(404, "echarts-gl is not installed");
  return {.body = std::move(script), .type = "text/plain; charset=utf-8"};
}

/// With fields "only", the curves of those runs alone; the comparison is of all.
bool is_wanted(const HttpRequest& request, const std::string& id) {
  const auto [first, last] = request.query.equal_range("only");
  return first == last ||
         std::any_of(first, last, [&](const auto& field) { return field.second == id; });
}

/// Nothing if it has vanished meanwhile.
std::optional<PageRun> read_if_there(const std::filesystem::path& folder,
                                     const PageOptions& options) try {
  return read_page_run(folder, options);
} catch (const InputError&) {
  return {};
}

void add_record(const std::filesystem::path& folder,
                std::vector<RunRecord>& records) try {
  records.push_back(read_run_record(folder));
} catch (const InputError&) {  // the same
}

HttpResponse no_run(const std::string& id) {
  return error_response(404, "no run here is called " + id);
}

/// Nothing but this page may read, frame or interpret an answer.
void add_safety(HttpResponse& response) {
  const bool is_page = response.type.starts_with("text/html");
  const std::pair<const char*, const char*> headers[] = {
      // The page's own policy, in the page, names its scripts.
      {"Content-Security-Policy",
       is_page ? "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
               : "default-src 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cache-Control", "no-store"}};
  for (const auto& [name, value] : headers) response.headers.emplace_back(name, value);
}

/// The text after a prefix; nothing if it does not begin so, or nothing follows.
std::optional<std::string> after(const std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix) || text.size() == prefix.size()) return {};
  return text.substr(prefix.size());
}

}  // namespace

Board::Board(const std::filesystem::path& folder, AccessRules rules)
    : rules_(std::move(rules)),
      title_(printable(std::filesystem::absolute(folder).lexically_normal().string())),
      runs_(folder) {}

HttpResponse Board::answer(const HttpRequest& request) {
  auto refusal = refuse_foreign(request, rules_);
  HttpResponse response = refusal ? *std::move(refusal) : answer_admitted(request);
  add_safety(response);
  return response;
}

HttpResponse Board::answer_admitted(const HttpRequest& request) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (const auto id = after(request.path, "/api/stop/")) {
    if (request.method == "POST") return stop(request, *id);
    return error_response(405, "a run is stopped by POST");
  }
  if (!reads) return error_response(405, "only GET is answered here");
  if (request.path == "/") return page(request);
  if (rules_.needs_token() && !has_token(request, rules_)) {
    return error_response(401,
                          "open the address that convoy board printed: it has a token");
  }
  if (request.path == "/api/runs") {
    return {.body = runs_.changes_since(whole_in(request, "since", 0))};
  }
  if (request.path == "/api/page") return several(request);
  if (request.path == "/api/surfaces") return surfaces();
  if (const auto id = after(request.path, "/api/run/")) return run(request, *id);
  return error_response(404, "nothing is here");
}

/// The first address has the token, which moves into a cookie, out of the browser's
/// history.
HttpResponse Board::page(const HttpRequest& request) {
  if (is_token(request.field("token"), rules_)) {
    return {.status = 303,
            .type = "text/plain",
            .headers = {{"Location", "/"}, {"Set-Cookie", rules_.set_cookie()}}};
  }
  if (request.query.contains("token")) return error_response(401, "another token");
  const bool admitted = has_token(request, rules_);
  if (rules_.needs_token() && !admitted) {
    return error_response(401,
                          "open the address that convoy board printed: it has a token");
  }
  json data = empty_page();
  data["live"] = {{"base", "/"},
                  {"folder", title_},
                  {"may_stop", admitted},
                  {"defaults", setting_defaults()}};
  return {.body = page_html(json_text(data), "Runs in " + title_, Surfaces::on_demand),
          .type = "text/html; charset=utf-8"};
}

HttpResponse Board::run(const HttpRequest& request, const std::string& id) {
  const PageOptions options = options_of(request);
  const auto folder = runs_.find(id);
  const auto run = folder ? read_if_there(*folder, options) : std::nullopt;
  if (!run) return no_run(id);
  return {.body = json_text(run_page(*run, id, options))};
}

HttpResponse Board::several(const HttpRequest& request) {
  PageOptions options = options_of(request);
  options.brief = true;
  json data = empty_page();
  std::vector<RunRecord> records;
  const auto [first, last] = request.query.equal_range("run");
  for (auto each = first; each != last && records.size() < kMostCompared; ++each) {
    const auto& [ignored, id] = *each;
    const auto folder = runs_.find(id);
    if (!folder) continue;
    if (!is_wanted(request, id)) {
      add_record(*folder, records);
    } else if (const auto run = read_if_there(*folder, options)) {
      data["runs"].push_back(run_page(*run, id, options));
      records.push_back(run->record);
    }
  }
  if (records.size() > 1) data["comparison"] = comparison_of(std::move(records));
  if (const auto sweep = runs_.folder_of_sweep(request.field("sweep"))) {
    data["sweep"] = page_sweep(*sweep);
  }
  return {.body = json_text(data)};
}

HttpResponse Board::stop(const HttpRequest& request, const std::string& id) {
  if (!has_token(request, rules_)) {
    return error_response(403, "stopping a run takes the token of the printed address");
  }
  const auto folder = runs_.folder_of_run(id);
  if (!folder) return no_run(id);
  const std::optional<LockHolder> holder = LockHolder::find(*folder);
  if (!holder || !holder->request_stop()) {
    return error_response(409, "no process of this machine and user is training it");
  }
  return {.status = 202, .body = R"({"stopping": true})"};
}

}  // namespace convoy
