// check: is the job in these files legal, what do they leave open, and how fast did it run.
#pragma once

#include <string>

#include "app/answered.h"
#include "app/context.h"
#include "app/job_files.h"
#include "base/result.h"
#include "explain/check_view.h"

namespace sextant::app {

struct CheckRequest {
  FileRequest files;
  bool to_row = false;  // the job and its measured step as a row of a table of runs
};

// The outcome is no where something is illegal, or does not fit.
using CheckReply = std::variant<explain::CheckAnswer, explain::MeasuredRowAnswer>;
Result<Answered<CheckReply>> check(const CheckRequest& request, const Context& context);

}  // namespace sextant::app
