#include "calibrate/step_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "step/estimate.h"

namespace sextant::calibrate {
namespace {

constexpr std::size_t kLoop = 5;
constexpr std::size_t kUneven = 6;
// Before these the step is not a sum with them.
constexpr std::size_t kInside = kLoop;
constexpr double kMostError = 1.0;
// Of a source no more rows than this: its mean is known well enough.
constexpr std::size_t kMostOfSource = 160;
// What a move must gain: less is noise of the rows.
constexpr double kGain = 2e-5;
constexpr std::array<int, 4> kSteps{8, 4, 2, 1};

// Bounds are what is known beside the runs: kernels of communication take compute units while they
// run, expert overlap that hides less than half would not be switched on, and devices of one kind
// are within some percent of each other.
constexpr std::array<StepConstant, kStepConstants> kConstants{{
    {"hidden_tensor", 0.05, 0, 20, "ratio"},
    {"hidden_expert", 0.05, 10, 20, "ratio"},
    {"hiding_compute", 0.05, 6, 20, "ratio"},
    {"slowed", 0.01, 5, 40, "ratio"},
    {"host", 0.05, 6, 30, "ratio"},
    {"loop", 1.0, 0, 60, "ms"},
    {"uneven", 0.005, 0, 12, "ratio"},
}};

describe::Sourced<double>& ratio_of(std::size_t constant, describe::StepFacts& facts) {
  const std::array<describe::Sourced<double>*, kStepConstants> all{
      &facts.hidden_tensor, &facts.hidden_expert, &facts.hiding_compute,
      &facts.slowed,        &facts.host,          nullptr,
      &facts.uneven};
  return *all[constant];
}

double grid_value(std::size_t constant, int line) {
  return static_cast<double>(line) * kConstants[constant].grid;
}

// What of a step the loop and uneven devices do not change, and what they are multiplied with.
struct Parts {
  double rest = 0.0;     // seconds
  double compute = 0.0;  // alone
  bool operator==(const Parts&) const = default;
};

Parts parts_at(const describe::Job& job, const step::StepModel& model) {
  const step::StepEstimate estimate = step::estimate_step(job, model);
  return {(estimate.step - estimate.beside) / 1_s, (estimate.compute - estimate.slowed) / 1_s};
}

double step_seconds(const Parts& parts, const StepPlace& place) {
  return parts.rest + grid_value(kLoop, place[kLoop]) / 1e3 +
         parts.compute * grid_value(kUneven, place[kUneven]);
}

using InsidePlace = std::array<int, kInside>;

// Where all is hidden that can be: from here every constant shows what it moves.
StepPlace hiding_corner() {
  StepPlace place{};
  for (std::size_t i = 0; i < kStepConstants; ++i) {
    place[i] = kConstants[i].most;
  }
  return place;
}

// One row: predictions by the constants it depends on.
class FitRow {
 public:
  explicit FitRow(const RunSample& sample)
      : job_(sample.job), model_(*sample.model), measured_(sample.measured / 1_s) {
    const StepPlace corner = hiding_corner();
    const Parts parts = computed(corner);
    for (std::size_t i = 0; i < kInside; ++i) {
      StepPlace other = corner;
      other[i] = kConstants[i].least + kConstants[i].most - corner[i];
      depends_[i] = computed(other) != parts;
    }
  }

  [[nodiscard]] bool depends(std::size_t constant) const {
    return constant >= kInside || depends_[constant];
  }

  double error(const StepPlace& place) {
    InsidePlace key{};
    for (std::size_t i = 0; i < kInside; ++i) {
      key[i] = depends_[i] ? place[i] : 0;
    }
    auto found = known_.find(key);
    if (found == known_.end()) {
      found = known_.emplace(key, computed(place)).first;
    }
    return std::min(kMostError, std::abs(step_seconds(found->second, place) / measured_ - 1.0));
  }

 private:
  Parts computed(const StepPlace& place) {
    put_place(place, model_.facts);
    return parts_at(*job_, model_);
  }

