#include "app/job_sources.h"

#include <algorithm>

namespace sextant::app {

void add_once(const std::vector<std::string>& from, std::vector<std::string>& into) {
  for (const std::string& text : from) {
    if (std::find(into.begin(), into.end(), text) == into.end()) {
      into.push_back(text);
    }
  }
}

explain::Provenance provenance_with(const JobReading& reading, const machine::InputFiles& inputs) {
  explain::Provenance provenance = provenance_of(reading);
  provenance.inputs.insert(provenance.inputs.end(), inputs.begin(), inputs.end());
  return provenance;
}

}  // namespace sextant::app
