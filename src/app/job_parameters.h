// The parameters that several use cases share, and the requests made of them.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "app/job_files.h"
#include "app/job_request.h"
#include "app/use_case.h"
#include "describe/words.h"

namespace sextant::app {

// MODEL, by place.
Parameter model_parameter();
Parameter cluster_parameter();
Parameter workload_parameter();

// A job: model, on, layout, framework, seq, gbs, workload, then `more`.
std::vector<Parameter> job_parameters(std::vector<Parameter> more = {});
// The same of a job that trains: a forward pass alone is serving.
std::vector<Parameter> training_parameters();
// Of those that judge whether a job fits.
Parameter headroom_parameter();
// Of those that take a profiler's report in the place of a job.
Parameter case_parameter();
JobRequest job_request(const Values& values);
// What a job's own files leave open: from on, seq, gbs and workload.
FileRequest file_request(std::vector<std::string> files, std::string model, const Values& values);

// The first spelling of every value, in the table's order.
template <typename E, std::size_t N>
std::vector<std::string_view> main_spellings(const std::array<describe::Word<E>, N>& words) {
  std::vector<std::string_view> result;
  for (const auto& [value, word] : words) {
    if (describe::word_of<E>(words, value) == word) {
      result.push_back(word);
    }
  }
  return result;
}

// `first`, then `more`.
std::vector<Parameter> joined(std::vector<Parameter> first, std::vector<Parameter> more);

}  // namespace sextant::app
