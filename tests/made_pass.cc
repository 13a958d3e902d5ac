#include "made_pass.h"

#include <algorithm>
#include <optional>

namespace sextant::tests {
namespace {

using workload::GroupKind;
using workload::Part;

// Small ones are counts and probabilities: nobody would see them.
constexpr std::int64_t kSmall = 1 << 20;

bool is_expert(GroupKind group) {
  return group == GroupKind::kEp || group == GroupKind::kTpEp;
}

// The product or attention that a message feeds or carries away.
std::optional<Part> part_of(const MadeMessage& message, bool is_backward) {
  const std::string_view what = message.what.what;
  if (what.starts_with("key") && message.what.group == GroupKind::kCp) {
    return Part::kCoreAttention;
  }
  if (is_expert(message.what.group)) {
    const bool enters = what.starts_with("tokens") || what.starts_with("gradients of");
    return enters ? Part::kExpertFc1 : Part::kExpertFc2;
  }
  const bool is_attention = what.starts_with("attention");
  if (!is_attention && !what.starts_with("feed-forward")) {
    return std::nullopt;
  }
  const bool is_output = what.find("output") != std::string_view::npos;
  (void)is_backward;
  return is_attention ? (is_output ? Part::kAttentionOutput : Part::kQkv)
                      : (is_output ? Part::kFc2 : Part::kFc1);
}

// Does it come before the part's kernels?
bool is_before(const MadeMessage& message) {
  const std::string_view what = message.what.what;
  if (is_expert(message.what.group)) {
    return what.starts_with("tokens") || what.starts_with("gradients to");
  }
  return message.what.op == CollectiveOp::kAllGather;
}

bool is_hidden(const MadeMessage& message, const Hiding& hiding) {
  if (is_expert(message.what.group)) {
    return hiding.experts;
  }
  if (message.what.group == GroupKind::kTp) {
    return hiding.tensor && message.what.hides != workload::Hides::kNothing;
  }
  return hiding.context;
}

std::vector<const MadeMessage*> messages_at(const MadePass& pass, Part part, bool before) {
  std::vector<const MadeMessage*> found;
  for (const MadeMessage& message : pass.messages) {
    if (message.times > 0.5 && message.what.output_bytes >= kSmall &&
        message.what.group != GroupKind::kShard && message.what.group != GroupKind::kCp &&
        part_of(message, false) == part && is_before(message) == before) {
      found.push_back(&message);
    }
  }
  return found;
}

// Attention in as many pieces as the ring has ranks: beside each piece the next keys come in.
void add_attention_ring(const MadePass& pass, const MadeKernel& attention, const Hiding& hiding,
                        std::vector<Item>& items) {
  std::vector<const MadeMessage*> turns;
  for (const MadeMessage& message : pass.messages) {
    for (int i = 0;
         message.what.group == GroupKind::kCp && i < static_cast<int>(message.times + 0.5); ++i) {
      turns.push_back(&message);
    }
  }
  const double share = 1.0 / static_cast<double>(turns.size() + 1);
  for (const MadeMessage* turn : turns) {
    const bool hidden = is_hidden(*turn, hiding);
    const Item message{.kind = ItemKind::kMessage, .message = turn, .waits = !hidden};
    if (hidden) {
      items.push_back(message);
    }
    items.push_back({.kernel = &attention, .share = share});
    items.push_back(hidden ? Item{.kind = ItemKind::kJoin} : message);
  }
  items.push_back({.kernel = &attention, .share = share});
}

}  // namespace

std::vector<Item> items_of(const MadePass& pass, const Hiding& hiding) {
  std::vector<Item> items;
  const auto add = [&](const MadeMessage* message, bool hidden) {
    const bool expert = is_expert(message->what.group);
    items.push_back({.kind = ItemKind::kMessage,
                     .message = message,
                     .waits = expert || !hidden,
                     .yields = expert && hidden});
  };
  for (auto kernel = pass.kernels.begin(); kernel != pass.kernels.end(); ++kernel) {
    const bool is_first = kernel == pass.kernels.begin() || (kernel - 1)->part != kernel->part;
    const bool is_last = kernel + 1 == pass.kernels.end() || (kernel + 1)->part != kernel->part;
    if (is_first) {
      for (const MadeMessage* message : messages_at(pass, kernel->part, true)) {
        add(message, is_hidden(*message, hiding));
      }
      for (const MadeMessage* message : messages_at(pass, kernel->part, false)) {
        if (message->what.group == GroupKind::kTp && is_hidden(*message, hiding)) {
          add(message, true);
        }
      }
    }
    if (kernel->is_attention) {
      add_attention_ring(pass, *kernel, hiding, items);
    } else {
      items.push_back({.kernel = &*kernel});
    }
    if (is_last) {
      items.push_back({.kind = ItemKind::kJoin});
      for (const MadeMessage* message : messages_at(pass, kernel->part, false)) {
        if (message->what.group != GroupKind::kTp || !is_hidden(*message, hiding)) {
          add(message, is_hidden(*message, hiding));
        }
      }
    }
  }
  return items;
}

MadePass folded(const MadePass& pass) {
  MadePass few;
  for (const MadeKernel& kernel : pass.kernels) {
    const auto like = std::ranges::find(few.kernels, kernel.name, &MadeKernel::name);
    if (like == few.kernels.end()) {
      few.kernels.push_back(kernel);
    } else {
      like->takes += kernel.takes;
    }
  }
  return few;
}

}  // namespace sextant::tests