  measured::JobPointer job_;
  step::StepModel model_;
  double measured_ = 1.0;
  std::array<bool, kInside> depends_{};
  std::map<InsidePlace, Parts> known_;
};

class Fitter {
 public:
  explicit Fitter(const std::vector<RunSample>& samples) {
    std::map<std::string, std::vector<const RunSample*>> sources;
    for (const RunSample& sample : samples) {
      sources[sample.source].push_back(&sample);
    }
    for (const auto& [name, own] : sources) {
      std::vector<FitRow>& rows = sources_.emplace_back();
      const std::size_t every = (own.size() + kMostOfSource - 1) / kMostOfSource;
      for (std::size_t i = 0; i < own.size(); i += every) {
        rows.emplace_back(*own[i]);
      }
    }
  }

  double objective(const StepPlace& place) {
    const auto known = known_.find(place);
    if (known != known_.end()) {
      return known->second;
    }
    double sum = 0.0;
    for (std::vector<FitRow>& rows : sources_) {
      double own = 0.0;
      for (FitRow& row : rows) {
        own += row.error(place);
      }
      sum += own / static_cast<double>(rows.size());
    }
    const double value = sources_.empty() ? 0.0 : sum / static_cast<double>(sources_.size());
    known_.emplace(place, value);
    return value;
  }

  [[nodiscard]] std::int64_t dependent(std::size_t constant) const {
    std::int64_t rows = 0;
    for (const std::vector<FitRow>& own : sources_) {
      rows += std::ranges::count_if(
          own, [constant](const FitRow& row) { return row.depends(constant); });
    }
    return rows;
  }

  [[nodiscard]] std::int64_t samples() const {
    std::size_t rows = 0;
    for (const std::vector<FitRow>& own : sources_) {
      rows += own.size();
    }
    return static_cast<std::int64_t>(rows);
  }
  [[nodiscard]] std::int64_t sources() const { return static_cast<std::int64_t>(sources_.size()); }
  [[nodiscard]] std::int64_t tried() const { return static_cast<std::int64_t>(known_.size()); }

