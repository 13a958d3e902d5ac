#include "app/plan_pictures.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/picture.h"
#include "explain/plan_pictures.h"
#include "step/step_answer.h"
#include "step/step_timeline.h"

namespace sextant::app {
namespace {

// A picture's name, and the picture or why there is none.
struct Picture {
  std::string name;
  Result<explain::Drawing> drawing;
};

explain::Drawing memory_drawing(const PlanProblem& of, const search::PlanRow& best,
                                const std::string& title) {
  describe::Job job = of.problem.job;
  job.layout = best.layout;
  const step::MemoryEstimate memory = step::memory_estimate(job, of.problem.memory);
  return explain::memory_picture(memory.ranks, of.problem.available(), memory.available, title);
}

Result<explain::Drawing> timeline_of(const search::PlanRow& best, const std::string& title) {
  SEXTANT_TRY(const timeline::Timeline timeline, step::step_timeline(best.result, best.layout));
  return explain::timeline_picture(timeline, best.result.step.step, title);
}

// The best time of each tp and pp among the meshes found.
std::vector<explain::MeshTime> mesh_times(const std::vector<search::Plan>& plans) {
  std::vector<explain::MeshTime> times;
  for (const search::Plan& plan : plans) {
    const bool known = std::any_of(times.begin(), times.end(), [&](const explain::MeshTime& time) {
      return time.tp == plan.layout.tp && time.pp == plan.layout.pp;
    });
    if (!known) {  // fastest first
      times.push_back({plan.layout.tp, plan.layout.pp, plan.time.step});
    }
  }
  return times;
}

std::vector<Picture> pictures_of(const PlanProblem& of, const PlanSearch& searched,
                                 const explain::PlanAnswer& answer, bool asks_front) {
  const search::PlanRow& best = answer.chosen();
  const std::string job = fmt::format("{} on {}", answer.job.model.name, answer.job.cluster.name);
  std::vector<Picture> pictures{
      {"memory", memory_drawing(of, best, fmt::format("{}: memory of {}", job, best.words))},
      {"timeline", timeline_of(best, fmt::format("{}: a step of {}", job, best.words))}};
  const bool is_simpler = best.layout != answer.plans.front().layout;
  if (is_simpler || answer.plans.size() > 1) {
    pictures.push_back({"waterfall", explain::waterfall_picture(
                                         best, is_simpler ? answer.plans.front() : answer.plans[1],
                                         fmt::format("{}: from the plan to the {}", job,
                                                     is_simpler ? "fastest" : "next"))});
  }
  std::vector<search::PlanRow> front;
  for (const search::Plan& plan : searched.found.front) {
    front.push_back(search::plan_row(of, plan.layout));
  }
  if (asks_front && !front.empty()) {
    pictures.push_back({"front", explain::front_picture(
                                     front, fmt::format("{}: what no other layout beats in both "
                                                        "time and memory",
                                                        job))});
  }
  pictures.push_back(
      {"heat-map", explain::mesh_picture(
                       mesh_times(searched.found.plans),
                       fmt::format("{}: the best step of each tp and pp, of the {} best meshes",
                                   job, searched.found.plans.size()))});
  return pictures;
}

}  // namespace

Result<PlanPictures> plan_pictures(const PlanProblem& of, const PlanSearch& searched,
                                   const explain::PlanAnswer& answer, const PlanRequest& request,
                                   const PlanWishes& wishes) {
  PlanPictures pictures;
  const std::filesystem::path folder(request.plot_folder);
  for (const Picture& picture : pictures_of(of, searched, answer, request.pareto)) {
    if (!picture.drawing) {
      pictures.missing.push_back(
          fmt::format("no {}: {}", picture.name, to_text(picture.drawing.error())));
      continue;
    }
    const std::string file = (folder / (picture.name + wishes.plot_ending)).string();
    SEXTANT_TRY(Artifact made, picture_artifact(*picture.drawing, {file, "‹plot›", "picture"}));
    made.makes_folders = true;
    pictures.files.push_back(std::move(made));
  }
  return pictures;
}

}  // namespace sextant::app
