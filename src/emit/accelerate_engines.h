// The engines behind Accelerate, each written and read in one place. Used by accelerate.cc only.
#pragma once

#include "describe/layout/job.h"
#include "emit/setting_values.h"
#include "emit/tree_file_writer.h"

namespace sextant::emit::accelerate {

enum class Engine { kSingle, kDdp, kFsdp, kDeepspeed, kMegatron };

void write_engine_settings(Engine engine, const describe::Job& job, SettingWriter& out);
// REQUIRES: the layout's precision and the devices (where they are known) are already read.
void read_engine_settings(Engine engine, SettingReader& reader, Reading& reading);

}  // namespace sextant::emit::accelerate
