#include "measured/comm_scores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace sextant::measured {
namespace {

constexpr std::size_t kMostReasons = 8;

// One row that is scored or refused.
struct Sample {
  std::string system;
  bool refused = false;
  double magnitude = 0.0;
  double slowness = 0.0;  // the error, above zero where the prediction takes too long
};
struct CollectiveSample {
  Sample error;
  SizeBucket bucket = SizeBucket::kBelow32KB;
  CommClass kind = CommClass::kUnknownLinks;
  CollectiveOp op = CollectiveOp::kAllReduce;
};
struct ExpertSample {
  Sample error;
  const EpAllToAllSubject* subject = nullptr;
};

// The score of the samples that `chosen` takes.
template <class S, class Chosen>
ErrorScore error_score(const std::vector<S>& samples, const Chosen& chosen) {
  struct Sum {
    double magnitude = 0.0;
    std::int64_t rows = 0;
  };
  ErrorScore score;
  std::map<std::string, Sum> systems;
  double magnitudes = 0.0;
  double slowness = 0.0;
  for (const S& sample : samples) {
    if (!chosen(sample)) {
      continue;
    }
    const Sample& error = sample.error;
    systems[error.system].magnitude += error.magnitude;
    systems[error.system].rows += error.refused ? 0 : 1;
    score.rows += error.refused ? 0 : 1;
    score.refused_rows += error.refused ? 1 : 0;
    magnitudes += error.magnitude;
    slowness += error.slowness;
  }
  double means = 0.0;
  for (const auto& [name, sum] : systems) {
    means += sum.rows > 0 ? sum.magnitude / static_cast<double>(sum.rows) : 0.0;
    score.systems += sum.rows > 0 ? 1 : 0;
  }
  score.refused_systems = static_cast<std::int64_t>(systems.size()) - score.systems;
  if (score.rows == 0) {
    return score;
  }
  score.mean = magnitudes / static_cast<double>(score.rows);
  score.macro = means / static_cast<double>(score.systems);
  score.bias = slowness / static_cast<double>(score.rows);
  return score;
}

template <class S>
std::vector<NamedScore> system_scores(const std::vector<S>& samples) {
  std::map<std::string, std::vector<S>> apart;
  for (const S& sample : samples) {
    apart[sample.error.system].push_back(sample);
  }
  std::vector<NamedScore> scores;
  for (const auto& [name, own] : apart) {
    scores.push_back({name, error_score(own, [](const S&) { return true; })});
  }
  std::sort(scores.begin(), scores.end(), [](const NamedScore& a, const NamedScore& b) {
    return std::tie(b.score.mean, a.name) < std::tie(a.score.mean, b.name);
  });
  return scores;
}

template <class Chosen>
SizedScore sized_score(std::string name, const std::vector<CollectiveSample>& samples,
                       const Chosen& chosen) {
  SizedScore sized;
  sized.name = std::move(name);
  sized.all = error_score(samples, chosen);
  for (std::size_t i = 0; i < kSizeBuckets; ++i) {
    sized.by_size[i] = error_score(samples, [&](const CollectiveSample& sample) {
      return sample.bucket == kSizeBucketWords[i].first && chosen(sample);
    });
  }
  return sized;
}

// A line for every first spelling of the words that has rows.
template <class E, std::size_t N>
std::vector<SizedScore> by_word(const std::vector<CollectiveSample>& samples,
                                const std::array<describe::Word<E>, N>& words,
                                E CollectiveSample::* member) {
  std::vector<SizedScore> lines;
  for (const auto& [value, word] : words) {
    if (describe::word_of<E>(words, value) != word) {
      continue;
    }
    SizedScore line =
        sized_score(std::string(word), samples,
                    [&, wanted = value](const CollectiveSample& s) { return s.*member == wanted; });
    if (line.all.rows + line.all.refused_rows > 0) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

// A line for every value of `key`, in the values' order.
template <class Key, class Name>
std::vector<NamedScore> by_key(const std::vector<ExpertSample>& samples, const Key& key,
                               const Name& name) {
  std::set<std::decay_t<decltype(key(*samples.front().subject))>> values;
  for (const ExpertSample& sample : samples) {
    values.insert(key(*sample.subject));
  }
  std::vector<NamedScore> scores;
  for (const auto& value : values) {
    scores.push_back({name(value), error_score(samples, [&](const ExpertSample& sample) {
                        return key(*sample.subject) == value;
                      })});
  }
  return scores;
}

// Counts rows one at a time; a sample of each that is scored or refused.
class Counter {
 public:
  std::optional<Sample> sample_of(const Row& row, const ValidatedRow& answer, bool healthy) {
    ++counts_.rows;
    if (!healthy) {
      ++counts_.unhealthy;
      return std::nullopt;
    }
    if (!answer.error) {
      ++counts_.refused;
      ++reasons_[answer.reason];
      return Sample{system_of(row), true, 0.0, 0.0};
    }
    if (row.trust == Trust::kC || row.measured <= 0.0) {
      ++counts_.untrusted;
      return std::nullopt;
    }
    ++counts_.scored;
    const double error = *answer.error;
    const bool is_bandwidth = row.quantity.ends_with("_GBps");
    return Sample{system_of(row), false, std::abs(error), is_bandwidth ? -error : error};
  }

  [[nodiscard]] CommCounts counts() const {
    CommCounts counts = counts_;
    counts.reasons.assign(reasons_.begin(), reasons_.end());
    std::sort(counts.reasons.begin(), counts.reasons.end(), [](const auto& a, const auto& b) {
      return std::tie(b.second, a.first) < std::tie(a.second, b.first);
    });
    counts.reasons.resize(std::min(counts.reasons.size(), kMostReasons));
    return counts;
  }

 private:
  CommCounts counts_;
  std::map<std::string, std::int64_t> reasons_;
};

CollectiveScores collective_scores(const std::vector<CollectiveSample>& samples,
                                   const Counter& counter) {
  CollectiveScores scores;
  scores.counts = counter.counts();
  scores.total = sized_score("all", samples, [](const CollectiveSample&) { return true; });
  scores.classes = by_word(samples, kCommClassWords, &CollectiveSample::kind);
  scores.operations = by_word(samples, kCollectiveOpWords, &CollectiveSample::op);
  scores.systems = system_scores(samples);
  return scores;
}

ExpertScores expert_scores(const std::vector<ExpertSample>& samples, const Counter& counter) {
  const auto itself = [](const std::string& name) { return name; };
  ExpertScores scores;
  scores.counts = counter.counts();
  scores.total = error_score(samples, [](const ExpertSample&) { return true; });
  scores.libraries = by_key(samples, [](const EpAllToAllSubject& s) { return s.library; }, itself);
  scores.modes = by_key(samples, [](const EpAllToAllSubject& s) { return s.mode; }, itself);
  scores.nodes = by_key(
      samples, [](const EpAllToAllSubject& s) { return s.nodes; },
      [](std::int64_t nodes) { return fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s"); });
  scores.systems = system_scores(samples);
  return scores;
}

}  // namespace

CommScores comm_scores(const std::vector<Row>& rows, const ValidationReport& report) {
  std::vector<CollectiveSample> collectives;
  std::vector<ExpertSample> experts;
  Counter of_collectives;
  Counter of_experts;
  for (std::size_t i = 0; i < rows.size() && i < report.rows.size(); ++i) {
    const Row& row = rows[i];
    const ValidatedRow& answer = report.rows[i];
    if (const auto* call = std::get_if<CollectiveSubject>(&row.subject)) {
      if (auto sample = of_collectives.sample_of(row, answer, call->healthy)) {
        collectives.push_back(
            {std::move(*sample), size_bucket(call->bytes), comm_class(*call), call->op});
      }
    } else if (const auto* expert = std::get_if<EpAllToAllSubject>(&row.subject)) {
      if (auto sample = of_experts.sample_of(row, answer, true)) {
        experts.push_back({std::move(*sample), expert});
      }
    }
  }
  CommScores scores;
  if (of_collectives.counts().rows > 0) {
    scores.collectives = collective_scores(collectives, of_collectives);
  }
  if (of_experts.counts().rows > 0) {
    scores.experts = expert_scores(experts, of_experts);
  }
  return scores;
}

}  // namespace sextant::measured
