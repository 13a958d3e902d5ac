// The habits, in the order they are followed:
//   1. Tensor parallelism first and inside a node only, then pipeline stages, and no more of both
//      than the model needs to fit; data parallelism takes the rest. (Narayanan et al. 2021,
//      arXiv:2104.04473, takeaways 1 and 2.)
//   2. Sequence parallelism with tensor parallelism. Activations are kept where flash attention
//      makes that cheap, else attention alone is recomputed; whole layers only where nothing else
//      fits. (Korthikanti et al. 2022, arXiv:2205.05198, section 6.)
//   3. Experts spread over the scale-up domain, not split: ep as large as experts and domain allow,
//      beyond the domain only where the model fits in no other way; stages before tensor
//      parallelism. (Scalable Training of Mixture-of-Experts Models with Megatron Core,
//      arXiv:2603.07685, section 9.1, guidelines 1 to 4.)
//   4. Interleaved stages where batch and layers divide, embedding and loss counted as layers where
//      that makes them: the most chunks of equal size, eight at most, as the largest recipe of
//      Megatron-Bridge has (Llama 3.1 405B).
//   5. The distributed optimizer, gradients and parameters behind compute.
//   6. The fastest of 1, 2 and 4 sequences a microbatch (takeaway 3): tried, as the paper says.
// Context parallelism is not among them: it is for sequences longer than the papers'.
#include <algorithm>

#include "base/integers.h"
#include "describe/layout/framework_defaults.h"
#include "describe/layout/pipeline_split.h"
#include "search/baselines/pricer.h"

namespace sextant::search {
namespace {

using describe::Layout;
using describe::Overlap;
using describe::Recompute;
using describe::RecomputePolicy;

constexpr std::int64_t kMostRuleChunks = 8;
constexpr std::int64_t kMostRuleSequences = 4;

template <class T>
bool holds(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

class Rule {
 public:
  explicit Rule(const Problem& problem)
      : problem_(problem), choices_(choices_of(problem)), pricer_(problem) {}

  BaselineResult result() {
    std::optional<Plan> best;
    if (const std::optional<Layout> chosen = smallest_that_fits()) {
      const std::int64_t first = chosen->mbs;
      for (const std::int64_t mbs : choices_.mbs) {
        Layout layout = *chosen;
        layout.mbs = mbs;
        if (mbs >= first && (mbs <= kMostRuleSequences || mbs == first)) {
          try_chunks(layout, best);
        }
      }
    }
    return {best, pricer_.calls()};
  }

 private:
  // Habits 1 to 3.
  std::optional<Layout> smallest_that_fits() {
    for (const std::int64_t ep : expert_spreads()) {
      for (const RecomputePolicy& policy : policies()) {
        if (std::optional<Layout> layout = smallest_that_fits(ep, policy)) {
          return layout;
        }
      }
    }
    return std::nullopt;
  }

  std::optional<Layout> smallest_that_fits(std::int64_t ep, const RecomputePolicy& policy) {
    for (const auto& [tp, pp] : splits_of_the_model()) {
      Layout layout = layout_of(tp, pp, ep, policy);
      if (pricer_.is_legal(layout) && pricer_.fits(layout)) {
        return layout;
      }
    }
    return std::nullopt;
  }

  // tp and pp. tp alone up to a node, then pp at that tp; with experts the smallest product, of
  // equal ones the least tp. Where heads allow no such tp the rules refuse it, and the next is
  // taken.
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> splits_of_the_model() const {
    std::vector<std::int64_t> inside;
    for (const std::int64_t tp : choices_.tp) {
      if (is_power_of_two(tp) && tp <= problem_.machine.domain_size && tp <= node()) {
        inside.push_back(tp);
      }
    }
    if (inside.empty()) {
      inside = choices_.tp;  // fixed
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> list;
    for (const std::int64_t tp : inside) {
      list.emplace_back(tp, choices_.pp.front());
    }
    std::reverse(inside.begin(), inside.end());
    for (const std::int64_t tp : inside) {
      for (const std::int64_t pp : choices_.pp) {
        if (pp > choices_.pp.front()) {
          list.emplace_back(tp, pp);
        }
      }
    }
    if (describe::has_experts(problem_.job.model)) {
      std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first * a.second, a.first) < std::pair(b.first * b.second, b.first);
      });
    }
    return list;
  }

  [[nodiscard]] std::int64_t node() const { return problem_.job.cluster.devices_per_node(); }

