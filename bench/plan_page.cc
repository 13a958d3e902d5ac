// plan_page TRUTH [OUT [SECTION]]: writes docs/planning.md, or one section of it alone. Takes some
// minutes; nothing else makes the page.
#include "plan_page.h"

#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "describe/layout/layout_text.h"

namespace sextant::bench {
namespace {

constexpr std::string_view kHead =
    R"(# What planning gains

Generated: `cmake --preset release && cmake --build build/release --target plan_page && build/release/bin/plan_page TRUTH docs/planning.md`, where TRUTH is the folder of measured tables. Do not edit.

All of it is asked of one cost model through one counted leaf (`src/search/leaf.h`): the search, and the baselines of `src/search/baselines/`.
Framework: Megatron Core, BF16, Adam with FP32 states, 5 % of each device's memory kept free, where a section does not say otherwise. Layouts leave out what all of them have (`loss=fused`), and `zero=1` and the overlap of gradients and parameters where they are on.
)";

}  // namespace

std::string short_text(const describe::Layout& layout) {
  describe::Layout rest = layout;
  rest.loss = describe::LossKernel::kPlain;
  if (rest.zero == describe::Zero::kOptimizer) {
    rest.zero = describe::Zero::kNone;
  }
  std::vector<describe::Overlap> kept;
  for (const describe::Overlap what : rest.overlap) {
    if (what != describe::Overlap::kGradReduce && what != describe::Overlap::kParamGather) {
      kept.push_back(what);
    }
  }
  rest.overlap = kept;
  const std::string text = describe::to_text(rest);
  return text.empty() ? "dp only" : text;
}

}  // namespace sextant::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: plan_page TRUTH [OUT [rule|measured|recipes|alpa]]\n";
    return 2;
  }
  constexpr int kWithOut = 3;
  constexpr int kWithSection = 4;
  const std::string_view only = argc >= kWithSection ? argv[3] : "";
  const sextant::app::Context context;
  std::string page(only.empty() ? sextant::bench::kHead : "");
  const auto add = [&](std::string_view name, const auto& section) {
    if (only.empty() || only == name) {
      page += (page.empty() ? "" : "\n") + section();
    }
  };
  add("rule", [&] { return sextant::bench::rule_section(context); });
  add("measured", [&] { return sextant::bench::measured_section(context, argv[1]); });
  add("recipes", [&] { return sextant::bench::recipes_section(context, argv[1]); });
  add("alpa", [&] { return sextant::bench::alpa_section(context); });
  if (argc < kWithOut) {
    std::cout << page;
    return 0;
  }
  std::ofstream(argv[2]) << page;
  return 0;
}
