// The parts of tune: a case of which a profiler reports, or a job. Each is prepared from the
// request's words, tuned with a session's tools, or asked what the judge says of one proposal.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/case_wishes.h"
#include "agents/report.h"
#include "app/tune_command.h"
#include "app/tune_llm.h"
#include "describe/assumption.h"

namespace sextant::app {

// A session that is ready to be held. Knowledge, context and control that it was prepared with must
// outlive it.
struct PreparedTune {
  explain::Provenance provenance;
  describe::Assumptions assumed = {};
  std::vector<std::string> notes = {};
  Outcome outcome = Outcome::kFine;  // of reading: interrupted
  std::function<Result<agents::Report>(agents::Tools tools)> tune;
  std::function<Result<verify::Verdict>(const verify::Proposal&)> judge;
  // For a language model beside the built-in reasoner, whose report is given.
  std::function<LlmScene(const agents::Tools& tools, const agents::Report& report)> beside = {};
};

Result<PreparedTune> prepared_case(const TuneRequest& request, const Knowledge& knowledge,
                                   const Context& context);
Result<PreparedTune> prepared_job(const TuneRequest& request, const Knowledge& knowledge,
                                  const Context& context, const Control& control);
// The one of the two that the request is about.
Result<PreparedTune> prepared_tune(const TuneRequest& request, const Knowledge& knowledge,
                                   const Context& context, const Control& control);

// A file of ‹among› with its hash; nothing where none is given.
struct ChoiceFile {
  std::vector<agents::Candidate> candidates;
  machine::InputFiles inputs;
};
Result<ChoiceFile> read_choices(const std::string& file);

}  // namespace sextant::app
