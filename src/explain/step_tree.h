// A step as a tree: its terms, down to stages, passes, messages and operators of the slowest
// pipeline rank. The parts of every term add up to it.
#pragma once

#include "describe/layout/job.h"
#include "explain/term_tree.h"
#include "step/step_answer.h"
#include "step/step_record.h"

namespace sextant::explain {

Term step_tree(const step::Estimate& result, const step::StepRecord& record,
               const describe::Job& job);

}  // namespace sextant::explain
