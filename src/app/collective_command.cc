#include "app/collective_command.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/collective_runs.h"
#include "app/collective_sweep.h"
#include "app/job_sources.h"
#include "app/picture.h"
#include "base/quantity_text.h"
#include "base/sha256.h"
#include "base/text.h"
#include "describe/assumption.h"
#include "describe/cluster/cluster_inputs.h"
#include "describe/cluster/load_cluster.h"
#include "explain/collective_view.h"

namespace sextant::app {
namespace {

using explain::CollectivePoint;
using machine::CollectiveEstimate;

// A question, and what was filled in that the user did not say.
struct Reading {
  machine::CollectiveQuestion question;
  describe::Assumptions assumed;
};

// Does the sweep vary what this option would fix?
bool varies(const CollectiveRequest& request, std::initializer_list<std::string_view> factors) {
  const std::string factor = request.sweep.substr(0, request.sweep.find('='));
  return std::find(factors.begin(), factors.end(), factor) != factors.end();
}

Result<Reading> read_question(const CollectiveRequest& request, const Context& context) {
  Reading reading;
  machine::CollectiveQuestion& question = reading.question;
  SEXTANT_TRY(question.op, parse_collective(request.collective, "‹collective›"));
  if (request.cluster.empty()) {
    return invalid("the cluster is missing", "‹on›",
                   "COUNTxDEVICE such as 64xh100-sxm, or a cluster.toml");
  }
  SEXTANT_TRY(question.cluster, describe::load_cluster(request.cluster, context.data));
  reading.assumed = question.cluster.assumed;
  if (!request.stride.empty()) {
    SEXTANT_TRY(question.stride, parse_number(request.stride, "‹stride›"));
  }
  question.ranks = machine::most_ranks(question.cluster, question.stride);
  if (!request.ranks.empty()) {
    SEXTANT_TRY(question.ranks, parse_number(request.ranks, "‹ranks›"));
  } else if (!varies(request, {"ranks", "nodes"})) {
    reading.assumed.push_back(
        {"ranks", std::to_string(question.ranks), "not given: all devices", {}});
  }
  if (!request.bytes.empty()) {
    SEXTANT_TRY(question.bytes, parse_message(request.bytes, "‹bytes›"));
  } else if (!varies(request, {"bytes"})) {
    reading.assumed.push_back({"bytes", to_text(question.bytes), "not given", {}});
  }
  return reading;
}

explain::Provenance collective_provenance(const machine::CollectiveQuestion& question,
                                          const std::vector<std::string>& files,
                                          const Context& context) {
  explain::Provenance provenance{std::string(explain::tool_version()),
                                 describe::cluster_inputs(question.cluster, context.data)};
  for (const std::string& path : files) {
    if (const auto text = context.data.read(path)) {
      provenance.inputs.emplace_back(context.data.where(path), sha256_hex(*text));
    }
  }
  return provenance;
}

Result<Answered<CollectiveReply>> one_collective(const Reading& reading, bool verbose,
                                                 const Context& context) {
  machine::CollectiveEstimator estimator(context.data);
  explain::CollectiveAnswer answer;
  answer.cluster = reading.question.cluster.name;
  SEXTANT_TRY(answer.estimate, estimator(reading.question));
  SEXTANT_TRY(answer.constants, machine::collective_constants(answer.estimate, context.data));
  answer.provenance =
      collective_provenance(reading.question, machine::constant_files(answer.estimate), context);
  answer.assumed = reading.assumed;
  describe::add_once(answer.estimate.assumed, answer.assumed);
  answer.show_constants = verbose;
  return Answered<CollectiveReply>{std::move(answer)};
}

// What all points share: "all_gather of 1 GiB over 32 ranks".
std::string collective_held_text(const machine::CollectiveQuestion& question,
                                 CollectiveFactor factor) {
  std::string text = factor == CollectiveFactor::kCollective
                         ? std::string("collectives")
                         : explain::collective_word(question.op);
  if (factor != CollectiveFactor::kBytes) {
    text += " of " + to_text(question.bytes);
  }
  if (factor != CollectiveFactor::kRanks && factor != CollectiveFactor::kNodes) {
    text += fmt::format(" over {} ranks", question.ranks);
  }
  return text + (question.stride > 1 ? fmt::format(", {} devices apart", question.stride) : "");
}

explain::CollectiveSweepAnswer collective_sweep_answer(const CollectiveSweep& sweep,
                                                       const Reading& reading,
                                                       const Context& context) {
  machine::CollectiveEstimator estimator(context.data);
  explain::CollectiveSweepAnswer answer;
  answer.cluster = reading.question.cluster.name;
  answer.factor = describe::word_of<CollectiveFactor>(kCollectiveFactorWords, sweep.factor);
  answer.held = collective_held_text(reading.question, sweep.factor);
  answer.assumed = reading.assumed;
  std::vector<std::string> files;
  for (const SweptQuestion& swept : sweep.points) {
    Result<CollectiveEstimate> estimate = estimator(swept.question);
    CollectivePoint& point = answer.points.emplace_back();
    point.value = swept.value;
    if (!estimate) {
      point.reason = estimate.error().what;
      continue;
    }
    add_once(machine::constant_files(*estimate), files);
    describe::add_once(estimate->assumed, answer.assumed);
    point.estimate = std::move(*estimate);
  }
  answer.provenance = collective_provenance(reading.question, files, context);
  return answer;
}

Result<std::vector<std::string>> add_measured(const std::string& table, const Reading& reading,
                                              const Context& context,
                                              explain::CollectiveSweepAnswer& answer) {
  if (table.empty()) {
    return std::vector<std::string>();
  }
  SEXTANT_TRY(MeasuredRuns runs, read_matching_runs(table, reading.question, context.data));
  answer.provenance.inputs.push_back(std::move(runs.input));
  answer.measured = std::move(runs.series);
  if (!answer.measured->empty()) {
    return std::vector<std::string>();
  }
  return std::vector<std::string>{
      fmt::format("no row of {} has this collective, ranks and domains on devices of generation {}",
                  table, reading.question.cluster.device.generation)};
}

Result<void> check_sweep_words(const CollectiveRequest& request) {
  if (request.sweep.empty()) {
    for (const auto& [option, value] :
         {std::pair{"‹plot›", &request.plot_file}, std::pair{"‹measured›", &request.measured}}) {
      if (!value->empty()) {
        return invalid("there is nothing to plot without ‹sweep›", option, "‹sweep› bytes");
      }
    }
    return {};
  }
  SEXTANT_TRY(const CollectiveFactor factor, parse_collective_factor(request.sweep));
  const bool sizes = factor == CollectiveFactor::kBytes;
  const bool groups = factor == CollectiveFactor::kRanks || factor == CollectiveFactor::kNodes;
  if (!request.measured.empty() && !sizes) {
    return invalid("measured runs are laid beside sizes only", "‹measured›", "‹sweep› bytes");
  }
  if (sizes && !request.bytes.empty()) {
    return invalid("the sweep varies the bytes", "‹bytes›", "‹bytes› or ‹sweep› bytes, not both");
  }
  if (groups && !request.ranks.empty()) {
    return invalid("the sweep varies the ranks", "‹ranks›",
                   "‹ranks› or ‹sweep› ranks or nodes, not both");
  }
  return {};
}

Result<Answered<CollectiveReply>> swept_collective(const CollectiveRequest& request,
                                                   const Reading& reading, const Context& context) {
  SEXTANT_TRY(const CollectiveSweep sweep,
              parse_collective_sweep(request.sweep, reading.question, context.data));
  explain::CollectiveSweepAnswer answer = collective_sweep_answer(sweep, reading, context);
  SEXTANT_TRY(std::vector<std::string> notes,
              add_measured(request.measured, reading, context, answer));
  std::vector<Artifact> artifacts;
  if (!request.plot_file.empty()) {
    SEXTANT_TRY(artifacts.emplace_back(), picture_artifact(explain::to_drawing(answer),
                                                           {request.plot_file, "‹plot›", "plot"}));
  }
  const bool any = std::any_of(answer.points.begin(), answer.points.end(),
                               [](const CollectivePoint& point) { return point.estimate; });
  return Answered<CollectiveReply>{.answer = std::move(answer),
                                   .outcome = any ? Outcome::kFine : Outcome::kNo,
                                   .notes = std::move(notes),
                                   .artifacts = std::move(artifacts)};
}

}  // namespace

Result<Answered<CollectiveReply>> collective(const CollectiveRequest& request,
                                             const Context& context) {
  SEXTANT_CHECK_OK(check_sweep_words(request));
  SEXTANT_TRY(const Reading reading, read_question(request, context));
  return request.sweep.empty() ? one_collective(reading, request.verbose, context)
                               : swept_collective(request, reading, context);
}

}  // namespace sextant::app
