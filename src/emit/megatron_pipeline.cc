#include <algorithm>

#include "base/integers.h"
#include "describe/layout/pipeline_split.h"
#include "emit/megatron_meaning.h"
#include "emit/megatron_pipeline_layout.h"
#include "emit/setting_values.h"

namespace sextant::emit {
namespace {

using describe::Layout;

bool is_even(const std::vector<std::int64_t>& stages) {
  return std::all_of(stages.begin(), stages.end(),
                     [&](std::int64_t layers) { return layers == stages.front(); });
}

// "Et*3|(t*4|)*2,L": the stages say how many chunks a rank holds.
void read_stage_list(ArgumentReader& in, std::string_view text, Layout& layout) {
  constexpr std::string_view kName = "pipeline_model_parallel_layout";
  const auto stages = parse_pipeline_layout(text);
  if (!stages) {
    in.unresolved(kName, stages.error().what);
    return;
  }
  const auto count = static_cast<std::int64_t>(stages->size());
  if (count % layout.pp != 0 || count > kMostStages) {
    in.unresolved(kName, "its stages do not divide over the pipeline ranks");
    return;
  }
  layout.vpp = count / layout.pp;
  if (!is_even(*stages)) {
    layout.split.layers_per_stage = *stages;
  }
}

// The first and the last rank hold numbers of their own, the others share the rest.
void read_ends(ArgumentReader& in, std::int64_t layers, Layout& layout) {
  const auto first = in.number("decoder_first_pipeline_num_layers", 0, layers);
  const auto last = in.number("decoder_last_pipeline_num_layers", 0, layers);
  if (!first && !last) {
    return;
  }
  const std::int64_t others = layout.pp - (first ? 1 : 0) - (last ? 1 : 0);
  const std::int64_t left = layers - first.value_or(0) - last.value_or(0);
  const bool shared = others == 0 ? left == 0 : left >= 0 && left % others == 0;
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(layout.pp),
                                  others == 0 ? 0 : left / others);
  ranks.front() = first.value_or(ranks.front());
  ranks.back() = last.value_or(ranks.back());
  const bool chunked = std::all_of(ranks.begin(), ranks.end(),
                                   [&](std::int64_t rank) { return rank % layout.vpp == 0; });
  if (!shared || !chunked) {
    in.unresolved(first ? "decoder_first_pipeline_num_layers" : "decoder_last_pipeline_num_layers",
                  "the layers left do not divide over the other stages");
    return;
  }
  std::vector<std::int64_t> stages;
  for (std::int64_t chunk = 0; chunk < layout.vpp; ++chunk) {
    for (const std::int64_t rank : ranks) {
      stages.push_back(rank / layout.vpp);
    }
  }
  if (!is_even(stages)) {
    layout.split.layers_per_stage = std::move(stages);
  }
}

// Chunks a rank: said outright, or as layers a chunk.
std::int64_t read_chunks(ArgumentReader& in, std::int64_t layers, const Layout& layout) {
  const std::int64_t most = kMostStages / std::min(layout.pp, kMostStages);
  for (const auto* const name :
       {"num_virtual_stages_per_pipeline_rank", "virtual_pipeline_model_parallel_size"}) {
    if (const auto chunks = in.number(name, 1, std::max<std::int64_t>(most, 1))) {
      return *chunks;
    }
  }
  constexpr std::string_view kEach = "num_layers_per_virtual_pipeline_stage";
  const auto each = in.number(kEach);
  if (!each) {
    return 1;
  }
  const std::int64_t places =
      layers + (layout.split.count_embedding ? 1 : 0) + (layout.split.count_loss ? 1 : 0);
  const std::int64_t stage = std::max<std::int64_t>(saturating_product({layout.pp, *each}), 1);
  if (layers == 0 || places % stage != 0) {
    in.unresolved(kEach, layers == 0 ? "the number of layers is not known"
                                     : "the layers do not divide into such stages");
    return 1;
  }
  return places / stage;
}

}  // namespace

void write_pipeline(const describe::Job& job, ArgumentWriter& out) {
  const Layout& layout = job.layout;
  const bool bridge = out.program() == Megatron::kBridge;
  out.number("pipeline_model_parallel_size", layout.pp);
  if (layout.pp == 1) {
    if (bridge) {
      out.word("virtual_pipeline_model_parallel_size", "null");
    }
    return;
  }
  const std::vector<std::int64_t>& stages = layout.split.layers_per_stage;
  if (!stages.empty()) {
    out.word("pipeline_model_parallel_layout", pipeline_layout_text(stages, job.model.mtp_layers));
  } else {
    out.flag("account_for_embedding_in_pipeline_split", layout.split.count_embedding);
    out.flag("account_for_loss_in_pipeline_split", layout.split.count_loss);
  }
  if (bridge) {
    out.word("virtual_pipeline_model_parallel_size",
             layout.vpp > 1 ? std::to_string(layout.vpp) : "null");
  } else if (layout.vpp > 1 && stages.empty()) {
    out.number("num_virtual_stages_per_pipeline_rank", layout.vpp);
  }
}

void read_pipeline(ArgumentReader& in, Reading& reading) {
  Layout& layout = reading.layout;
  in.field("pp");
  layout.pp = in.number("pipeline_model_parallel_size", 1, describe::kMostDevices).value_or(1);
  if (layout.pp == 1 || layout.pp > kMostStages) {
    return;
  }
  in.field("layers_per_stage");
  const auto text = in.word("pipeline_model_parallel_layout");
  layout.split.count_embedding = in.flag("account_for_embedding_in_pipeline_split", false);
  layout.split.count_loss = in.flag("account_for_loss_in_pipeline_split", false);
  std::int64_t layers = reading.model ? reading.model->layer_count() : 0;
  if (layers == 0) {
    in.field("");
    layers = in.number("num_layers", 1, 1'000'000).value_or(0);
  }
  in.field("vpp");
  if (text) {
    read_stage_list(in, *text, layout);
  } else {
    layout.vpp = read_chunks(in, layers, layout);
    in.field("layers_per_stage");
    if (layers > 0) {
      read_ends(in, layers, layout);
    }
  }
  layout.schedule =
      layout.vpp > 1 ? describe::Schedule::kInterleaved1f1b : describe::Schedule::k1f1b;
}

}  // namespace sextant::emit
