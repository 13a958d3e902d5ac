#include "verify/citations.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "kb/entry_says.h"
#include "kb/library.h"
#include "verify/claims.h"

namespace sextant::verify {
namespace {

using describe::Job;
using step::Direction;
using step::Quantity;

template <typename T>
bool has(const std::vector<T>& list, const T& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

// Words in order of how much there is of it: "none" < "selective" < "full".
std::optional<std::int64_t> size_of(std::string_view value) {
  constexpr std::array<std::string_view, 3> kRecompute{"none", "selective", "full"};
  for (std::size_t i = 0; i < kRecompute.size(); ++i) {
    if (value.starts_with(kRecompute[i])) {
      return static_cast<std::int64_t>(i);
    }
  }
  return to_integer(value);
}

int sign_of(std::int64_t value) {
  return value < 0 ? -1 : value > 0 ? 1 : 0;
}

// 1: the proposal goes where the entry goes; −1: the other way; 0: neither can be said.
int sense_of(const kb::NamedKey& entry, const ChangedKey& proposal) {
  const auto from = size_of(proposal.before);
  const auto to = size_of(proposal.after);
  const auto entry_from = size_of(entry.before);
  const auto entry_to = size_of(entry.after);
  if (from && to && entry_from && entry_to) {
    return sign_of(*entry_to - *entry_from) * sign_of(*to - *from);
  }
  if (from && to && entry_to) {  // nearer to what it advises
    return sign_of(std::abs(*from - *entry_to) - std::abs(*to - *entry_to));
  }
  if (from && to && entry_from) {  // further from what it starts at
    return sign_of(std::abs(*to - *entry_from) - std::abs(*from - *entry_from));
  }
  if (!entry.after.empty() && (proposal.after == entry.after || proposal.before == entry.after)) {
    return proposal.after == entry.after ? 1 : -1;
  }
  if (!entry.before.empty() &&
      (proposal.after == entry.before || proposal.before == entry.before)) {
    return proposal.before == entry.before ? 1 : -1;
  }
  return 0;
}

// Is the entry about what the proposal changes, and which way?
struct Likeness {
  bool same_change = false;
  int sense = 0;  // of all keys they share; dp, which follows from the others, where it is alone
};

bool is_about(const kb::Entry& entry, const ChangedKey& key) {
  const std::string_view change = kb::change_of_key(key.key);
  const auto is_it = [change](std::string_view other) { return change == other; };
  if (std::ranges::any_of(entry.about.changes, is_it)) {
    return true;
  }
  return std::ranges::any_of(entry.about.axes, [&](kb::Theme theme) {
    return std::ranges::any_of(kb::changes_of(theme), is_it);
  });
}

// The first word of a setting, without its value: "--num-workers".
std::string_view setting_name(std::string_view setting) {
  const std::string_view clean = trimmed(setting);
  return clean.substr(0, std::min(clean.find_first_of(" =:"), clean.size()));
}

Likeness likeness(const kb::Entry& entry, const CitedChange& change) {
  Likeness like;
  int dp_sense = 0;
  bool other_than_dp = false;
  const std::vector<kb::NamedKey> named = kb::changed_keys(entry);
  for (const ChangedKey& key : change.keys) {
    like.same_change = like.same_change || is_about(entry, key);
    for (const kb::NamedKey& one : named) {
      if (one.key != key.key) {
        continue;
      }
      like.same_change = true;
      (key.key == "dp" ? dp_sense : like.sense) += sense_of(one, key);
      other_than_dp = other_than_dp || key.key != "dp";
    }
  }
  like.sense = sign_of(other_than_dp ? like.sense : dp_sense);
  const std::string_view name = setting_name(change.setting);
  if (!name.empty() && (entry.setting.find(name) != std::string::npos ||
                        entry.after.find(name) != std::string::npos)) {
    like.same_change = true;
  }
  return like;
}

bool is_tpu_name(std::string_view device) {
  return device.starts_with("tpu");
}

kb::ModelClass class_of(const Job& job) {
  const bool experts = describe::has_experts(job.model);
  return experts ? kb::ModelClass::kExperts : kb::ModelClass::kDense;
}

// What of the job the entry does not hold for; "": it may.
std::string elsewhere(const kb::Entry& entry, const Job& job) {
  const kb::Features& about = entry.about;
  const bool tpu = is_tpu_name(job.cluster.device.id);
  const bool other_family = !about.devices.empty() &&
                            std::ranges::none_of(about.devices, [tpu](const std::string& device) {
                              return is_tpu_name(device) == tpu;
                            });
  if (other_family) {
    return fmt::format("it is about {}, the job runs on {}", join(about.devices, ", "),
                       job.cluster.device.id);
  }
  if (!about.frameworks.empty() && !has(about.frameworks, job.framework)) {
    return fmt::format(
        "it is about {}, the job is of {}",
        describe::word_of<describe::Framework>(describe::kFrameworkWords, about.frameworks.front()),
        describe::word_of<describe::Framework>(describe::kFrameworkWords, job.framework));
  }
  const bool classed = entry.kind == kb::EntryKind::kPractice && !about.models.empty() &&
                       !has(about.models, kb::ModelClass::kHybrid);
  if (classed && !has(about.models, class_of(job))) {
    return fmt::format("it is about {} models", describe::word_of<kb::ModelClass>(
                                                    kb::kModelClassWords, about.models.front()));
  }
  return {};
}

bool one_quantity(Quantity one, Quantity other) {
  const auto is_bubble = [](Quantity quantity) {
    return quantity == Quantity::kBubble || quantity == Quantity::kBubbleShare;
  };
  return one == other || (is_speed(one) && is_speed(other)) || (is_bubble(one) && is_bubble(other));
}

std::string effect_words(Quantity quantity, Direction direction) {
  return words_of({.quantity = quantity, .direction = direction});
}

// Was it measured to be slower, or not to fit?
bool is_loss(const kb::Entry& entry, const std::optional<kb::Expects>& effect) {
  if (entry.kind != kb::EntryKind::kWin || !effect) {
    return false;
  }
  return (is_speed(effect->quantity) && effect->direction == Direction::kHigher) ||
         (effect->quantity == Quantity::kFits && effect->direction == Direction::kLower);
}

// Who warns of a change advises its contrary; who advises it warns of the contrary.
bool speaks_against(const kb::Entry& entry, const std::optional<kb::Expects>& effect, int sense) {
  const bool warns = entry.do_not || is_loss(entry, effect);
  return sense < 0 ? !warns : warns;
}

JudgedCitation struck(const Citation& citation, std::string why) {
  return {citation, false, std::move(why)};
}
JudgedCitation standing(const Citation& citation, std::string why) {
  return {citation, true, std::move(why)};
}

JudgedCitation cited_for_a_claim(const Citation& citation, const kb::Expects& effect, int sense) {
  const Claim& wanted = *citation.supports;
  const Direction says = sense < 0 ? step::opposite_of(effect.direction) : effect.direction;
  const std::string turned = sense < 0 ? " of the contrary change" : "";
  const std::string said = effect_words(effect.quantity, effect.direction) + turned;
  if (!one_quantity(effect.quantity, wanted.quantity)) {
    return struck(citation,
                  fmt::format("'{}' says {}, and nothing of {}", citation.id, said,
                              describe::word_of<Quantity>(step::kQuantityWords, wanted.quantity)));
  }
  if (says != wanted.direction) {
    return struck(citation, fmt::format("'{}' says {}, not {}", citation.id, said,
                                        effect_words(wanted.quantity, wanted.direction)));
  }
  return standing(citation, fmt::format("it says {}", said));
}

JudgedCitation judged_entry(const Citation& citation, const CitedChange& change,
                            const Bench& bench) {
  const auto entry = kb::find_entry(bench.entries, citation.id);
  if (!entry) {
    return struck(citation, entry.error().what);
  }
  if (const std::string where = elsewhere(*entry, change.job); !where.empty()) {
    return struck(citation, fmt::format("'{}': {}", entry->id, where));
  }
  const Likeness like = likeness(*entry, change);
  if (!like.same_change) {
    return struck(citation, fmt::format("'{}' is about another change", entry->id));
  }
  const std::optional<kb::Expects> effect = kb::effect_of(*entry);
  if (!citation.supports) {
    return speaks_against(*entry, effect, like.sense)
               ? struck(citation, fmt::format("'{}' advises against the change", entry->id))
               : standing(citation, "it is about the change");
  }
  if (!effect) {
    return struck(citation, fmt::format("'{}' says no effect", entry->id));
  }
  return cited_for_a_claim(citation, *effect, like.sense);
}

JudgedCitation judged_finding(const Citation& citation, const Bench& bench) {
  if (bench.diagnosis == nullptr) {
    return struck(citation,
                  fmt::format("no run was diagnosed: nobody found '{}'", printable(citation.id)));
  }
  for (const diagnose::Finding& finding : bench.diagnosis->findings) {
    if (finding.rule != citation.id) {
      continue;
    }
    if (finding.explained_by) {
      return struck(citation, fmt::format("'{}' is explained by '{}': nothing to mend",
                                          finding.rule, *finding.explained_by));
    }
    const bool wanted = !citation.supports || citation.supports->direction == Direction::kLower;
    return wanted ? standing(citation, finding.cause)
                  : struck(citation, fmt::format("'{}' is time that is lost: it says nothing of {}",
                                                 finding.rule, words_of(*citation.supports)));
  }
  return struck(citation, fmt::format("the diagnosis has no '{}'", printable(citation.id)));
}

}  // namespace

std::vector<ChangedKey> changed_keys(const Job& before, const Job& after) {
  const auto old_values = describe::layout_values(before.layout);
  const auto new_values = describe::layout_values(after.layout);
  std::vector<ChangedKey> keys;
  for (std::size_t i = 0; i < old_values.size(); ++i) {
    const bool replicas = old_values[i].first == "dp";
    const std::string was = replicas ? fmt::format("{}", before.dp()) : old_values[i].second;
    const std::string is = replicas ? fmt::format("{}", after.dp()) : new_values[i].second;
    if (was != is) {
      keys.push_back({std::string(old_values[i].first), was, is});
    }
  }
  return keys;
}

JudgedCitation judged_citation(const Citation& citation, const CitedChange& change,
                               const Bench& bench) {
  switch (citation.kind) {
    case Cited::kEntry:
      return judged_entry(citation, change, bench);
    case Cited::kFinding:
      return judged_finding(citation, bench);
    case Cited::kRule: {
      const auto rule = describe::find_rule(citation.id);
      return rule ? standing(citation, std::string(rule->title))
                  : struck(citation, rule.error().what);
    }
    case Cited::kModel:
      return standing(citation, "the claims are judged by it");
  }
  return struck(citation, "no citation");
}

}  // namespace sextant::verify