  // The largest that the domain allows, then larger ones.
  [[nodiscard]] std::vector<std::int64_t> expert_spreads() const {
    std::int64_t experts = 1;
    for (const describe::Block& block : problem_.job.model.blocks) {
      if (const auto* moe = std::get_if<describe::MoeFfn>(&block.ffn)) {
        experts = std::max(experts, moe->experts);
      }
    }
    std::vector<std::int64_t> inside;
    std::vector<std::int64_t> beyond;
    for (const std::int64_t ep : choices_.ep) {
      if (experts % ep == 0) {
        (ep <= problem_.machine.domain_size ? inside : beyond).push_back(ep);
      }
    }
    if (inside.empty()) {
      return choices_.ep;
    }
    std::vector<std::int64_t> list{inside.back()};
    list.insert(list.end(), beyond.begin(), beyond.end());
    return list;
  }

  [[nodiscard]] std::vector<RecomputePolicy> policies() const {
    if (choices_.recompute.size() == 1) {
      return choices_.recompute;
    }
    RecomputePolicy attention;
    attention.granularity = Recompute::kSelective;
    attention.modules = {describe::RecomputeModule::kCoreAttention};
    RecomputePolicy whole;
    whole.granularity = Recompute::kFull;
    const bool flash = describe::is_flash(problem_.job.layout.attention);
    std::vector<RecomputePolicy> list;
    for (const RecomputePolicy& policy : {flash ? RecomputePolicy{} : attention, whole}) {
      if (holds(choices_.recompute, policy)) {
        list.push_back(policy);
      }
    }
    return list.empty() ? choices_.recompute : list;
  }

  [[nodiscard]] Layout layout_of(std::int64_t tp, std::int64_t pp, std::int64_t ep,
                                 const RecomputePolicy& policy) const {
    Layout layout = problem_.job.layout;
    layout.tp = tp;
    layout.pp = pp;
    layout.ep = ep;
    layout.cp = choices_.cp.front();
    layout.etp = choices_.etp.front();
    layout.mbs = choices_.mbs.front();
    layout.vpp = choices_.vpp.front();
    layout.sp = tp > 1 && choices_.sp.front();
    layout.cp_method = choices_.cp_methods.front();
    layout.dispatcher = choices_.dispatchers.front();
    layout.schedule = pp > 1 ? choices_.schedules.front() : describe::Schedule::k1f1b;
    layout.order = choices_.orders.front();
    layout.recompute = policy;
    layout.zero = choices_.zero.front();
    if (!problem_.is_fixed("layers_per_stage")) {
      layout.split = describe::plausible_split(problem_.job.model.layer_count(), pp);
    }
    layout.overlap = choices_.always;
    for (const Overlap what : {Overlap::kGradReduce, Overlap::kParamGather}) {
      if (holds(choices_.switches, what) &&
          (what == Overlap::kGradReduce || layout.zero != describe::Zero::kNone)) {
        layout.overlap.push_back(what);
      }
    }
    std::sort(layout.overlap.begin(), layout.overlap.end());
    return layout;
  }

  // Habit 4, or without chunks where it may not or does not fit.
  void try_chunks(const Layout& layout, std::optional<Plan>& best) {
    const std::int64_t layers = problem_.job.model.layer_count();
    if (layout.pp > 1 && !problem_.is_fixed("vpp") && !problem_.is_fixed("layers_per_stage") &&
        holds(choices_.schedules, describe::Schedule::kInterleaved1f1b)) {
      for (std::int64_t chunks = kMostRuleChunks; chunks > 1; --chunks) {
        Layout at = layout;
        at.vpp = chunks;
        at.schedule = describe::Schedule::kInterleaved1f1b;
        at.split = describe::plausible_split(layers, at.stages());
        if (holds(choices_.switches, Overlap::kPipeline)) {
          at.overlap.push_back(Overlap::kPipeline);
          std::sort(at.overlap.begin(), at.overlap.end());
        }
        const bool even = at.split.layers_per_stage.empty();
        if (even && pricer_.is_legal(at) && pricer_.fits(at)) {
          pricer_.improve(at, best);
          return;
        }
      }
    }
    if (pricer_.is_legal(layout)) {
      pricer_.improve(layout, best);
    }
  }

  const Problem& problem_;
  Choices choices_;
  Pricer pricer_;
};

}  // namespace

BaselineResult megatron_rule(const Problem& problem) {
  return Rule(problem).result();
}

}  // namespace sextant::search
