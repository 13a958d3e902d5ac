#include "metrics/work_chains.h"

#include <algorithm>

namespace sextant::metrics {
namespace {

using timeline::OperatorUse;
using timeline::Tensor;

// One that stands between two others has both its input and its result in the chain alone.
constexpr std::size_t kShortestChain = 3;
// Names of a chain that are said.
constexpr std::size_t kMostChainNames = 12;

// XLA fuses what streams up to a reduction and behind it: what stands there was not left apart.
bool is_reduction_of_xla(const StreamWork& work) {
  return !work.outputs->empty() && work.name == "input fusion";
}

bool is_link(const StreamWork& work) {
  return !is_reduction_of_xla(work) &&
         (work.part == WorkPart::kNorms || work.part == WorkPart::kElementwise);
}

// Neither a part of a chain nor in its way: another rule speaks of it.
bool is_passed_over(const StreamWork& work) {
  return work.part == WorkPart::kRelayout || work.part == WorkPart::kCopies;
}

bool is_copy(const StreamWork& work) {
  return work.use == OperatorUse::kCopy && work.inputs->size() == 2 &&
         (*work.inputs)[0].dims == (*work.inputs)[1].dims;
}

// A format that is not known is one of a byte at least.
double least_size(const Tensor& tensor) {
  return tensor.elements() *
         (tensor.element ? timeline::format_of(*tensor.element).size / 1_B : 1.0);
}

double sum_of_sizes(const std::vector<Tensor>& tensors) {
  double sum = 0.0;
  for (const Tensor& tensor : tensors) {
    sum += least_size(tensor);
  }
  return sum;
}

double least_read(const StreamWork& work) {
  if (!work.outputs->empty()) {
    // Of what is sliced only a part is read: what is counted, without the results.
    return std::max(0.0, work.bytes.value_or(0.0) - sum_of_sizes(*work.outputs));
  }
  if (is_copy(work)) {
    return least_size((*work.inputs)[1]);
  }
  return sum_of_sizes(*work.inputs);
}

double least_written(const StreamWork& work) {
  if (!work.outputs->empty()) {
    return sum_of_sizes(*work.outputs);
  }
  if (is_copy(work)) {
    return least_size((*work.inputs)[0]);
  }
  if (work.use == OperatorUse::kReduction) {
    return 0.0;
  }
  double most = 0.0;
  for (const Tensor& input : *work.inputs) {
    most = std::max(most, least_size(input));
  }
  return most;
}

ChainRow chain_row_of(const std::vector<const StreamWork*>& links) {
  ChainRow row{.pass = links.front()->pass};
  std::int64_t time = 0;
  bool is_known = true;
  double bytes = 0.0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (i < kMostChainNames) {
      row.names += (i == 0 ? "" : ", ") + std::string(links[i]->name);
    } else if (i == kMostChainNames) {
      row.names += ", …";
    }
    time += links[i]->time_ns;
    row.idle_ns += links[i]->idle_ns;
    is_known &= !links[i]->inputs->empty();
    bytes += links[i]->bytes.value_or(0.0);
  }
  row.time.add(time);
  row.operators = static_cast<std::int64_t>(links.size());
  row.longest = {links.front()->span.start_ns, links.back()->span.end_ns};
  if (is_known) {
    row.stated = 1;
    row.stated_ns = time;
    row.bytes.add(bytes);
    row.least_bytes.add(least_read(*links.front()) + least_written(*links.back()));
  }
  return row;
}

}  // namespace

std::vector<ChainRow> chains_of(const std::vector<StreamWork>& works) {
  std::vector<ChainRow> rows;
  std::vector<const StreamWork*> links;
  const auto close = [&] {
    if (links.size() >= kShortestChain) {
      rows.push_back(chain_row_of(links));
    }
    links.clear();
  };
  for (const StreamWork& work : works) {
    if (is_passed_over(work)) {
      continue;
    }
    if (!links.empty() && (!is_link(work) || work.pass != links.front()->pass)) {
      close();
    }
    if (is_link(work)) {
      links.push_back(&work);
    }
  }
  close();
  return folded(std::move(rows));
}

}  // namespace sextant::metrics
