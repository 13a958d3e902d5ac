// What an Analyzer says of a run, before anything is proposed: what is known and from where, how
// healthy the key figures look, what holds the run up once operators are looked at, and which axis
// of its mesh is to blame.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/finding.h"
#include "kb/practice.h"
#include "metrics/kpis.h"

namespace sextant::agents {

// "device tpu-v5p (the case file)". An empty value: not known.
struct Fact {
  std::string key;
  std::string value = {};
  std::string source = {};  // "the case file", "the profile", "train.sh:12", "assumed: …"
};

// One figure of the health check.
struct Kpi {
  std::string key;              // "duty_cycle"
  std::optional<double> value;  // nothing: not known
  std::string remark = {};      // what it says, and what it does not
};

struct TopOperator {
  std::string name;
  std::string category = {};
  double share = 0.0;  // of the time
  metrics::OperatorBound bound = metrics::OperatorBound::kUnknown;
  std::optional<double> efficiency;
  bool is_collective = false;
};

struct Hypothesis {
  diagnose::Bottleneck bottleneck = diagnose::Bottleneck::kCompute;
  std::string why = {};
  bool is_known = true;  // else nothing tells the bottleneck, and why says so
};
// "communication"; "not known".
inline std::string_view word_of(const Hypothesis& hypothesis) {
  return hypothesis.is_known ? diagnose::name_of(hypothesis.bottleneck) : "not known";
}

struct Analysis {
  std::vector<Fact> experiment;
  std::vector<Kpi> kpis;
  Hypothesis initial;                     // by the key figures alone
  Hypothesis settled;                     // once operators and findings are looked at
  std::optional<std::string> overturned;  // what overturned the first; nothing: it held
  std::vector<TopOperator> operators;     // at most five, the longest first
  std::vector<std::string> correlation;   // key figures, operators and mesh together
  std::vector<kb::Theme> axes;            // to blame, the first most
  std::string root_cause;                 // in terms of the mesh's axes
  std::vector<std::string> notes = {};
};

}  // namespace sextant::agents
