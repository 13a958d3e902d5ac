// A runs row while its layout is being read, and what its reading is spread over.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measured/run_layout.h"
#include "measured/run_words.h"

namespace sextant::measured {

// The row, its flags, and what has been said for the layout.
struct Reading {
  const RunCells& run;
  const describe::Model& model;
  Flags flags;
  RunLayout out;
  std::vector<std::string> given;  // layout keys that the row states

  void assume(std::string_view key, std::string_view value, std::string_view why) {
    out.assumed.push_back({std::string(key), std::string(value), std::string(why), {}});
  }
  void assume(std::string_view key, std::int64_t value, std::string_view why) {
    assume(key, std::to_string(value), why);
  }
};

bool is_megatron(describe::Framework framework);
// Devices with 8-bit tensor cores that NVIDIA's submitters and recipes use them on.
bool has_eight_bits(std::string_view device);
// A performance recipe of NVIDIA's, dense: it interleaves every pipeline, in chunks of a few
// layers, and hides tensor-parallel messages behind their products. Source: NeMo 24 and 25
// performance recipes (llm/recipes, tp_comm_overlap and virtual_pipeline_model_parallel_size).
bool is_dense_recipe(const Reading& at);

// Attention, loss, launches, expert library (run_kernels.cc). Before the framework's defaults.
void read_kernels(Reading& at);
// What the flags switch on or off (run_kernels.cc). After the framework's defaults.
void read_overlaps(Reading& at);

}  // namespace sextant::measured
