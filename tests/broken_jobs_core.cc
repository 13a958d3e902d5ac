// Jobs that break a rule which holds anywhere.
#include "broken_jobs.h"

namespace sextant::tests {

std::vector<BrokenJob> core_jobs() {
  using describe::Job;
  using describe::Severity;
  return {
      {"WORLD-PRODUCT", megatron, "", [](Job& j) { j.layout.dp = 2; }},
      {"WORLD-PRODUCT", torchtitan, "", [](Job& j) { j.cluster.devices = 60; }},
      {"BATCH-DP", megatron, "", [](Job& j) { j.global_batch = 130; }},
      {"BATCH-MICRO", megatron, "", [](Job& j) { j.layout.mbs = 3; }},
      {"HEADS-TP", megatron, "",
       [](Job& j) {
         j.layout.tp = 128;
         j.layout.pp = 1;
         j.cluster.devices = 128;
       }},
      {"KV-HEADS-TP", megatron, "",
       [](Job& j) { std::get<describe::Attention>(j.model.blocks[0].mixer).kv_heads = 6; }},
      {"KV-HEADS-TP", torchtitan, "",
       [](Job& j) { std::get<describe::Attention>(j.model.blocks[0].mixer).kv_heads = 6; }},
      {"FFN-TP", megatron, "",
       [](Job& j) { std::get<describe::DenseFfn>(j.model.blocks[0].ffn).width = 28674; }},
      {"LAYERS-STAGES", megatron, "", [](Job& j) { j.model.layers.resize(78); }},
      {"LAYERS-STAGES", maxtext, "",
       [](Job& j) { j.layout.split.layers_per_stage = {8, 8, 8, 9}; }},
      {"SCHEDULE-VPP", megatron, "", [](Job& j) { j.layout.vpp = 5; }},
      {"SEQ-CP", megatron, "",
       [](Job& j) {
         j.layout.cp = 4;
         j.sequences.length = 8188;
         j.layout.sp = false;
       }},
      {"SEQ-SP", megatron, "", [](Job& j) { j.sequences.length = 8190; }},
      {"SP-TP", megatron, "", [](Job& j) { j.layout.tp = 1; }, Severity::kRisk},
      {"SP-TP", torchtitan, "", [](Job& j) { j.layout.tp = 1; }},
      {"SEQ-POSITIONS", megatron, "", [](Job& j) { j.model.learned_positions = 2048; }},
      {"HEADS-CP", megatron, "",
       [](Job& j) {
         j.layout.cp = 32;
         j.layout.cp_method = describe::CpMethod::kAllToAll;
         j.cluster.devices = 512;
       }},
      {"EXPERTS-EP", megatron, "", [](Job& j) { j.layout.ep = 2; }},
      {"EXPERTS-EP", experts, "",
       [](Job& j) {
         j.layout.ep = 6;
         j.cluster.devices = 192;
         j.global_batch = 192;
       }},
      {"EXPERT-WORLD", experts, "",
       [](Job& j) {
         j.cluster.devices = 96;
         j.global_batch = 96;
       }},
      {"EXPERT-FFN-ETP", experts, "",
       [](Job& j) {
         j.layout.etp = 3;
         j.layout.ep = 1;
         j.cluster.devices = 192;
         j.global_batch = 192;
       }},
      {"ROUTER-GROUPS", experts, "",
       [](Job& j) { std::get<describe::MoeFfn>(j.model.blocks.back().ffn).topk = 300; }},
      {"PRECISION-DEVICE", megatron, "",
       [](Job& j) {
         j.cluster.device.peaks = {};
         j.layout.precision = describe::Precision::kFp8;
       }},
      {"RECOMPUTE-MODULE", megatron, "",
       [](Job& j) {
         j.layout.recompute = {.granularity = describe::Recompute::kSelective,
                               .modules = {describe::RecomputeModule::kMlaUpProjection}};
       }},
      {"ZERO-GROUP", megatron, "", [](Job& j) { j.layout.zero_group = 3; }},
      {"VOCAB-TP", megatron, "", [](Job& j) { j.model.vocab = 2; }},
      {"EP-DOMAIN", experts, "", [](Job& j) { j.layout.ep = 32; }, Severity::kNote},
      {"EP-DOMAIN", torchtitan_experts, "", [](Job& j) { j.layout.ep = 16; }, Severity::kNote},
  };
}

}  // namespace sextant::tests
