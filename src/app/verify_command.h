// verify: what the judge says of one proposal for a job, whoever makes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/answered.h"
#include "app/context.h"
#include "app/tune_command.h"
#include "app/use_case.h"
#include "base/result.h"
#include "explain/verify_view.h"
#include "verify/proposal.h"

namespace sextant::app {

// Words; "" where not given.
struct VerifyRequest {
  TuneRequest job = {};      // the job as tune takes it, its layout as it stands
  std::string change = {};   // "tp=4,mbs=2"
  std::string setting = {};  // in the framework's words
  std::string mends = {};    // the finding that such a setting is to mend
  std::string title = {};
  std::string devices = {};                 // that the proposal says it runs on
  std::vector<std::string> claims = {};     // "step lower x0.7..0.85"
  std::vector<std::string> citations = {};  // "kb:ID", "rule:ID", "finding:ID", "model"
  std::string author = {};                  // "": the user
};

// No: it is not to be advised.
Result<Answered<explain::VerifyAnswer>> verify_proposal(const VerifyRequest& request,
                                                        const Context& context,
                                                        const Control& control);

// "step lower", "step lower x0.7..0.85", "memory same".
Result<verify::Claim> claim_of(std::string_view word);
// "kb:ID", with what it is cited for after it: "kb:ID step lower"; "model".
Result<verify::Citation> citation_of(std::string_view word);

}  // namespace sextant::app
