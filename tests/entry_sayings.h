// What an entry of the knowledge base says of a change, read off its fields and not by the judge.
// Only tests include this.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "describe/layout/job.h"
#include "kb/entry.h"
#include "verify/proposal.h"

namespace sextant::tests {

enum class Saying {
  kSaysSo,      // the quantity goes that way
  kContrary,    // the quantity goes the other way
  kOtherThing,  // it is about other keys, kinds of change and axes
  kElsewhere,   // it is of another family of devices
  kUnclear,     // none of these for certain
};
using LayoutValues = std::map<std::string, std::string, std::less<>>;  // by key, dp among them

// A claim about a change of a job, for which an entry may be cited.
struct CitedFor {
  const describe::Job& job;
  LayoutValues before;
  LayoutValues after;
  verify::Claim claim;
};
CitedFor cited_for(const describe::Job& before, const describe::Job& after,
                   const verify::Claim& claim);
Saying saying_of(const kb::Entry& entry, const CitedFor& what);

}  // namespace sextant::tests
