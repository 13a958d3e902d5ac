// What answers about a job say beside its numbers: which files they rest on, what was assumed.
#pragma once

#include <string>
#include <vector>

#include "app/job_request.h"
#include "machine/machine.h"

namespace sextant::app {

// Adds the texts that are not there yet.
void add_once(const std::vector<std::string>& from, std::vector<std::string>& into);

// provenance_of with more files.
explain::Provenance provenance_with(const JobReading& reading, const machine::InputFiles& inputs);

}  // namespace sextant::app