 private:
  std::vector<std::vector<FitRow>> sources_;
  std::map<StepPlace, double> known_;
};

// The place with one constant moved; nothing beyond its bounds.
std::optional<StepPlace> moved(StepPlace place, std::size_t constant, int by) {
  const int line = place[constant] + by;
  if (line < kConstants[constant].least || line > kConstants[constant].most) {
    return std::nullopt;
  }
  place[constant] = line;
  return place;
}

// Moves one constant as long as that gains; true where it moved.
bool improve(std::size_t constant, int step, Fitter& fitter, StepPlace& place) {
  bool any = false;
  for (const int by : {step, -step}) {
    while (const auto next = moved(place, constant, by)) {
      if (fitter.objective(*next) > fitter.objective(place) - kGain) {
        break;
      }
      place = *next;
      any = true;
    }
  }
  return any;
}

// The same of two at once: where |errors| bend, no single move may gain.
bool improve_both(std::size_t one, std::size_t other, int step, Fitter& fitter, StepPlace& place) {
  bool any = false;
  for (const auto& [by, beside] : {std::pair(step, -step), std::pair(-step, step),
                                   std::pair(step, step), std::pair(-step, -step)}) {
    const auto first = moved(place, one, by);
    const auto next = first ? moved(*first, other, beside) : std::nullopt;
    if (next && fitter.objective(*next) < fitter.objective(place) - kGain) {
      place = *next;
      any = true;
    }
  }
  return any;
}

bool improve_pairs(int step, const std::array<bool, kStepConstants>& fitted, Fitter& fitter,
                   StepPlace& place) {
  bool any = false;
  for (std::size_t one = 0; one < kStepConstants; ++one) {
    for (std::size_t other = one + 1; other < kStepConstants; ++other) {
      if (fitted[one] && fitted[other]) {
        any = improve_both(one, other, step, fitter, place) || any;
      }
    }
  }
  return any;
}

// One by one, then in pairs, until no move of this step gains.
bool improve_all(int step, const std::array<bool, kStepConstants>& fitted, Fitter& fitter,
                 StepPlace& place) {
  constexpr int kMostRounds = 8;
  const StepPlace start = place;
  bool any = true;
  for (int round = 0; round < kMostRounds && any; ++round) {
    any = false;
    for (std::size_t i = 0; i < kStepConstants; ++i) {
      any = (fitted[i] && improve(i, step, fitter, place)) || any;
    }
    any = any || improve_pairs(step, fitted, fitter, place);
  }
  return place != start;
}

// From the longest steps to the shortest, again and again until none gains.
StepPlace descended(StepPlace place, const std::array<bool, kStepConstants>& fitted,
                    Fitter& fitter) {
  constexpr int kMostCycles = 4;
  bool any = true;
  for (int cycle = 0; cycle < kMostCycles && any; ++cycle) {
    any = false;
    for (const int step : kSteps) {
      any = improve_all(step, fitted, fitter, place) || any;
    }
  }
  return place;
}

}  // namespace

const std::array<StepConstant, kStepConstants>& step_constants() {
  return kConstants;
}

StepPlace place_of(const describe::StepFacts& facts) {
  describe::StepFacts copy = facts;
  StepPlace place{};
  for (std::size_t i = 0; i < kStepConstants; ++i) {
    const double value = i == kLoop ? copy.loop.value / 1_ms : ratio_of(i, copy).value;
    place[i] = std::clamp(static_cast<int>(std::lround(value / kConstants[i].grid)),
                          kConstants[i].least, kConstants[i].most);
  }
  return place;
}

void put_constant(std::size_t constant, int line, describe::StepFacts& facts) {
  if (constant == kLoop) {
    facts.loop.value = grid_value(constant, line) * 1_ms;
  } else {
    ratio_of(constant, facts).value = grid_value(constant, line);
  }
}

void put_place(const StepPlace& place, describe::StepFacts& facts) {
  for (std::size_t i = 0; i < kStepConstants; ++i) {
    put_constant(i, place[i], facts);
  }
}

StepPlace middle_place() {
  StepPlace place{};
  for (std::size_t i = 0; i < kStepConstants; ++i) {
    place[i] = (kConstants[i].least + kConstants[i].most) / 2;
  }
  return place;
}

std::string constant_text(std::size_t constant, int line) {
  return fmt::format("{:.4g} {}", grid_value(constant, line), kConstants[constant].unit);
}

StepFit fit_step(const std::vector<RunSample>& samples, const StepPlace& start) {
  Fitter fitter(samples);
  StepFit fit;
  fit.place = start;
  fit.before = fitter.objective(start);
  std::array<bool, kStepConstants> fitted{};
  for (std::size_t i = 0; i < kStepConstants; ++i) {
    fit.rows[i] = fitter.dependent(i);
    fitted[i] = fit.rows[i] >= kFewestRows;
  }
  fit.place = descended(start, fitted, fitter);
  fit.after = fitter.objective(fit.place);
  fit.samples = fitter.samples();
  fit.sources = fitter.sources();
  fit.tried = fitter.tried();
  return fit;
}

double macro_error(const std::vector<RunSample>& samples, const std::vector<Seconds>& predicted) {
  std::map<std::string, std::pair<double, double>> sources;  // sum and rows
  for (std::size_t i = 0; i < samples.size() && i < predicted.size(); ++i) {
    auto& [sum, rows] = sources[samples[i].source];
    sum += std::min(kMostError, std::abs(predicted[i] / samples[i].measured - 1.0));
    rows += 1.0;
  }
  double sum = 0.0;
  for (const auto& [source, own] : sources) {
    sum += own.first / own.second;
  }
  return sources.empty() ? 0.0 : sum / static_cast<double>(sources.size());
}

}  // namespace sextant::calibrate
