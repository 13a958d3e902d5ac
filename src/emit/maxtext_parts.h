// The parts of a MaxText job, each written and read in one place. Used by maxtext.cc, and by the
// rules about its mesh.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/layout/job.h"
#include "emit/known_keys.h"
#include "emit/setting_values.h"
#include "emit/tree_file_writer.h"

namespace sextant::emit::maxtext {

// Sizes of the mesh, sharding and devices (maxtext_axes.cc).
void write_axes(const describe::Job& job, SettingWriter& out);
void read_axes(SettingReader& reader, Reading& reading);
// Is it one of the mesh's keys?
bool is_axis(std::string_view key);
KnownKeys axis_keys();
// As they stand in those keys: "fsdp".
std::vector<std::string_view> axis_names();

// Sequence, batch and pipeline (maxtext_batch.cc). `layers`: of the model, where it is known.
void write_batch(const describe::Job& job, SettingWriter& out);
void read_batch(SettingReader& reader, Reading& reading, std::optional<std::int64_t> layers);

// Formats, optimizer, kernels, remat (maxtext_kernels.cc). `experts`: the model has them.
void write_kernels(const describe::Job& job, SettingWriter& out);
void read_kernels(SettingReader& reader, Reading& reading, bool experts);

// The model by name, or by its sizes where it is a Llama or a Mixtral of other sizes
// (maxtext_models.cc). Nothing where MaxText has no word for the model, or the settings have none.
std::vector<Setting> model_settings(const describe::Model& model, const describe::DataStore& data);
std::optional<Result<describe::Model>> model_of(const Settings& settings,
                                                const describe::DataStore& data);

}  // namespace sextant::emit::maxtext
