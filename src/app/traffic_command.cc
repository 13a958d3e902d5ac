#include "app/traffic_command.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "explain/heat_map.h"
#include "explain/traffic_pattern_view.h"
#include "explain/traffic_tree.h"
#include "explain/traffic_view.h"
#include "workload/matrix.h"
#include "workload/traffic_pattern.h"

namespace sextant::app {
namespace {

using workload::CommunicationMatrix;
using workload::MatrixBy;

// Row by row beside the file, then renamed: a matrix of many ranks is never held.
Result<void> write_matrix(const CommunicationMatrix& matrix, MatrixBy by,
                          const std::filesystem::path& file) {
  std::filesystem::path beside = file;
  beside += ".part";
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out << explain::matrix_csv_header();
  matrix.for_each_row(by,
                      [&out](std::int64_t from, std::span<const workload::MatrixEntry> entries) {
                        out << explain::matrix_csv(from, entries);
                      });
  out.close();
  std::error_code error;
  if (out) {
    std::filesystem::rename(beside, file, error);
  }
  if (!out || error) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    return external("the file cannot be written", printable(file.string(), 300));
  }
  return {};
}

Result<void> write_picture(const explain::Drawing& drawing, const std::string& file,
                           const char* option) {
  auto image = explain::to_image(drawing, file);
  if (!image) {
    image.error().where = option;
    return tl::unexpected(image.error());
  }
  return write_file(file, *image);
}

std::string title_of(const describe::Job& job) {
  return fmt::format("{} on {}: {}", job.model.name, job.cluster.name,
                     describe::to_text(job.layout));
}

Result<std::vector<std::string>> write_traffic_files(const TrafficRequest& request,
                                                     const describe::Job& job,
                                                     const CommunicationMatrix& matrix) {
  SEXTANT_TRY(const MatrixBy by,
              describe::parse_word<MatrixBy>(workload::kMatrixByWords,
                                             request.by.empty() ? "rank" : request.by,
                                             "kind of row", "--by"));
  std::vector<std::string> notes;
  if (!request.matrix_file.empty()) {
    SEXTANT_CHECK_OK(write_matrix(matrix, by, request.matrix_file));
    notes.push_back(fmt::format("matrix written to {}", request.matrix_file));
  }
  if (!request.heat_map_file.empty()) {
    SEXTANT_CHECK_OK(
        write_picture(explain::to_drawing(explain::heat_map(matrix, by), title_of(job)),
                      request.heat_map_file, "--heat-map"));
    notes.push_back(fmt::format("heat map written to {}", request.heat_map_file));
  }
  if (!request.pattern_file.empty()) {
    const workload::Pattern pattern = workload::microbatch_pattern(
        job, workload::stages_of(job).front(), workload::shard_of(job));
    SEXTANT_CHECK_OK(write_picture(explain::to_drawing(pattern, title_of(job)),
                                   request.pattern_file, "--pattern"));
    notes.push_back(fmt::format("pattern written to {}", request.pattern_file));
  }
  return notes;
}

}  // namespace

Result<Output> show_traffic(const TrafficRequest& request, const Context& context) {
  SEXTANT_TRY(JobReading reading, read_job(request.job, context));
  if (!reading.violations.empty()) {
    return not_legal(reading, "traffic", context);
  }
  explain::TrafficAnswer answer;
  answer.provenance = provenance_of(reading);
  answer.job = std::move(reading.job);
  const workload::Shard shard = workload::shard_of(answer.job);
  const std::vector<workload::Stage> stages = workload::stages_of(answer.job);
  const CommunicationMatrix matrix(answer.job);
  answer.collectives = workload::step_collectives(answer.job);
  answer.stages = static_cast<std::int64_t>(stages.size());
  answer.totals = workload::traffic_totals(answer.job, answer.job.layout, shard, stages);
  answer.reach = matrix.reach();
  SEXTANT_TRY(std::vector<std::string> notes, write_traffic_files(request, answer.job, matrix));
  return Output{.text = explain::to_text(answer, context.style),
                .notes = std::move(notes),
                .exit_code = kExitFine};
}

Result<Output> explain_traffic(const JobRequest& request, const Context& context) {
  SEXTANT_TRY(const JobReading reading, read_job(request, context));
  if (!reading.violations.empty()) {
    return not_legal(reading, "explain", context);
  }
  const std::vector<workload::Collective> collectives = workload::step_collectives(reading.job);
  return Output{.text = explain::to_text(explain::traffic_tree(collectives), provenance_of(reading),
                                         context.style),
                .notes = {},
                .exit_code = kExitFine};
}

}  // namespace sextant::app
