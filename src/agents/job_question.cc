#include "agents/job_question.h"

#include "describe/cluster/torus.h"

namespace sextant::agents {
namespace {

constexpr std::size_t kMostEntries = 20;

kb::Features features_of(const Analysis& analysis, const Standing& standing) {
  kb::Features about;
  if (analysis.settled.is_known) {
    about.bottlenecks = {analysis.settled.bottleneck};
  }
  about.axes = analysis.axes;
  if (standing.task == nullptr) {
    return about;
  }
  const describe::Job& job = standing.job;
  const bool is_slice = describe::is_torus(job.cluster);
  about.devices = {job.cluster.device.id, is_slice ? "tpu" : "gpu"};
  about.topology = is_slice                  ? std::vector<std::string>{"slice", "torus"}
                   : job.cluster.nodes() > 1 ? std::vector<std::string>{"cluster"}
                                             : std::vector<std::string>{"node"};
  about.frameworks = {job.framework};
  about.models = {describe::has_experts(job.model) ? kb::ModelClass::kExperts
                                                   : kb::ModelClass::kDense};
  about.model = job.model.name;
  about.device_count = job.cluster.devices;
  if (standing.is_users) {
    about.mesh = kb::mesh_of(mesh_words(job));
  }
  return about;
}

}  // namespace

std::vector<kb::Question> job_questions(const Analysis& analysis, const Standing& standing) {
  std::vector<kb::Question> questions;
  for (const kb::EntryKind kind : {kb::EntryKind::kPractice, kb::EntryKind::kWin}) {
    kb::Question& question = questions.emplace_back();
    question.words = analysis.root_cause;
    question.about = features_of(analysis, standing);
    question.kind = kind;
    question.limit = kMostEntries;
  }
  if (!standing.fits) {
    kb::Question question = questions.front();
    question.words = "out of memory";
    question.about.bottlenecks = {diagnose::Bottleneck::kMemory};
    question.about.axes = {kb::Theme::kMemory};
    questions.push_back(std::move(question));
  }
  return questions;
}

}  // namespace sextant::agents
