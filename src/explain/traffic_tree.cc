#include "explain/traffic_tree.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::explain {
namespace {

using sextant::to_text;
using workload::Collective;
using workload::GroupKind;

Term message_term(const Collective& message) {
  Term term = bytes_term(
      fmt::format("stage {} {}: {}", message.stage,
                  describe::word_of<workload::Phase>(workload::kPhaseWords, message.phase),
                  message.what),
      message.wire_bytes());
  term.formula = fmt::format(
      "{} x {} of {} B in, {} B out ({}) over {} ranks, behind {}", message.count,
      describe::word_of<describe::CollectiveOp>(describe::kCollectiveOpWords, message.op),
      message.input_bytes, message.output_bytes, message.dtype, message.group_size,
      describe::word_of<workload::Hides>(workload::kHidesWords, message.hides));
  return term;
}

}  // namespace

Term traffic_tree(std::span<const Collective> collectives) {
  Term root = bytes_term("sent in a step, one rank of each stage", Bytes());
  root.page = "docs/models/traffic.md";
  Bytes all;
  for (const auto& [kind, word] : workload::kGroupKindWords) {
    std::vector<const Collective*> messages;
    Bytes sum;
    for (const Collective& message : collectives) {
      if (message.group == kind) {
        messages.push_back(&message);
        sum += message.wire_bytes();
      }
    }
    if (messages.empty()) {
      continue;
    }
    std::stable_sort(
        messages.begin(), messages.end(),
        [](const Collective* a, const Collective* b) { return a->wire_bytes() > b->wire_bytes(); });
    Term group = bytes_term(std::string(word), sum);
    for (const Collective* message : messages) {
      group.parts.push_back(message_term(*message));
    }
    all += sum;
    root.parts.push_back(std::move(group));
  }
  std::stable_sort(root.parts.begin(), root.parts.end(),
                   [](const Term& a, const Term& b) { return a.number > b.number; });
  root.number = all.base();
  root.value = to_text(all);
  return root;
}

}  // namespace sextant::explain
