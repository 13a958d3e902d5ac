#include "diagnose/bottleneck.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::diagnose {
namespace {

using metrics::OperatorBound;

// Shares of the operators' time that each bound takes.
struct BoundShares {
  double compute = 0.0;
  double memory = 0.0;
  double unknown = 0.0;
  double collective = 0.0;  // of all, whatever binds them
  [[nodiscard]] double all() const { return compute + memory + unknown; }
};

void add_share(const GuiltyOperator& one, BoundShares& shares) {
  switch (one.bound) {
    case OperatorBound::kCompute:
      shares.compute += one.share;
      break;
    case OperatorBound::kMemory:
    case OperatorBound::kOnChip:
      shares.memory += one.share;
      break;
    case OperatorBound::kUnknown:
      shares.unknown += one.share;
      break;
  }
  shares.collective += one.is_collective ? one.share : 0.0;
}

BoundShares bound_shares(const std::vector<GuiltyOperator>& operators, bool with_collectives) {
  BoundShares shares;
  for (const GuiltyOperator& one : operators) {
    if (with_collectives || !one.is_collective) {
      add_share(one, shares);
    }
  }
  return shares;
}

constexpr std::size_t kMostGuilty = 5;

bool is_of(const GuiltyOperator& one, Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::kCompute:
      return one.bound == OperatorBound::kCompute;
    case Bottleneck::kMemory:
      return one.bound == OperatorBound::kMemory || one.bound == OperatorBound::kOnChip;
    case Bottleneck::kCommunication:
      return one.is_collective;
    case Bottleneck::kStall:
      break;
  }
  return false;
}

std::vector<std::string> guilty(const std::vector<GuiltyOperator>& operators,
                                Bottleneck bottleneck) {
  std::vector<GuiltyOperator> of_class;
  std::ranges::copy_if(operators, std::back_inserter(of_class),
                       [&](const GuiltyOperator& one) { return is_of(one, bottleneck); });
  std::ranges::stable_sort(of_class, std::greater<>(), &GuiltyOperator::share);
  std::vector<std::string> names;
  for (const GuiltyOperator& one : of_class) {
    if (names.size() < kMostGuilty && std::ranges::find(names, one.name) == names.end()) {
      names.push_back(one.name);
    }
  }
  return names;
}

BottleneckClass made(const BottleneckFacts& facts, Bottleneck bottleneck, std::string reason) {
  return {.bottleneck = bottleneck,
          .operators = guilty(facts.operators, bottleneck),
          .reason = std::move(reason)};
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100.0 * share);
}

// By what binds most of the time of which a bound is known.
BottleneckClass by_bounds(const BottleneckFacts& facts, const BoundShares& shares) {
  const double known = shares.compute + shares.memory;
  if (known <= 0.0) {
    return made(facts, Bottleneck::kCompute,
                fmt::format("busy {} of the step; what binds its operators is not known",
                            percent(facts.duty_cycle)));
  }
  const bool is_memory = shares.memory > shares.compute;
  const double share = (is_memory ? shares.memory : shares.compute) / known;
  return made(facts, is_memory ? Bottleneck::kMemory : Bottleneck::kCompute,
              is_memory ? fmt::format("busy {} of the step, yet memory binds {} of the operators' "
                                      "time that is known: what they do overrules the duty cycle",
                                      percent(facts.duty_cycle), percent(share))
                        : fmt::format("busy {} of the step, and compute binds {} of the "
                                      "operators' time that is known",
                                      percent(facts.duty_cycle), percent(share)));
}

BottleneckClass by_operators(const BottleneckFacts& facts) {
  const BoundShares shares = bound_shares(facts.operators, true);
  // A device that idles for most of a step is held up by what it waits for.
  constexpr double kMost = 0.5;
  if (facts.duty_cycle < kMost) {
    return made(facts, Bottleneck::kStall,
                fmt::format("busy only {} of the step", percent(facts.duty_cycle)));
  }
  // What is left beside collectives then is too little to be what holds a run up.
  constexpr double kNearlyAll = 0.9;
  if (shares.all() > 0.0 && shares.collective >= kNearlyAll * shares.all()) {
    return made(facts, Bottleneck::kCommunication,
                fmt::format("collectives take {} of the time of the operators that are told, "
                            "though the device is busy {} of the step",
                            percent(shares.collective / shares.all()), percent(facts.duty_cycle)));
  }
  return by_bounds(facts, shares);
}

}  // namespace

