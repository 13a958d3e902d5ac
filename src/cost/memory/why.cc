// What MemoryModel notes of its numbers, where someone asks.
#include <algorithm>
#include <string>

#include "base/integers.h"
#include "cost/memory/memory.h"

namespace sextant::cost {
namespace {

using workload::Part;
using workload::PartMask;

struct KeptTensor {
  std::string what;
  double bytes = 0.0;  // of one layer and microbatch
};

struct KeptTensors {
  PartMask dropped = 0;
  std::vector<KeptTensor> list;
  void operator()(Part part, std::string_view name, double size, PartMask dropped_by) {
    if (size > 0.0 && (dropped & dropped_by) == 0) {
      const std::string_view word = describe::word_of<Part>(workload::kPartWords, part);
      list.push_back({std::string(word) + ": " + std::string(name), size});
    }
  }
};

}  // namespace

void MemoryModel::note(MemoryItem item, MomentSet moments, std::string_view what,
                       std::initializer_list<MemoryFactor> factors, double bytes) const {
  MemoryPart part{item, moments, std::string(what), factors, Bytes(bytes), {}};
  std::erase_if(part.factors, [](const MemoryFactor& factor) {
    return factor.kind == MemoryFactor::Kind::kOver && factor.number == 1.0;  // says nothing
  });
  record_->add(std::move(part));
}

void MemoryModel::take_apart_tensors(std::size_t block, bool in_part) const {
  MemoryPart& part = record_->last();
  part.what = record_->place(block) + (in_part ? ", recomputed in part" : "");
  if (in_part && every_second_product_) {
    return;  // a policy of products, not of tensors
  }
  KeptTensors kept{in_part ? selective_ : 0, {}};
  workload::walk_saved(job_.model, job_.model.blocks[block], shard_, rules_, kept);
  std::ranges::stable_sort(kept.list, std::ranges::greater{}, &KeptTensor::bytes);
  const double tokens = as_double(shard_.tokens);
  const double times = part.factors[0].number * part.factors[1].number;
  for (KeptTensor& tensor : kept.list) {
    part.parts.push_back({part.item,
                          part.moments,
                          std::move(tensor.what),
                          {part.factors[0], part.factors[1], count(tokens, "tokens"),
                           bytes_each(tensor.bytes / tokens)},
                          Bytes(times * tensor.bytes),
                          {}});
  }
}

void MemoryModel::hold_ends() const {
  if (stage_.embedding) {
    record_->hold("embedding", 1.0, embedding_);
  }
  if (stage_.head) {
    record_->hold("head and final norm", 1.0, head_);
    record_->hold("multi-token prediction", as_double(stage_.mtp_layers), mtp_);
  }
}

void MemoryModel::take_apart_parameters(bool experts) const {
  if (record_->last().item == MemoryItem::kParameters) {
    record_->take_apart(experts);
  }
}

}  // namespace sextant::cost
