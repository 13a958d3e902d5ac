// What Megatron's arguments mean for a job, both ways. Each pair of functions stands side by side
// in one file, so that what is written is what is read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "describe/data_store.h"
#include "describe/layout/job.h"
#include "emit/dialects.h"
#include "emit/megatron_arguments.h"

namespace sextant::emit {

// megatron_model.cc: the shape of the model.
void write_model(const describe::Job& job, ArgumentWriter& out);
// Nothing where layers, hidden size or heads are missing. The vocabulary is 0 where it is the
// tokenizer's.
std::optional<describe::Model> read_model(ArgumentReader& in);

// megatron_catalogue.cc
// Same shape for every purpose of this program, names aside.
bool same_shape(const describe::Model& a, const describe::Model& b);
// The catalogue's model of that shape, with its name. The vocabulary may differ by the one token
// that NullTokenizer adds, or be 0: not known. Nothing where there is none.
std::optional<describe::Model> catalogue_model(const describe::Model& shape,
                                               const describe::DataStore& data);

// megatron_axes.cc: the parallel axes, batch, sharding, overlap. Reading wants the model and the
// devices in `reading` first.
void write_axes(const describe::Job& job, ArgumentWriter& out);
void read_axes(ArgumentReader& in, Reading& reading);

// megatron_pipeline.cc: stages, chunks and who holds which layers.
void write_pipeline(const describe::Job& job, ArgumentWriter& out);
void read_pipeline(ArgumentReader& in, Reading& reading);

// megatron_formats.cc: precision, parameters, gradients, optimizer.
void write_formats(const describe::Layout& layout, ArgumentWriter& out);
void read_formats(ArgumentReader& in, describe::Layout& layout);

// megatron_kernels.cc: recomputation, offload, kernels, dispatcher.
void write_kernels(const describe::Job& job, ArgumentWriter& out);
void read_kernels(ArgumentReader& in, bool experts, Reading& reading);

// megatron_job.cc: all of it.
Arguments write_arguments(const describe::Job& job, Megatron program);
void read_arguments(ArgumentReader& in, const Settings& settings, const describe::DataStore& data,
                    Reading& reading);
// What of the job the arguments do not say, found by reading them back.
std::vector<Inexpressible> left_out(const describe::Job& job, const Arguments& arguments,
                                    Megatron program);
// Nodes, devices a node and devices as the launcher takes them.
std::vector<Setting> launch_settings(const describe::Cluster& cluster);
// Variables the job wants.
std::vector<Setting> megatron_environment(const describe::Job& job);

}  // namespace sextant::emit