bool names_collective(const std::string& name, const std::string& category) {
  // Source: XLA's opcodes (xla/hlo/ir/hlo_opcode.h) and what it names after them.
  constexpr std::array<std::string_view, 10> kWords{
      "all-reduce",       "all-gather",         "reduce-scatter",
      "all-to-all",       "collective-permute", "collective-broadcast",
      "point-to-point",   "collective",         "nccl",
      "ragged-all-to-all"};
  std::string text = name + "\n" + category;
  std::ranges::transform(text, text.begin(), [](char c) {
    return c == ' ' || c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  // A product that gathers as it goes is a product.
  const bool multiplies = text.find("matrix-multiplication") != std::string::npos ||
                          text.find("matmul") != std::string::npos;
  return !multiplies && std::ranges::any_of(kWords, [&](std::string_view word) {
    return text.find(word) != std::string::npos;
  });
}

BottleneckClass bottleneck_of(const BottleneckFacts& facts) {
  if (!facts.exposed) {
    return by_operators(facts);
  }
  const double transfer = std::max(0.0, *facts.exposed - facts.waiting);
  const double stall =
      std::max(0.0, 1.0 - facts.duty_cycle) + std::min(facts.waiting, *facts.exposed);
  const double busy = std::max(0.0, 1.0 - stall - transfer);
  const BoundShares shares = bound_shares(facts.operators, false);
  const double known = shares.compute + shares.memory;
  const double memory = known > 0.0 ? busy * shares.memory / known : 0.0;
  const double compute = busy - memory;
  if (stall > std::max({transfer, memory, compute})) {
    return made(facts, Bottleneck::kStall,
                facts.waiting > 0.0
                    ? fmt::format("waits for {} of the step, {} of it for other ranks",
                                  percent(stall), percent(facts.waiting / stall))
                    : fmt::format("idle for {} of the step", percent(stall)));
  }
  if (transfer > std::max(memory, compute)) {
    return made(facts, Bottleneck::kCommunication,
                fmt::format("transfers that nothing hides take {} of the step", percent(transfer)));
  }
  return by_bounds(facts, shares);
}

namespace {

// Of the time of collectives that several ranks saw, how much waits for the last to come.
double waiting_share(const metrics::Summary& summary) {
  double waiting = 0.0;
  double all = 0.0;
  for (const metrics::MatchedCollective& match : metrics::matched_collectives(summary)) {
    for (const metrics::SeenBy& seen : match.seen) {
      const auto took = static_cast<double>(seen.end_ns - seen.start_ns);
      all += took;
      waiting += took - static_cast<double>(match.transfer_ns());
    }
  }
  return all > 0.0 ? waiting / all : 0.0;
}

}  // namespace

BottleneckFacts bottleneck_facts(const Scene& scene) {
  BottleneckFacts facts;
  const Seconds step = scene.step;
  const auto share_of = [&](StepPart part) {
    return scene.parts[static_cast<std::size_t>(part)] / step;
  };
  facts.duty_cycle = 1.0 - share_of(StepPart::kIdle);
  facts.exposed = share_of(StepPart::kExposedCommunication);
  facts.waiting = *facts.exposed * waiting_share(*scene.summary);
  for (const metrics::OperatorRoofline& one :
       metrics::top_operators(scene.operators, scene.peaks, scene.operators.size())) {
    facts.operators.push_back({.name = one.name,
                               .share = one.share,
                               .bound = one.bound,
                               .efficiency = one.efficiency,
                               .is_collective = names_collective(one.name, one.category)});
  }
  return facts;
}

}  // namespace sextant::diagnose
