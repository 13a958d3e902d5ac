#include "explain/finding_words.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/diagnose_words.h"
#include "explain/percent.h"

namespace sextant::explain {
namespace {

// What a framework's job also listens to, the nearest first.
constexpr std::array<std::string_view, 3> kBeneath{"pytorch", "nccl", "xla"};
constexpr std::array<std::string_view, 2> kBeneathJax{"maxtext", "xla"};

const diagnose::Setting* setting_of(const diagnose::Advice& advice, std::string_view framework) {
  const auto found = std::ranges::find(advice.settings, framework, &diagnose::Setting::framework);
  return found == advice.settings.end() ? nullptr : &*found;
}

}  // namespace

std::optional<double> gain_share(Seconds lost, Seconds step) {
  return lost < step ? std::optional(diagnose::gain_ceiling(lost, step)) : std::nullopt;
}

std::string gain_text(Seconds lost, Seconds step) {
  const auto share = gain_share(lost, step);
  return share ? percent(share) : "all of the step";
}

std::string finding_ranks_text(const diagnose::Finding& finding) {
  if (finding.ranks.empty()) {
    return "all ranks";
  }
  std::vector<std::int64_t> numbers;
  for (const RankId rank : finding.ranks) {
    numbers.push_back(rank.value);
  }
  std::ranges::sort(numbers);
  return fmt::format("{} {}", numbers.size() == 1 ? "rank" : "ranks", number_list(numbers));
}

std::string as_sentence(std::string_view text) {
  std::string sentence(text);
  if (!sentence.empty() && sentence.front() >= 'a' && sentence.front() <= 'z') {
    sentence.front() = static_cast<char>(sentence.front() - 'a' + 'A');
  }
  if (!sentence.empty() && sentence.back() != '.') {
    sentence += '.';
  }
  return sentence;
}

std::string rule_title(const FindingsAnswer& findings, std::string_view rule) {
  const diagnose::Rule* known = findings.book.find(rule);
  return known == nullptr ? std::string(rule) : known->title;
}

std::vector<const diagnose::Advice*> advice_of(const FindingsAnswer& findings,
                                               const diagnose::Finding& finding) {
  std::vector<const diagnose::Advice*> advice;
  const diagnose::Rule* rule = findings.book.find(finding.rule);
  if (rule == nullptr) {
    return advice;
  }
  if (finding.advice.empty()) {
    for (const diagnose::Advice& one : rule->advice) {
      advice.push_back(&one);
    }
  }
  for (const std::string& id : finding.advice) {
    const auto found = std::ranges::find(rule->advice, id, &diagnose::Advice::id);
    if (found != rule->advice.end()) {
      advice.push_back(&*found);
    }
  }
  return advice;
}

const diagnose::Setting* nearest_setting(const FindingsAnswer& findings,
                                         const diagnose::Advice& advice) {
  if (const auto* own = setting_of(advice, findings.framework)) {
    return own;
  }
  const auto try_all = [&](const auto& names) -> const diagnose::Setting* {
    for (const std::string_view name : names) {
      if (const auto* found = setting_of(advice, name)) {
        return found;
      }
    }
    return nullptr;
  };
  const auto* beneath = findings.is_jax ? try_all(kBeneathJax) : try_all(kBeneath);
  // Of a framework that is not known any one's setting says what is meant.
  const bool is_any = findings.framework.empty() && !advice.settings.empty();
  return beneath == nullptr && is_any ? &advice.settings.front() : beneath;
}

std::vector<std::string> asked_rules(const FindingsAnswer& findings) {
  std::vector<std::string> rules;
  for (const diagnose::Rule& rule : findings.book.rules()) {
    const auto& unasked = findings.diagnosis.abstentions;
    if (std::ranges::find(unasked, rule.id, &diagnose::Abstention::rule) == unasked.end()) {
      rules.push_back(rule.id);
    }
  }
  return rules;
}

std::vector<Unasked> unasked_rules(const FindingsAnswer& findings) {
  std::vector<Unasked> kinds;
  for (const diagnose::Abstention& one : findings.diagnosis.abstentions) {
    const diagnose::Rule* rule = findings.book.find(one.rule);
    const std::string record = rule == nullptr ? std::string() : rule->record;
    auto known = std::ranges::find_if(kinds, [&](const Unasked& kind) {
      return kind.missing == one.missing && kind.record == record;
    });
    if (known == kinds.end()) {
      kinds.push_back({one.missing, {}, record});
      known = kinds.end() - 1;
    }
    known->rules.push_back(one.rule);
  }
  return kinds;
}

double profile_us(const DiagnoseAnswer& answer, RankId rank, std::int64_t time_ns) {
  const auto found = std::ranges::find(answer.ranks, rank,
                                       [](const DiagnosedRank& one) { return one.summary.rank; });
  const std::int64_t base = found == answer.ranks.end() ? 0 : found->summary.base_ns;
  return static_cast<double>(time_ns - base) * 1e-3;
}

}  // namespace sextant::explain
