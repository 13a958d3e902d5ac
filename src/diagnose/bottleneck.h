// What holds a run up, in one word, and the operators that do.
//
// Where a profile shows how a step is spent, the class is the largest of: waiting (idle, and
// waiting inside collectives where that is known), exposed transfer, and computing, which is split
// by what binds its operators: compute or memory. A device that is busy 99 % of a step in operators
// that memory binds is not bound by compute: what operators show overrules the duty cycle.
//
// Where only KPIs and a few operators are told (a report of a profiler), exposed transfer is not:
// then a run whose operators are collectives, all but a tenth of their time, is bound by
// communication, and any other by what binds most of their time. Memory binds a collective among
// other operators, too: what it moves is memory's work.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/finding.h"
#include "diagnose/scene.h"
#include "metrics/kpis.h"

namespace sextant::diagnose {

// One that takes much of the time, with what a profiler says of it.
struct GuiltyOperator {
  std::string name;
  double share = 0.0;  // of the time of all operators
  metrics::OperatorBound bound = metrics::OperatorBound::kUnknown;
  std::optional<double> efficiency;  // ideal time over time
  bool is_collective = false;
};

// Shares of a mean step. What is not known is nothing.
struct BottleneckFacts {
  double duty_cycle = 1.0;
  std::optional<double> exposed = std::nullopt;  // moments of communication that nothing hides
  double waiting = 0.0;  // of these: waiting for other ranks, as far as it is known
  std::vector<GuiltyOperator> operators = {};
};

struct BottleneckClass {
  Bottleneck bottleneck = Bottleneck::kCompute;
  std::vector<std::string> operators;  // that take most of the class's time, the longest first
  std::string reason;                  // one sentence with the figures
};
BottleneckClass bottleneck_of(const BottleneckFacts& facts);

// Whether a profiler's name of an operator, or of its category, is that of a collective: of XLA's
// opcodes, or a fusion or a call made of one.
bool names_collective(const std::string& name, const std::string& category);

// As the scene's summaries show it.
BottleneckFacts bottleneck_facts(const Scene& scene);

}  // namespace sextant::diagnose
