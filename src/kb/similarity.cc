#include "kb/similarity.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::kb {
namespace {

// Points of a whole agreement. Chosen by hand so that what a question is about (axis, change,
// bottleneck) counts for more than what its job happens to be.
constexpr double kBottleneckPoints = 1.5;
constexpr double kAxisPoints = 2.0;
constexpr double kChangePoints = 2.5;
constexpr double kDevicePoints = 1.5;
constexpr double kTopologyPoints = 1.0;
constexpr double kFrameworkPoints = 1.5;
constexpr double kClassPoints = 1.0;
constexpr double kModelPoints = 1.5;
constexpr double kSizePoints = 0.8;
constexpr double kCountPoints = 0.5;
constexpr double kMeshPoints = 1.0;
// Of the points, for an entry that holds anywhere; and against one that is of something else.
constexpr double kAnywhere = 0.2;
constexpr double kElsewhere = -0.4;

// How much of what is asked the entry has, as a share; which of it.
template <typename T>
std::pair<double, std::vector<T>> shared(const std::vector<T>& asked, const std::vector<T>& about) {
  std::vector<T> both;
  for (const T& one : asked) {
    if (std::find(about.begin(), about.end(), one) != about.end()) {
      both.push_back(one);
    }
  }
  return {static_cast<double>(both.size()) / static_cast<double>(asked.size()), both};
}

void add_term(std::vector<RankTerm>& terms, std::string what, double points) {
  if (points != 0.0) {
    terms.push_back({std::move(what), points});
  }
}

// What full agreement counts; the share of it for an entry that is of something else.
struct WordPoints {
  double full = 0.0;
  double elsewhere = 0.0;
};

template <typename E, std::size_t N>
void add_words_term(std::vector<RankTerm>& terms, std::string_view name,
                    const std::array<describe::Word<E>, N>& words, const std::vector<E>& asked,
                    const std::vector<E>& about, WordPoints points) {
  if (asked.empty()) {
    return;
  }
  if (about.empty()) {
    add_term(terms, fmt::format("any {}", name), points.full * kAnywhere);
    return;
  }
  const auto [share, both] = shared(asked, about);
  if (both.empty()) {
    add_term(terms, fmt::format("another {}", name), points.full * points.elsewhere);
    return;
  }
  std::vector<std::string> texts;
  for (const E one : both) {
    texts.emplace_back(describe::word_of<E>(words, one));
  }
  // Half for any agreement: a question names more than one entry is about.
  add_term(terms, fmt::format("{} {}", name, join(texts, ", ")), points.full * (0.5 + 0.5 * share));
}

std::string_view generation(std::string_view device) {
  return device.substr(0, device.find('-', device.starts_with("tpu-") ? 4 : 0));
}

bool is_tpu(std::string_view device) {
  return device.starts_with("tpu");
}

// Same device, same generation, same family.
double device_likeness(std::string_view asked, std::string_view about) {
  if (asked == about) {
    return asked == "gpu" || asked == "tpu" ? 0.6 : 1.0;
  }
  if (generation(asked) == generation(about)) {
    return 0.9;
  }
  const bool family = about == "gpu" || about == "tpu" || asked == "gpu" || asked == "tpu";
  return is_tpu(asked) != is_tpu(about) ? -1.5 : (family ? 0.4 : 0.2);
}

void add_device_term(std::vector<RankTerm>& terms, const Features& asked, const Features& about,
                     double weight) {
  if (asked.devices.empty()) {
    return;
  }
  if (about.devices.empty()) {
    add_term(terms, "any device", weight * kDevicePoints * kAnywhere);
    return;
  }
  double best = -2.0;
  std::string which;
  for (const std::string& one : asked.devices) {
    for (const std::string& other : about.devices) {
      if (const double like = device_likeness(one, other); like > best) {
        best = like;
        which = other;
      }
    }
  }
  add_term(terms, "device " + which, weight * kDevicePoints * best);
}

bool within(double a, double b, double factor) {
  return a > 0.0 && b > 0.0 && a <= b * factor && b <= a * factor;
}

void add_model_terms(std::vector<RankTerm>& terms, const Features& asked, const Features& about,
                     double weight) {
  if (!asked.model.empty() && !about.model.empty()) {
    const std::string one = to_lower(asked.model);
    const std::string other = to_lower(about.model);
    if (one.find(other) != std::string::npos || other.find(one) != std::string::npos) {
      add_term(terms, "model " + about.model, weight * kModelPoints);
    }
  }
  if (within(asked.parameters_billion, about.parameters_billion, 2.0)) {
    add_term(terms, "size of the model", weight * kSizePoints);
  }
  if (within(static_cast<double>(asked.device_count), static_cast<double>(about.device_count),
             4.0)) {
    add_term(terms, "number of devices", weight * kCountPoints);
  }
}

void add_mesh_term(std::vector<RankTerm>& terms, const Mesh& asked, const Mesh& about,
                   double weight) {
  std::vector<std::string> alike;
  for (const auto& [axis, size] : asked) {
    const auto found = about.find(axis);
    if (found != about.end() &&
        within(static_cast<double>(size), static_cast<double>(found->second), 2.0)) {
      alike.push_back(fmt::format("{}={}", axis, found->second));
    }
  }
  if (!alike.empty()) {
    add_term(terms, "mesh " + join(alike, ","),
             weight * kMeshPoints * static_cast<double>(alike.size()) /
                 static_cast<double>(asked.size()));
  }
}

void add_text_lists_terms(std::vector<RankTerm>& terms, const Features& asked,
                          const Features& about, double weight) {
  if (!asked.changes.empty() && about.changes.empty()) {
    add_term(terms, "any change", weight * kChangePoints * kAnywhere);
  } else if (!asked.changes.empty()) {
    const auto [share, both] = shared(asked.changes, about.changes);
    if (!both.empty()) {
      add_term(terms, "change of " + join(both, ", "),
               weight * kChangePoints * (0.5 + 0.5 * share));
    }
  }
  if (!asked.topology.empty() && !about.topology.empty()) {
    const auto [share, both] = shared(asked.topology, about.topology);
    if (!both.empty()) {
      add_term(terms, "topology " + join(both, ", "),
               weight * kTopologyPoints * (0.5 + 0.5 * share));
    }
  }
}

}  // namespace

std::vector<RankTerm> similarity(const Features& asked, const Features& about, double weight) {
  std::vector<RankTerm> terms;
  add_words_term(terms, "bottleneck", kBottleneckWords, asked.bottlenecks, about.bottlenecks,
                 {.full = weight * kBottleneckPoints});
  add_words_term(terms, "axis", kThemeWords, asked.axes, about.axes,
                 {.full = weight * kAxisPoints});
  add_text_lists_terms(terms, asked, about, weight);
  add_device_term(terms, asked, about, weight);
  add_words_term(terms, "framework", describe::kFrameworkWords, asked.frameworks, about.frameworks,
                 {.full = weight * kFrameworkPoints, .elsewhere = kElsewhere});
  add_words_term(terms, "class of model", kModelClassWords, asked.models, about.models,
                 {.full = weight * kClassPoints, .elsewhere = kElsewhere});
  add_model_terms(terms, asked, about, weight);
  add_mesh_term(terms, asked.mesh, about.mesh, weight);
  return terms;
}

}  // namespace sextant::kb
