#include <algorithm>

#include "describe/layout/framework_defaults.h"
#include "describe/layout/pipeline_split.h"
#include "search/baselines/pricer.h"

namespace sextant::search {
namespace {

using describe::Layout;

// The mesh with what the framework does when nobody says otherwise.
Layout layout_of(const Problem& problem, const Choices& choices, const MeshAxes& mesh) {
  Layout layout = problem.job.layout;
  layout.tp = mesh.tensor;
  layout.cp = mesh.context;
  layout.sp = mesh.tensor > 1 && choices.sp.front();
  layout.cp_method = choices.cp_methods.front();
  layout.zero = choices.zero.front();
  layout.pp = 1;
  layout.vpp = 1;
  layout.schedule = describe::Schedule::k1f1b;
  layout.split = {};
  layout.dp = 0;
  if (choices.pp.size() > 1) {
    layout.pp = mesh.fourth;
    layout.split = describe::plausible_split(problem.job.model.layer_count(), mesh.fourth);
  } else if (mesh.fourth > 1) {
    layout.zero_group = mesh.data * mesh.context;
  }
  return layout;
}

// Experts lie over the data-parallel ranks as far as they go; there is no axis for them.
void spread_experts(const Choices& choices, Pricer& pricer, Layout& layout) {
  std::vector<std::int64_t> largest_first = choices.ep;
  std::reverse(largest_first.begin(), largest_first.end());
  for (const std::int64_t ep : largest_first) {
    layout.ep = ep;
    if (pricer.is_legal(layout)) {
      return;
    }
  }
}

}  // namespace

std::vector<MeshAxes> power_of_two_meshes(std::int64_t devices) {
  int twos = 0;
  std::int64_t odd = devices;
  while (odd > 1 && odd % 2 == 0) {
    odd /= 2;
    ++twos;
  }
  std::vector<MeshAxes> list;
  for (int tensor = 0; tensor <= twos; ++tensor) {
    for (int context = 0; tensor + context <= twos; ++context) {
      for (int fourth = 0; tensor + context + fourth <= twos; ++fourth) {
        const int data = twos - tensor - context - fourth;
        list.push_back({odd * (std::int64_t{1} << data), std::int64_t{1} << tensor,
                        std::int64_t{1} << context, std::int64_t{1} << fourth});
      }
    }
  }
  return list;
}

BaselineResult black_box(const Problem& problem) {
  const Choices choices = choices_of(problem);
  Pricer pricer(problem);
  std::optional<Plan> best;
  for (const MeshAxes& mesh : power_of_two_meshes(problem.job.cluster.devices)) {
    // A mesh that no layout writes: a mesh of one stage more than there are layers, say.
    if (mesh.fourth > problem.job.model.layer_count() && choices.pp.size() > 1) {
      continue;
    }
    Layout layout = layout_of(problem, choices, mesh);
    if (choices.ep.size() > 1) {
      spread_experts(choices, pricer, layout);
    }
    if (pricer.is_legal(layout)) {
      pricer.improve(layout, best);
    }
  }
  return {best, pricer.calls()};
}

}  // namespace sextant::search
