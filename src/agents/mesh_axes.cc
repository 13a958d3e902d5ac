#include "agents/mesh_axes.h"

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::agents {

std::string to_text(const CaseMesh& mesh) {
  std::vector<std::string> parts;
  for (const auto& [axis, word] : kCaseAxisWords) {
    if (mesh[axis] > 1) {
      parts.push_back(fmt::format("{}={}", word, mesh[axis]));
    }
  }
  return parts.empty() ? "data=1" : join(parts, ",");
}

describe::MeshAxes layout_axes(const CaseMesh& mesh, bool data_shards) {
  const std::int64_t data = mesh[CaseAxis::kData];
  return {.data = data_shards ? 1 : data,
          .fsdp = data_shards ? data : 1,
          .tensor = mesh[CaseAxis::kModel],
          .sequence = mesh[CaseAxis::kSeq],
          .replica = mesh[CaseAxis::kReplica]};
}

std::string layout_words(const CaseMesh& mesh) {
  return describe::to_text(describe::Mesh{.ici = layout_axes(mesh, false), .dcn = {}});
}

std::vector<CaseMesh> power_of_two_meshes(std::int64_t chips) {
  std::vector<CaseMesh> meshes;
  if (!is_power_of_two(chips)) {
    return meshes;
  }
  for (std::int64_t replica = 1; replica <= chips; replica *= 2) {
    for (std::int64_t data = 1; replica * data <= chips; data *= 2) {
      for (std::int64_t seq = 1; replica * data * seq <= chips; seq *= 2) {
        meshes.push_back({{replica, data, seq, chips / (replica * data * seq)}});
      }
    }
  }
  return meshes;
}

}  // namespace sextant::agents
