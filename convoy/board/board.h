// SPDX-License-Identifier: Apache-2.0
//
// Board: the runs of a folder as a page that grows while they train.
//
//   GET  /                    the page; with ?token= it sets the cookie, and leads to "/"
//   GET  /api/runs?since=N    the list: runs that changed since version N
//   GET  /api/run/ID          what the page shows of a run; ?points=N, and with
//                             ?from=STEP&to=STEP those steps in full
//   GET  /api/page?run=ID&... the same of several runs, to be compared
//   POST /api/stop/ID         asks the run to stop; needs the token
//
// An id is looked up among the runs that were found below the folder: no path of a
// request is ever opened.

#pragma once

#include <filesystem>

#include "convoy/board/access_rules.h"
#include "convoy/board/http_message.h"
#include "convoy/board/run_index.h"

namespace convoy {

class Board {
 public:
  /// Throws a storage error if there is no such folder.
  Board(const std::filesystem::path& folder, AccessRules rules);

  /// Answers a request, with the headers that every answer has. Several threads may call
  /// it at once.
  HttpResponse answer(const HttpRequest& request);

  RunIndex& runs() { return runs_; }

 private:
  HttpResponse answer_admitted(const HttpRequest& request);
  HttpResponse page(const HttpRequest& request);
  HttpResponse run(const HttpRequest& request, const std::string& id);
  HttpResponse several(const HttpRequest& request);
  HttpResponse stop(const HttpRequest& request, const std::string& id);

  const AccessRules rules_;
  const std::string title_;
  RunIndex runs_;
};

}  // namespace convoy
