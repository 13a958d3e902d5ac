#include "app/plan_request.h"

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::app {
namespace {

constexpr std::int64_t kMostPlans = 64;
constexpr std::int64_t kMostThreads = 1024;
constexpr double kMostDays = 1e6;

Result<std::int64_t> count(const std::string& text, std::string_view option, std::int64_t least,
                           std::int64_t most) {
  const auto number = to_integer(trimmed(text));
  if (!number || *number < least || *number > most) {
    return invalid(fmt::format("'{}' is not such a number", printable(text)), std::string(option),
                   fmt::format("a whole number from {} to {}", least, most));
  }
  return *number;
}

Result<double> share(const std::string& text) {
  constexpr double kHundred = 100.0;
  std::string_view digits = trimmed(text);
  double scale = 1.0;
  if (!digits.empty() && digits.back() == '%') {
    digits = trimmed(digits.substr(0, digits.size() - 1));
    scale = 1.0 / kHundred;
  }
  const auto number = to_double(digits);
  if (!number || *number * scale < 0.0 || *number * scale >= 1.0) {
    return invalid(fmt::format("'{}' is not a share of the memory", printable(text)), "‹headroom›",
                   "from 0% to below 100%: 5%, 0.05");
  }
  return *number * scale;
}

Result<double> deadline(const std::string& text) {
  const auto days = to_double(trimmed(text));
  if (!days || *days <= 0.0 || *days > kMostDays) {
    return invalid(fmt::format("'{}' is not a number of days", printable(text)), "‹days›",
                   "a number above 0: 30");
  }
  return *days;
}

Result<void> check_together(const PlanRequest& request, const PlanWishes& wishes) {
  if (wishes.days && request.training.tokens.empty()) {
    return invalid("a deadline needs the tokens to be trained on", "‹days›", "with ‹tokens› 15T");
  }
  if (request.dialect.empty() && !request.folder.empty()) {
    return invalid("there are no files to write there", "‹out›", "with ‹emit› DIALECT");
  }
  if (request.dialect.empty() && !request.launcher.empty()) {
    return invalid("there are no files to launch", "‹launcher›", "with ‹emit› DIALECT");
  }
  const bool counts = wishes.objective == search::Objective::kDevices ||
                      wishes.objective == search::Objective::kCost;
  if (!request.free.empty() && counts) {
    return invalid("the number of devices is searched already", "‹free›",
                   "with ‹objective› step, memory or energy");
  }
  if (request.pareto && wishes.objective == search::Objective::kEnergy) {
    return invalid("the front is one of time and memory", "‹pareto›",
                   "with ‹objective› step or memory");
  }
  if (request.pareto && wishes.objective == search::Objective::kDevices) {
    return invalid("the front is one of a number of devices", "‹pareto›",
                   "with ‹objective› step or memory");
  }
  return {};
}

}  // namespace

Result<PlanWishes> plan_wishes(const PlanRequest& request) {
  PlanWishes wishes;
  if (!request.objective.empty()) {
    SEXTANT_TRY(wishes.objective,
                describe::parse_word<search::Objective>(search::kObjectiveWords, request.objective,
                                                        "objective", "‹objective›"));
  }
  if (!request.headroom.empty()) {
    SEXTANT_TRY(wishes.headroom, share(request.headroom));
  }
  if (!request.top.empty()) {
    SEXTANT_TRY(const std::int64_t top, count(request.top, "‹top›", 1, kMostPlans));
    wishes.top = static_cast<std::size_t>(top);
  }
  if (!request.threads.empty()) {
    SEXTANT_TRY(const std::int64_t threads, count(request.threads, "‹threads›", 0, kMostThreads));
    wishes.threads = static_cast<unsigned>(threads);
  }
  if (!request.days.empty()) {
    SEXTANT_TRY(wishes.days, deadline(request.days));
  }
  const std::string format = request.plot_format.empty() ? "svg" : to_lower(request.plot_format);
  if (format != "svg" && format != "png") {
    return invalid(fmt::format("'{}' is not a form of pictures", printable(request.plot_format)),
                   "‹plot-as›", "svg or png");
  }
  wishes.plot_ending = "." + format;
  SEXTANT_TRY(wishes.training, training_wish(request.training));
  SEXTANT_CHECK_OK(check_together(request, wishes));
  return wishes;
}

}  // namespace sextant::app
