// What a plan is asked for, in words and as values.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/job_request.h"
#include "app/training_run.h"
#include "base/result.h"
#include "search/objective.h"

namespace sextant::app {

// Words; "" where not given.
struct PlanRequest {
  JobRequest job;                 // its layout: the keys that are fixed
  std::vector<std::string> from;  // the user's own files; the words of `job` stand over them
  std::string precision;
  std::string free;      // what changes convergence: "gbs,precision,seq"
  std::string headroom;  // "5%", "0.05"
  std::string top;       // plans to show
  std::string threads;
  std::string objective;  // search::kObjectiveWords
  std::string days;       // the deadline
  TrainingRequest training;
  bool pareto = false;
  bool proof = false;
  std::string baselines;  // names, joined by commas
  std::string why_not;    // LAYOUT
  std::string dialect;    // kDialectWords
  std::string launcher;
  std::string folder;  // where files are written; "": printed
  std::string plot_folder;
  std::string plot_format;  // svg, png
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string&)> progress = {};  // a line for a person
};

// The words as values.
struct PlanWishes {
  search::Objective objective = search::Objective::kStep;
  double headroom = 0.05;
  std::size_t top = 5;
  unsigned threads = 0;
  std::optional<step::TrainingWish> training;
  std::optional<double> days;
  std::string plot_ending;  // ".svg"
};
Result<PlanWishes> plan_wishes(const PlanRequest& request);

}  // namespace sextant::app
