#include "agents/mesh_traffic.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/bottleneck.h"

namespace sextant::agents {
namespace {

double part_of_others(std::int64_t size) {
  return static_cast<double>(size - 1) / static_cast<double>(size);
}

// In units that cancel in a ratio.
double traffic_of(Traffic traffic, const CaseMesh& mesh) {
  const auto seq = mesh[CaseAxis::kSeq];
  const auto model = static_cast<double>(mesh[CaseAxis::kModel]);
  const auto batch_parts = static_cast<double>(mesh.batch_parts());
  const std::int64_t token_parts = saturating_product({mesh.batch_parts(), seq});
  switch (traffic) {
    case Traffic::kTensor:
      return part_of_others(mesh[CaseAxis::kModel]) / static_cast<double>(token_parts);
    case Traffic::kSequence:
      return part_of_others(seq) / model / batch_parts;
    case Traffic::kGradients:
      return part_of_others(token_parts) / model;
    case Traffic::kWeights:
      return 1.0 / model;
  }
  return 0.0;
}

// Lower case, words joined by '-'.
std::string operator_words(const CaseOperator& one) {
  std::string text = one.name + "\n" + one.category;
  std::ranges::transform(text, text.begin(), [](char c) {
    return c == ' ' || c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

bool holds_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool is_attention(std::string_view words) {
  return holds_any(words, {"attention", "splash", "flash", "dkv", "dq"});
}
// A product that gathers its operand or scatters its result as it goes.
bool is_fused_product(std::string_view words) {
  return holds_any(words, {"matrix-multiplication", "matmul"}) &&
         holds_any(words, {"gather", "scatter", "collective"});
}

// Occurrences of what runs once a layer: attention kernels, and exchanges of the seq axis. Nothing
// where none was told.
std::optional<double> layer_occurrences(const Case& profiled, const CaseMesh& mesh) {
  std::optional<double> least;
  for (const CaseOperator& one : profiled.operators) {
    const std::string words = operator_words(one);
    const bool is_exchange =
        mesh[CaseAxis::kSeq] > 1 && holds_any(words, {"permute", "point-to-point", "all-to-all"});
    if (one.occurrences && (is_attention(words) || is_exchange)) {
      const auto times = static_cast<double>(*one.occurrences);
      least = std::min(least.value_or(times), times);
    }
  }
  return least;
}

// Gradients are summed once a step, activations of a model axis at least once a layer and pass: an
// operator that runs less often than a layer's own sums gradients. Within a tenth: profiles begin
// and end inside a step.
bool runs_in_every_layer(const CaseOperator& one, const std::optional<double>& layers) {
  constexpr double kWholeSteps = 0.9;
  return !one.occurrences || !layers ||
         static_cast<double>(*one.occurrences) >= kWholeSteps * *layers;
}

// Whose traffic a collective carries; nothing where its name does not tell.
std::optional<Traffic> traffic_named(const CaseOperator& one, const CaseMesh& mesh,
                                     const std::optional<double>& layers) {
  const std::string words = operator_words(one);
  const bool has_model = mesh[CaseAxis::kModel] > 1;
  if (holds_any(words, {"all-reduce", "reduce-scatter"})) {
    return has_model && runs_in_every_layer(one, layers) ? Traffic::kTensor : Traffic::kGradients;
  }
  if (holds_any(words, {"permute", "point-to-point", "all-to-all"})) {
    return mesh[CaseAxis::kSeq] > 1 ? std::optional(Traffic::kSequence)
           : has_model              ? std::optional(Traffic::kTensor)
                                    : std::nullopt;
  }
  if (holds_any(words, {"all-gather"})) {
    // One that is waited for apart was begun ahead: weights can be, activations cannot.
    const bool ahead = holds_any(words, {"async", "done", "start"});
    return has_model && !ahead ? Traffic::kTensor : Traffic::kGradients;
  }
  return std::nullopt;
}

class Blaming {
 public:
  explicit Blaming(const BlameFacts& facts)
      : facts_(facts), layers_(layer_occurrences(facts.profiled, facts.mesh)) {}

  Blames blames() && {
    for (const CaseOperator& one : facts_.profiled.operators) {
      told_ += one.share;
    }
    for (const CaseOperator& one : facts_.profiled.operators) {
      look_at(one);
    }
    for (const CaseOperator* one : unnamed_) {
      give_to_its_like(*one);
    }
    drop_hidden_sequence();
    for (auto& [traffic, blame] : by_traffic_) {
      if (blame.share > 0.0 && told_ > 0.0) {
        blame.share /= told_;
        blames_.by_share.push_back(std::move(blame));
      }
    }
    std::ranges::stable_sort(blames_.by_share, std::greater<>(), &Blame::share);
    return std::move(blames_);
  }

 private:
  void put(Traffic traffic, const CaseOperator& one, double share) {
    Blame& blame = by_traffic_[traffic];
    blame.traffic = traffic;
    blame.share += share;
    if (std::ranges::find(blame.operators, one.name) == blame.operators.end()) {
      blame.operators.push_back(one.name);
    }
  }

  void look_at(const CaseOperator& one) {
    const std::string words = operator_words(one);
    if (is_fused_product(words)) {
      look_at_product(one);
    } else if (diagnose::names_collective(one.name, one.category)) {
      const auto traffic = traffic_named(one, facts_.mesh, layers_);
      if (traffic) {
        put(*traffic, one, one.share);
        blames_.are_weights_copied =
            blames_.are_weights_copied ||
            (*traffic == Traffic::kGradients && holds_any(words, {"all-reduce"}) &&
             !holds_any(words, {"scatter"}));
      } else {
        unnamed_.push_back(&one);
      }
    } else if (facts_.bottleneck == diagnose::Bottleneck::kMemory &&
               one.bound == metrics::OperatorBound::kMemory && !is_attention(words) &&
               facts_.mesh[CaseAxis::kModel] == 1) {
      put(Traffic::kWeights, one, one.share);
    }
  }

  // One that reaches more than half of its roof computes for most of its time: the transfer inside
  // it is hidden.
  void look_at_product(const CaseOperator& one) {
    constexpr double kMost = 0.5;
    const double efficiency = one.efficiency.value_or(1.0);
    if (efficiency >= kMost) {
      blames_.remarks.push_back(fmt::format(
          "{} reaches {} of its roof: what it transfers is hidden under its product", one.name,
          one.efficiency ? fmt::format("{:.0f} %", 100.0 * *one.efficiency)
                         : std::string("an unknown share")));
      return;
    }
    put(facts_.mesh[CaseAxis::kModel] > 1 ? Traffic::kTensor : Traffic::kGradients, one,
        one.share * (1.0 - efficiency));
  }

  // A completion belongs to the collectives that run as often as it; where that is not told, to
  // those that take most of the time.
  void give_to_its_like(const CaseOperator& unnamed) {
    std::map<Traffic, double> by_count;
    std::map<Traffic, double> by_time;
    for (const CaseOperator& one : facts_.profiled.operators) {
      const auto traffic = diagnose::names_collective(one.name, one.category)
                               ? traffic_named(one, facts_.mesh, layers_)
                               : std::nullopt;
      if (traffic) {
        by_time[*traffic] += one.share;
        if (one.occurrences && one.occurrences == unnamed.occurrences) {
          by_count[*traffic] += one.share;
        }
      }
    }
    const std::map<Traffic, double>& like = by_count.empty() ? by_time : by_count;
    const auto most =
        std::ranges::max_element(like, {}, [](const auto& one) { return one.second; });
    if (most == like.end()) {
      blames_.remarks.push_back(
          fmt::format("whose traffic {} waits for is not told", unnamed.name));
      return;
    }
    put(most->first, unnamed, unnamed.share);
  }

  // In a run that computes. Where collectives hold it up, they are not hidden, whatever arithmetic
  // says.
  void drop_hidden_sequence() {
    const std::int64_t seq = facts_.mesh[CaseAxis::kSeq];
    const auto blame = by_traffic_.find(Traffic::kSequence);
    if (!facts_.profiled.sequence_length || seq <= 1) {
      return;
    }
    const double block =
        static_cast<double>(*facts_.profiled.sequence_length) / static_cast<double>(seq);
    blames_.is_sequence_hidden = block >= facts_.hidden_block;
    if (blame == by_traffic_.end() || !*blames_.is_sequence_hidden ||
        facts_.bottleneck != diagnose::Bottleneck::kCompute) {
      return;
    }
    blames_.remarks.push_back(
        fmt::format("blocks of {:.0f} tokens on the seq axis are longer than the {:.0f} from which "
                    "on attention "
                    "hides their exchange: it is not blamed",
                    block, facts_.hidden_block));
    by_traffic_.erase(blame);
  }

  const BlameFacts& facts_;
  std::optional<double> layers_;
  double told_ = 0.0;
  std::map<Traffic, Blame> by_traffic_;
  std::vector<const CaseOperator*> unnamed_;
  Blames blames_;
};

}  // namespace

double traffic_ratio(Traffic traffic, const CaseMesh& before, const CaseMesh& after) {
  const double was = traffic_of(traffic, before);
  return was > 0.0 ? traffic_of(traffic, after) / was : 1.0;
}

double token_ratio(const CaseMesh& before, const CaseMesh& after) {
  const auto parts = [](const CaseMesh& mesh) {
    return static_cast<double>(saturating_product({mesh.batch_parts(), mesh[CaseAxis::kSeq]}));
  };
  return parts(before) / parts(after);
}

Blames blames_of(const BlameFacts& facts) {
  return Blaming(facts).blames();
}

}  // namespace sextant::agents
