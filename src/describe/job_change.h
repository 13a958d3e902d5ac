// What differs between two jobs, and what of a job was measured or not: words by which errors of
// predicted differences are sorted.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "describe/layout/job.h"
#include "describe/words.h"

namespace sextant::describe {

enum class Change {
  kMesh,        // tp, sp, cp, pp, vpp, ep, etp, their schedule and order; dp is what they leave
  kSharding,    // ZeRO: stage, group, what is kept gathered
  kMicroBatch,  // mbs
  kRecompute,   // recomputation, offloaded activations
  kPrecision,   // of products and of what is stored in other formats for them
  kKernels,     // attention, loss, launches, dispatcher, optimizer
  kOverlap,     // communication behind compute
  kDevices,     // how many
  kBatch,       // sequences a device and step
  kSequence,    // its length
  kJob,         // another model, machine, framework or workload
};
inline constexpr std::array<Word<Change>, 11> kChangeWords{{{Change::kMesh, "mesh"},
                                                            {Change::kSharding, "sharding"},
                                                            {Change::kMicroBatch, "micro-batch"},
                                                            {Change::kRecompute, "recompute"},
                                                            {Change::kPrecision, "precision"},
                                                            {Change::kKernels, "kernels"},
                                                            {Change::kOverlap, "overlap"},
                                                            {Change::kDevices, "devices"},
                                                            {Change::kBatch, "batch"},
                                                            {Change::kSequence, "sequence"},
                                                            {Change::kJob, "job"}}};

// In the order of Change; none of a job and itself. The same both ways round.
std::vector<Change> changes_between(const Job& one, const Job& other);
// Of two layouts of one job.
std::vector<Change> changes_between(const Layout& one, const Layout& other);

// What a predictor must have seen to know such jobs.
enum class FeatureKind { kFormat, kFramework, kModel, kFeature, kSize };
inline constexpr std::array<Word<FeatureKind>, 5> kFeatureKindWords{
    {{FeatureKind::kFormat, "format"},        // of products on a device: "h100-sxm fp8"
     {FeatureKind::kFramework, "framework"},  // with what it shards: "torchtitan zero=3"
     {FeatureKind::kModel, "model"},          // dense or experts, on a device
     {FeatureKind::kFeature, "feature"},      // workload, schedule, offload
     {FeatureKind::kSize, "size"}}};          // "cp>4"
struct JobFeature {
  FeatureKind kind = FeatureKind::kFeature;
  std::string word;
  auto operator<=>(const JobFeature&) const = default;
};

// Sorted, without repeats. Sizes are named by every power of two below them, so that a job's words
// are a subset of those of a larger one.
std::vector<JobFeature> job_features(const Job& job);

}  // namespace sextant::describe
