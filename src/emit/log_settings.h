// Settings that frameworks print at the start of a log, one line at a time:
//
//   Megatron-LM  "  tensor_model_parallel_size ...................... 8" between its rulers, and
//                "using world size: 64, data-parallel size: 8, …"
//   torchtitan   "Building device mesh with parallelism: pp=1, dp_replicate=1, dp_shard=8, …",
//                "Trainer is initialized with local batch size 2, global batch size 16, …"
//   MaxText      "Config param ici_fsdp_parallelism: 16", "Num_devices: 256, shape (…)"
//   DeepSpeed    "[config.py:1003:print]   zero_optimization_stage ...... 3"
//   anyone       "CUDA capacity: NVIDIA H100 80GB HBM3 with 79.18GiB memory", "GPU 0: NVIDIA …"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emit/log_literal.h"
#include "emit/log_steps.h"

namespace sextant::emit {

struct FoundSetting {
  std::optional<LogKind> kind;  // nothing: says nothing about whose log it is
  bool launch = false;          // of the launcher: "devices", "device"
  std::string key;
  std::vector<std::string> values;  // none: takes back what an earlier line said
};

// Of a line outside Megatron's block of arguments.
std::vector<FoundSetting> settings_in_line(std::string_view line);

// Megatron's block.
bool begins_arguments(std::string_view line);
bool ends_arguments(std::string_view line);
// "name .... value"; nothing for None and for lines of another shape.
std::optional<FoundSetting> argument_line(std::string_view line);

// Where a value of several lines begins ("json = {", "Running with configs: {", "Config(general=").
struct DumpStart {
  LogKind kind = LogKind::kMegatron;
  std::string_view text;  // from its first bracket or name on
};
std::optional<DumpStart> dump_start(std::string_view line);
// The part of a further line that belongs to the value; nothing for a line of someone else.
std::optional<std::string_view> dump_continuation(LogKind kind, std::string_view line);
// A field of such a value as a setting; nothing for values that settle nothing ("auto").
std::optional<FoundSetting> dumped_setting(LogKind kind, LiteralField field);

}  // namespace sextant::emit
