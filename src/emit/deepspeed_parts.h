// The parts of a DeepSpeed job, each written and read in one place. Used by deepspeed.cc only.
#pragma once

#include <string_view>

#include "describe/layout/job.h"
#include "emit/setting_values.h"
#include "emit/tree_file_writer.h"

namespace sextant::emit::deepspeed {

// Written with ZeRO, read with the optimizer.
inline constexpr std::string_view kOffloadOptimizer = "zero_optimization.offload_optimizer.device";

// Parallel axes, ZeRO and batch (deepspeed_axes.cc). `at`: the job's layout, canonical.
void write_batch(const describe::Job& job, const describe::Layout& at, SettingWriter& out);
void write_sharding(const describe::Layout& at, SettingWriter& out);
// In this order: the later want what the earlier read.
void read_axes(SettingReader& reader, Reading& reading);
void read_sharding(SettingReader& reader, Reading& reading);
void read_batch(SettingReader& reader, Reading& reading);

// Precision, gradients and optimizer (deepspeed_formats.cc). Reading wants the ZeRO stage.
void write_formats(const describe::Layout& at, SettingWriter& out);
void read_formats(SettingReader& reader, Reading& reading);

}  // namespace sextant::emit::deepspeed
