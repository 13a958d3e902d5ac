#include "explain/memory_view.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "describe/layout/layout_text.h"
#include "describe/layout/rules.h"
#include "describe/memory_facts.h"
#include "describe/model/load_model.h"

namespace sextant::explain {
namespace {

using describe::Framework;

struct Asked {
  Framework framework = Framework::kMegatronCore;
  const char* model = "llama-3.1-8b";
  const char* layout = "";
  std::int64_t devices = 64;
};

Term tree_of(const Asked& asked) {
  const describe::DataStore data;
  describe::Job job;
  job.framework = asked.framework;
  job.model = *describe::load_model(asked.model, data);
  job.cluster.devices = asked.devices;
  job.cluster.device.generation = "hopper";
  for (auto& peak : job.cluster.device.peaks) {
    peak = describe::Sourced<FlopsPerSecond>{};
  }
  job.sequences.length = 4096;
  job.global_batch = 1024;
  const auto reading = describe::parse_layout(asked.layout, asked.framework);
  EXPECT_TRUE(reading) << asked.layout;
  job.layout = reading ? reading->layout : describe::Layout{};
  EXPECT_TRUE(describe::check_rules(job).empty()) << asked.layout;
  const describe::MemoryFacts facts = *describe::memory_facts(data, asked.framework);
  const step::MemoryEstimate memory = step::memory_estimate(job, facts);
  return memory_tree(memory.fullest, step::memory_record(job, facts, memory.fullest.pipeline_rank));
}

Term part_of(const Term& tree, std::string_view name) {
  const auto found = std::find_if(tree.parts.begin(), tree.parts.end(),
                                  [name](const Term& part) { return part.name == name; });
  EXPECT_NE(found, tree.parts.end()) << name;
  return found == tree.parts.end() ? Term{} : *found;
}

void expect_parts_add_up(const Term& term, const std::string& where) {
  double sum = 0.0;
  for (const Term& part : term.parts) {
    EXPECT_FALSE(part.formula.empty()) << where << ": " << part.name;
    EXPECT_EQ(part.unit, term.unit);
    expect_parts_add_up(part, where + " " + part.name);
    sum += part.number;
  }
  if (!term.parts.empty()) {
    EXPECT_NEAR(sum / term.number, 1.0, 1e-9) << where << ": " << term.name;
  }
}

TEST(MemoryTree, EveryItemSaysWhatItIsMadeOfAndEveryTermIsTheSumOfItsParts) {
  for (const Asked& asked :
       {Asked{.layout = "tp=8,pp=2"}, Asked{.layout = "tp=2,pp=4,recompute=full,precision=fp8"},
        Asked{.layout = "tp=4,recompute=selective:mlp,zero=1"},
        Asked{.model = "deepseek-v3",
              .layout = "pp=8,ep=32,layers_per_stage=7+8*6+6",
              .devices = 256},
        Asked{.framework = Framework::kTorchtitan, .layout = "zero=3"},
        Asked{.framework = Framework::kTorchtitan, .layout = "zero=3,recompute=full"},
        Asked{.framework = Framework::kMaxtext, .layout = "zero=3"},
        Asked{.framework = Framework::kDeepspeed, .layout = "zero=2"},
        Asked{.framework = Framework::kMegatronDeepspeed, .layout = "tp=4,pp=4"},
        Asked{.framework = Framework::kAccelerate, .layout = "zero=0,parameters=fp32"}}) {
    expect_parts_add_up(tree_of(asked), asked.layout);
  }
}

// Llama-3.1-8B: embedding, head and final norm have 2 · 128,256 · 4096 + 4096 = 1,050,677,248
// parameters, a layer 218,112,000. Under full recomputation the fullest moment is a layer's
// backward: both are gathered at 2 bytes, the layer and the next one's buffer.
TEST(MemoryTree, GatheredParametersAreWhatTheirFormulaSays) {
  const Term part = part_of(tree_of({.framework = Framework::kTorchtitan,
                                     .layout = "zero=3,recompute=full,loss=in-place"}),
                            "gathered parameters");
  ASSERT_EQ(part.parts.size(), 2U);
  EXPECT_EQ(part.parts[0].name + ": " + part.parts[0].formula,
            "embedding and head: 1050.68 M parameters x 2 B");
  EXPECT_EQ(part.parts[1].name + ": " + part.parts[1].formula,
            "the largest layer: 2 at once x 218.112 M parameters x 2 B");
  EXPECT_DOUBLE_EQ(part.number, 2.0 * (1'050'677'248.0 + 2.0 * 218'112'000.0));
}

// Sequence parallelism leaves 4096 / 8 tokens of 4096 bf16 numbers a message: 4 MiB.
TEST(MemoryTree, APipelineHoldsAMessageEachWay) {
  const Term part = part_of(tree_of({.layout = "tp=8,pp=2,sp=1"}), "pipeline messages");
  EXPECT_EQ(part.formula, "one received, one sent: 2 layers' inputs x 4 MiB");
  EXPECT_DOUBLE_EQ(part.number, 2.0 * 4.0 * 1024 * 1024);
}

}  // namespace
}  // namespace sextant::explain
