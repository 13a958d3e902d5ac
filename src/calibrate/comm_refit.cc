#include "calibrate/comm_refit.h"

#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "calibrate/comm_calls.h"

namespace sextant::calibrate {
namespace {

using cost::TimedCollective;

double error_of(const TimedCollective& call) {
  return std::abs(cost::predicted(call) / call.measured - 1.0);
}

// Errors before and after, as sums until they are shared out.
struct Errors {
  CommSizeChange all;
  std::array<CommSizeChange, measured::kSizeBuckets> sizes;
};

void add(double before, double after, CommSizeChange& sum) {
  sum.before += before;
  sum.after += after;
  ++sum.timings;
}

void share_out(CommSizeChange& sum) {
  const auto timings = static_cast<double>(sum.timings);
  sum.before = sum.timings > 0 ? sum.before / timings : 0.0;
  sum.after = sum.timings > 0 ? sum.after / timings : 0.0;
}

// The same calls with other values; REQUIRES: as many of both.
Errors errors_of(const std::vector<TimedCollective>& before,
                 const std::vector<TimedCollective>& after) {
  Errors errors;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const measured::SizeBucket bucket = measured::size_bucket(before[i].bytes);
    CommSizeChange& size = errors.sizes[static_cast<std::size_t>(bucket)];
    size.size = bucket;
    add(error_of(before[i]), error_of(after[i]), size);
    add(error_of(before[i]), error_of(after[i]), errors.all);
  }
  share_out(errors.all);
  for (CommSizeChange& size : errors.sizes) {
    share_out(size);
  }
  return errors;
}

std::vector<TimedCollective> with_constants(std::vector<TimedCollective> calls,
                                            std::span<const double> values, bool links) {
  for (TimedCollective& call : calls) {
    if (!values.empty()) {
      cost::put_values(values, links, call);
    }
  }
  return calls;
}

void put_errors(const Errors& errors, CommClassChange& said) {
  said.timings = errors.all.timings;
  said.before = errors.all.before;
  said.after = errors.all.after;
  for (const CommSizeChange& size : errors.sizes) {
    if (size.timings > 0) {
      said.sizes.push_back(size);
    }
  }
}

}  // namespace

Result<CommChange> comm_change(const CommFile& file, const CommRewrite& made,
                               const std::vector<TimedCollective>& calls,
                               const describe::DataStore& data) {
  SEXTANT_TRY(const CommContent before, comm_content(file, data));
  SEXTANT_TRY(const CommContent after, comm_content(file, made.text, "the fitted file"));
  CommChange change{made.text, after.numbers(), {}};
  change.said.file = file.path();
  change.said.name = before.name;
  change.said.systems = static_cast<std::int64_t>(systems_of(calls).size());
  const std::vector<TimedCollective> changed =
      with_constants(with_constants(calls, made.links, true), change.values, file.links);
  put_errors(errors_of(calls, changed), change.said);
  for (std::size_t i = 0; i < before.values.size(); ++i) {
    const CommValue& was = before.values[i];
    const CommValue& is = after.values[i];
    const std::int64_t timings = made.timings[i];
    change.said.keys.push_back(
        {was.key, was.written, is.written, timings, timings > 0 && was.number != is.number});
  }
  return change;
}

Result<CommChange> comm_refit(const CommFile& file, const CommOrigin& origin,
                              const std::vector<TimedCollective>& calls,
                              const describe::DataStore& data) {
  SEXTANT_TRY(const CommContent present, comm_content(file, data));
  const std::vector<double> start = present.numbers();
  CommRefit refit;
  refit.fit = file.links ? cost::fit_links(calls, start)
                         : cost::fit_network(with_constants(calls, origin.links, true), start);
  // Twice, because the file says what error its own values leave.
  SEXTANT_TRY(std::string draft, refitted_text(file, refit, data));
  const CommRewrite drafted{std::move(draft), refit.fit.timings, origin.links};
  SEXTANT_TRY(CommChange change, comm_change(file, drafted, calls, data));
  const std::string left = fmt::format("{:.1f} % left", 100.0 * change.said.after);
  refit.made = fmt::format("from {} timings of {} on {}: {:.1f} % off before, {}.", calls.size(),
                           origin.names, origin.cluster, 100.0 * change.said.before, left);
  refit.source = fmt::format("{}, {}", origin.names, left);
  refit.device = origin.device;
  SEXTANT_TRY(change.text, refitted_text(file, refit, data));
  return change;
}

}  // namespace sextant::calibrate
