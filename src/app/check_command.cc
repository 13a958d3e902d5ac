#include "app/check_command.h"

#include <filesystem>
#include <utility>

#include "app/job_sources.h"
#include "step/step_answer.h"

namespace sextant::app {
namespace {

explain::CheckAnswer answer_of(FileJob files) {
  explain::CheckAnswer answer;
  answer.provenance = {std::string(explain::tool_version()), std::move(files.inputs)};
  for (const Given& given : files.files) {
    answer.files.push_back(given.file.name);
  }
  answer.reading = std::move(files.reading);
  answer.open = std::move(files.open);
  answer.violations = std::move(files.violations);
  answer.measured = std::move(files.measured);
  answer.job = std::move(files.job);
  if (answer.job) {
    answer.assumed = answer.job->assumed;
  }
  return answer;
}

// The prediction beside it, where everything was stated; not being able to predict breaks nothing.
void predict(const describe::Job& job, const Context& context, explain::CheckAnswer& answer) {
  if (!step::check_tokens(job)) {
    return;
  }
  const auto machine = machine::step_machine(job, context.data);
  if (!machine) {
    answer.open.push_back(to_text(machine.error()));
    return;
  }
  answer.predicted = step::whole_estimate(job, *machine);
  describe::add_once(machine->assumed, answer.assumed);
  const step::StepMemory& memory = answer.predicted->memory;
  if (!memory.fits()) {
    answer.violations.push_back({"MEMORY-FIT", explain::memory_text(memory), {}});
  }
}

// The log as a row of a table of runs, with the table's header.
Result<Answered<CheckReply>> row_of(const FileJob& files) {
  const std::string& name = files.files.back().file.name;
  if (!files.measured || !files.measured->step) {
    return invalid("no measured step is in it", name, "a log with iteration lines");
  }
  if (!files.job || !files.whole()) {
    return invalid(
        files.open.empty() ? "the device is not stated: ‹on› CLUSTER" : files.open.front(), name);
  }
  return Answered<CheckReply>{explain::MeasuredRowAnswer{
      *files.job, *files.measured, std::filesystem::path(name).stem().string()}};
}

}  // namespace

Result<Answered<CheckReply>> check(const CheckRequest& request, const Context& context) {
  SEXTANT_TRY(FileJob files, read_files(request.files, context));
  if (request.to_row) {
    return row_of(files);
  }
  const bool whole = files.whole();
  explain::CheckAnswer answer = answer_of(std::move(files));
  if (answer.job && whole && !explain::is_illegal(answer)) {
    predict(*answer.job, context, answer);
  }
  const Outcome outcome = explain::is_illegal(answer) ? Outcome::kNo : Outcome::kFine;
  return Answered<CheckReply>{std::move(answer), outcome};
}

}  // namespace sextant::app
