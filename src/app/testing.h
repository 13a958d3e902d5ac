// What the tests of use cases share: the built-in data, a context, and a job to ask about.
#pragma once

#include <string>
#include <utility>

#include "app/job_request.h"

namespace sextant::app {

inline const describe::DataStore& built_in_data() {
  static const describe::DataStore kData;
  return kData;
}

inline Context megatron_context() {
  Context made;
  made.settings["framework"] = {"megatron-core", "default"};
  return made;
}

inline JobRequest llama_request(std::string layout, std::string cluster) {
  return {.model = "llama-3.1-8b",
          .cluster = std::move(cluster),
          .layout = std::move(layout),
          .framework = {},
          .sequences = {},
          .global_batch = {},
          .workload = {}};
}

}  // namespace sextant::app
