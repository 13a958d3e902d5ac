// Sound proposals, drawn by a seed: a legal job, a change to it that is legal and fits, claims that
// the model's own numbers bear out and entries that really say so.
//
// What is sound is worked out here from the model (estimates, interval, rules, memory) and from the
// fields of entries, never by asking the judge, who is tried on them. Only tests include this.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "verify/testing.h"

namespace sextant::tests {

// Keys of a layout as they are typed; a JAX mesh under "mesh" ("ici:fsdp=16,tensor=4").
using LayoutKeys = std::map<std::string, std::string, std::less<>>;
// "ici:fsdp=16;mbs=2".
std::string layout_text(const LayoutKeys& keys);

// Keys and the values they may have.
using Menu = std::vector<std::pair<std::string, std::vector<std::string>>>;

struct SoundProposal {
  std::shared_ptr<const search::Task> task;
  LayoutKeys change;  // as in the proposal
  verify::Proposal proposal;
  describe::Job after;
  Bytes need;                               // then, of the fullest device
  std::vector<double> ratios;               // of each claim, as the model has it
  std::vector<step::RatioRange> intervals;  // of each claim
  std::string words;                        // what it is, for a failure
};

class SoundProposals {
 public:
  explicit SoundProposals(unsigned seed) : random_(seed) {}
  SoundProposal next();

 private:
  using Random = std::mt19937;
  std::optional<SoundProposal> changed();
  void draw_job();
  void state_claims(const step::Estimate& after, const step::Difference& speed,
                    SoundProposal& made);
  void cite(SoundProposal& made);

  Random random_;
  const Menu* menu_ = nullptr;
  std::shared_ptr<search::Task> task_;
  LayoutKeys keys_;
  std::optional<step::Estimate> before_;
  std::size_t turn_ = 0;  // whose kind of job it is
  int left_ = 0;          // changes still to be made of this job
};

}  // namespace sextant::tests
