#include "agents/mesh_shapes.h"

#include <algorithm>

#include <fmt/format.h>

#include "describe/layout/job_layout.h"
#include "describe/layout/legality.h"
#include "describe/model/load_model.h"
#include "describe/model/parameters.h"
#include "step/step_answer.h"

namespace sextant::agents {
namespace {

constexpr std::size_t kMostShapes = 3;
constexpr std::int64_t kAssumedBlock = 4096;  // tokens, as most published models train with

struct AssumedBatch {
  std::int64_t sequences = 0;
  std::int64_t length = 0;
};

AssumedBatch assumed_batch(const ShapeFacts& facts, std::vector<std::string>& assumed) {
  const Case& asked = facts.asked;
  const CaseMesh& runs = facts.runs;
  AssumedBatch batch{asked.batch.value_or(facts.slice.chips),
                     asked.sequence_length.value_or(kAssumedBlock * runs[CaseAxis::kSeq])};
  if (!asked.sequence_length) {
    assumed.push_back(fmt::format("{} tokens a sequence", batch.length));
  }
  if (!asked.batch) {
    assumed.push_back(fmt::format("{} sequences a step", batch.sequences));
  }
  assumed.emplace_back(facts.data_shards ? "the data axis shards weights"
                                         : "the data axis copies weights, as gradients are summed "
                                           "whole");
  assumed.emplace_back("layers are recomputed whole");
  return batch;
}

std::string mesh_job_words(const CaseMesh& mesh, std::int64_t batch, bool data_shards) {
  const std::string axes =
      describe::to_text(describe::Mesh{.ici = layout_axes(mesh, data_shards), .dcn = {}});
  return fmt::format("{};mbs={},recompute=full", axes,
                     std::max<std::int64_t>(1, batch / mesh.batch_parts()));
}

// Weights, gradients and two moments take 16 bytes a parameter in mixed precision (ZeRO,
// arXiv:1910.02054); half of the memory is left to activations.
bool has_room_for_states(const describe::Model& model, const MeshSlice& slice) {
  constexpr double kStateBytes = 16.0;
  constexpr double kHalf = 0.5;
  const auto parameters = static_cast<double>(describe::model_parameters(model).total());
  return Bytes(kStateBytes * parameters) <= slice.memory * static_cast<double>(slice.chips) * kHalf;
}

// Nothing where the mesh that runs is not legal with it, or it does not fit there.
Result<std::optional<AssumedShape>> shape_on(const std::string& name, const AssumedBatch& batch,
                                             const ShapeFacts& facts,
                                             const describe::DataStore& data) {
  AssumedShape shape{.model = name, .task = {}, .data_shards = facts.data_shards};
  describe::Job& job = shape.task.problem.job;
  SEXTANT_TRY(job.model, describe::load_model(name, data));
  if (!has_room_for_states(job.model, facts.slice)) {
    return std::nullopt;
  }
  job.cluster = facts.slice.cluster;
  job.framework = describe::Framework::kMaxtext;
  job.sequences = {.length = batch.length, .lengths = {}};
  job.global_batch = batch.sequences;
  SEXTANT_CHECK_OK(
      describe::set_layout(mesh_job_words(facts.runs, batch.sequences, facts.data_shards), job));
  if (!describe::is_legal(job) || !step::check_tokens(job)) {
    return std::nullopt;
  }
  SEXTANT_CHECK_OK(search::renew_machine(shape.task, data));
  if (!priced_mesh(shape, facts.runs).fits) {
    return std::nullopt;
  }
  return shape;
}

}  // namespace

Result<AssumedShapes> assumed_shapes(const ShapeFacts& facts, const MeshRuleBook& rules,
                                     const describe::DataStore& data) {
  AssumedShapes assumed;
  const AssumedBatch batch = assumed_batch(facts, assumed.assumed);
  for (auto name = rules.ladder.rbegin();
       name != rules.ladder.rend() && assumed.shapes.size() < kMostShapes; ++name) {
    SEXTANT_TRY(std::optional<AssumedShape> shape, shape_on(*name, batch, facts, data));
    if (shape) {
      assumed.shapes.push_back(std::move(*shape));
    }
  }
  if (assumed.shapes.size() < kMostShapes) {
    assumed.why_fewer = fmt::format("of the models that are assumed {} are legal and fit on {}",
                                    assumed.shapes.size(), to_text(facts.runs));
  }
  return assumed;
}

std::string shape_words(const AssumedShape& shape, const CaseMesh& mesh) {
  return mesh_job_words(mesh, shape.task.problem.job.global_batch, shape.data_shards);
}

PricedMesh priced_mesh(const AssumedShape& shape, const CaseMesh& mesh) {
  PricedMesh priced{.mesh = mesh, .step = {}};
  describe::Job job = shape.task.problem.job;
  if (!describe::lay_over(shape_words(shape, mesh), job) || !describe::is_legal(job) ||
      !step::check_tokens(job)) {
    return priced;
  }
  const step::Estimate estimate = step::whole_estimate(job, shape.task.machine);
  priced.legal = true;
  priced.fits = estimate.memory.fits();
  priced.step = estimate.step.step;
  return priced;
}

std::vector<PricedMesh> priced_meshes(const AssumedShape& shape, std::span<const CaseMesh> meshes) {
  std::vector<PricedMesh> priced;
  priced.reserve(meshes.size());
  for (const CaseMesh& mesh : meshes) {
    priced.push_back(priced_mesh(shape, mesh));
  }
  return priced;
}

std::optional<std::size_t> rank_by_model(const PricedMesh& mesh,
                                         std::span<const PricedMesh> among) {
  if (!mesh.fits) {
    return std::nullopt;
  }
  const auto faster = std::ranges::count_if(
      among, [&](const PricedMesh& other) { return other.fits && other.step < mesh.step; });
  return static_cast<std::size_t>(faster) + 1;
}

Result<AssumedShape> shape_on_slice(AssumedShape shape, const MeshSlice& slice,
                                    const describe::DataStore& data) {
  describe::Job& job = shape.task.problem.job;
  job.cluster = slice.cluster;
  const CaseMesh any{{1, slice.chips, 1, 1}};
  SEXTANT_CHECK_OK(describe::lay_over(shape_words(shape, any), job));
  SEXTANT_CHECK_OK(search::renew_machine(shape.task, data));
  return shape;
}

}  // namespace sextant::agents
