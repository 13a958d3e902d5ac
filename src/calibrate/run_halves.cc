#include "calibrate/run_halves.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "calibrate/spread_fit.h"
#include "calibrate/step_fit.h"

namespace sextant::calibrate {
namespace {

constexpr std::size_t kFewestSamples = 12;

double share_of(const std::vector<bool>& held) {
  return static_cast<double>(std::ranges::count(held, true)) / static_cast<double>(held.size());
}

std::array<std::vector<RunSample>, 2> halves_of(const std::vector<RunSample>& samples) {
  std::set<std::string> systems;
  for (const RunSample& sample : samples) {
    systems.insert(sample.system);
  }
  std::map<std::string, std::size_t> half;
  for (const std::string& system : systems) {
    const std::size_t number = half.size();
    half[system] = number % 2;
  }
  std::array<std::vector<RunSample>, 2> halves;
  for (const RunSample& sample : samples) {
    halves[half[sample.system]].push_back(sample);
  }
  return halves;
}

std::int64_t system_count(const std::vector<RunSample>& samples) {
  std::set<std::string> systems;
  for (const RunSample& sample : samples) {
    systems.insert(sample.system);
  }
  return static_cast<std::int64_t>(systems.size());
}

// What the constants as they are now score.
RunHalf scored_now(const std::vector<RunSample>& samples) {
  RunHalf half;
  half.rows = static_cast<std::int64_t>(samples.size());
  half.systems = system_count(samples);
  half.now = macro_error(samples, predicted_steps(samples));
  return half;
}

}  // namespace

Result<std::vector<RunHalf>> run_halves(const std::vector<RunSample>& samples) {
  const std::array<std::vector<RunSample>, 2> halves = halves_of(samples);
  if (std::min(halves[0].size(), halves[1].size()) < kFewestSamples) {
    return std::vector<RunHalf>();
  }
  std::vector<RunHalf> found{scored_now(halves[0]), scored_now(halves[1])};
  for (std::size_t fitted = 0; fitted < 2; ++fitted) {
    const std::vector<RunSample>& own = halves[fitted];
    const std::vector<RunSample>& other = halves[1 - fitted];
    const StepFit fit = fit_step(own, middle_place());
    describe::StepFacts facts = own.front().model->facts;
    put_place(fit.place, facts);
    const std::vector<Seconds> of_own = predicted_steps(own, facts);
    const std::vector<Seconds> of_other = predicted_steps(other, facts);
    SEXTANT_TRY(const describe::StepSpreads spreads, fit_spreads(own, of_own, "one half"));
    found[fitted].fitted = macro_error(own, of_own);
    found[fitted].covered = share_of(inside(own, of_own, spreads));
    found[1 - fitted].left_out = macro_error(other, of_other);
    found[1 - fitted].covered_left_out = share_of(inside(other, of_other, spreads));
    for (std::size_t i = 0; i < kStepConstants; ++i) {
      found[fitted].constants.emplace_back(step_constants()[i].key, constant_text(i, fit.place[i]));
    }
  }
  return found;
}

Result<std::vector<RunHalf>> run_halves(const std::vector<measured::Row>& rows,
                                        const describe::DataStore& data) {
  return run_halves(run_samples(rows, data));
}

}  // namespace sextant::calibrate
