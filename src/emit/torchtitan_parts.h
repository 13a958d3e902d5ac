// The parts of a torchtitan job, each written and read in one place so that the two directions
// cannot drift. Used by torchtitan.cc only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "describe/layout/job.h"
#include "emit/known_keys.h"
#include "emit/setting_values.h"
#include "emit/settings.h"

namespace sextant::emit::torchtitan {

enum class Edition { kMain, kToml };

// What a reading collects while its parts are read.
struct Draft {
  Edition edition = Edition::kMain;
  std::optional<std::int64_t> layers;  // of the model, where it is known
  Reading reading;
};

void add(std::vector<Setting>& settings, std::string_view key, std::string value);
void add(std::vector<Setting>& settings, std::string_view key, std::int64_t value);
void add_flag(std::vector<Setting>& settings, std::string_view key, bool value);

// Sizes of the axes, FSDP and replicas (torchtitan_axes.cc).
void write_axes(const describe::Job& job, Edition edition, std::vector<Setting>& settings);
void read_axes(SettingReader& reader, Draft& draft);

// Schedule, stages and how layers are dealt to them (torchtitan_pipeline.cc). `layers_known`:
// whoever reads the settings will know how many layers the model has.
void write_pipeline(const describe::Job& job, bool layers_known, std::vector<Setting>& settings);
void read_pipeline(SettingReader& reader, Draft& draft);

// Sequence, micro-batch and global batch (torchtitan_batch.cc).
void write_batch(const describe::Job& job, Edition edition, std::vector<Setting>& settings);
void read_batch(SettingReader& reader, Draft& draft);

// Recompute, formats, compilation, loss, dispatcher and what overlaps (torchtitan_kernels.cc).
void write_kernels(const describe::Job& job, Edition edition, std::vector<Setting>& settings);
void read_kernels(SettingReader& reader, Draft& draft);

// Is it a key of this edition? Keys of sections that say nothing about speed all are.
bool is_known(std::string_view key, Edition edition);
KnownKeys known_keys(Edition edition);

}  // namespace sextant::emit::torchtitan
