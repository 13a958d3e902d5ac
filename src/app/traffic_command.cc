#include "app/traffic_command.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/picture.h"
#include "describe/layout/layout_text.h"
#include "explain/heat_map.h"
#include "explain/traffic_pattern_view.h"
#include "explain/traffic_tree.h"
#include "workload/matrix.h"
#include "workload/traffic_pattern.h"

namespace sextant::app {
namespace {

using workload::CommunicationMatrix;
using workload::MatrixBy;

// Row by row as it is asked for: a matrix of many ranks is never held.
Artifact matrix_artifact(std::shared_ptr<const CommunicationMatrix> matrix, MatrixBy by,
                         const std::string& file) {
  return {.path = file,
          .pour =
              [matrix = std::move(matrix), by](const Artifact::Sink& sink) {
                sink(explain::matrix_csv_header());
                matrix->for_each_row(
                    by, [&sink](std::int64_t from, std::span<const workload::MatrixEntry> entries) {
                      sink(explain::matrix_csv(from, entries));
                    });
              },
          .note = {fmt::format("matrix written to {}", file)}};
}

std::string title_of(const describe::Job& job) {
  return fmt::format("{} on {}: {}", job.model.name, job.cluster.name,
                     describe::to_text(job.layout));
}

Result<std::vector<Artifact>> traffic_artifacts(
    const TrafficRequest& request, const describe::Job& job,
    const std::shared_ptr<const CommunicationMatrix>& matrix) {
  SEXTANT_TRY(const MatrixBy by,
              describe::parse_word<MatrixBy>(workload::kMatrixByWords,
                                             request.by.empty() ? "rank" : request.by,
                                             "kind of row", "‹by›"));
  std::vector<Artifact> artifacts;
  if (!request.matrix_file.empty()) {
    artifacts.push_back(matrix_artifact(matrix, by, request.matrix_file));
  }
  if (!request.heat_map_file.empty()) {
    SEXTANT_TRY(artifacts.emplace_back(),
                picture_artifact(explain::to_drawing(explain::heat_map(*matrix, by), title_of(job)),
                                 {request.heat_map_file, "‹heat-map›", "heat map"}));
  }
  if (!request.pattern_file.empty()) {
    const workload::Pattern pattern = workload::microbatch_pattern(
        job, workload::stages_of(job).front(), workload::shard_of(job));
    SEXTANT_TRY(artifacts.emplace_back(),
                picture_artifact(explain::to_drawing(pattern, title_of(job)),
                                 {request.pattern_file, "‹pattern›", "pattern"}));
  }
  return artifacts;
}

}  // namespace

Result<Answered<OrIllegal<explain::TrafficAnswer>>> traffic(const TrafficRequest& request,
                                                            const Context& context) {
  using Reached = Answered<OrIllegal<explain::TrafficAnswer>>;
  SEXTANT_TRY(JobReading reading, read_job(request.job, context));
  if (!reading.violations.empty()) {
    return Reached{not_legal(reading, "traffic"), Outcome::kNo};
  }
  explain::TrafficAnswer answer;
  answer.provenance = provenance_of(reading);
  answer.job = std::move(reading.job);
  const workload::Shard shard = workload::shard_of(answer.job);
  const std::vector<workload::Stage> stages = workload::stages_of(answer.job);
  const auto matrix = std::make_shared<const CommunicationMatrix>(answer.job);
  answer.collectives = workload::step_collectives(answer.job);
  answer.stages = static_cast<std::int64_t>(stages.size());
  answer.totals = workload::traffic_totals(answer.job, answer.job.layout, shard, stages);
  answer.reach = matrix->reach();
  SEXTANT_TRY(std::vector<Artifact> artifacts, traffic_artifacts(request, answer.job, matrix));
  return Reached{.answer = std::move(answer),
                 .notes = std::move(reading.risks),
                 .artifacts = std::move(artifacts)};
}

Result<Explained> explain_traffic(const JobRequest& request, const Context& context) {
  SEXTANT_TRY(const JobReading reading, read_job(request, context));
  if (!reading.violations.empty()) {
    return Explained{not_legal(reading, "explain"), Outcome::kNo};
  }
  const std::vector<workload::Collective> collectives = workload::step_collectives(reading.job);
  return Explained{
      .answer = explain::TreeAnswer{explain::traffic_tree(collectives), provenance_of(reading)},
      .notes = reading.risks};
}

}  // namespace sextant::app
