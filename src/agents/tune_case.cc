#include "agents/tune_case.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "agents/case_analysis.h"
#include "agents/case_models.h"
#include "agents/case_proposals.h"
#include "agents/noted_tools.h"
#include "base/text.h"
#include "kb/search.h"

namespace sextant::agents {
namespace {

using diagnose::Bottleneck;

// The case as it was where the profile was recorded.
Case as_recorded(const Case& asked) {
  Case recorded = asked;
  if (asked.profiled) {
    recorded.device = asked.profiled->device;
    recorded.chips = asked.profiled->chips;
    recorded.topology = asked.profiled->topology;
    if (recorded.device != asked.device) {
      recorded.hbm_gib.reset();
    }
  }
  return recorded;
}

struct CaseSlices {
  MeshSlice asked;
  MeshSlice recorded;
  [[nodiscard]] double memory_scale() const { return recorded.memory / asked.memory; }
};

// `hbm_gib` is of the chips that are asked for; those it ran on have their device's.
Result<CaseSlices> slices_of_case(const Case& asked, const MeshRuleBook& rules,
                                  const describe::DataStore& data) {
  CaseSlices slices;
  SEXTANT_TRY(slices.asked, mesh_slice(asked, rules.wide_feed_forward.value, data));
  Case recorded = as_recorded(asked);
  if (asked.profiled) {
    recorded.hbm_gib.reset();
  }
  SEXTANT_TRY(slices.recorded, mesh_slice(recorded, rules.wide_feed_forward.value, data));
  return slices;
}

// What the knowledge base holds of such a run, beside what rules cite.
Result<std::vector<kb::Entry>> retrieved(const Case& asked, const Analysis& analysis,
                                         const CaseTools& tools) {
  constexpr std::size_t kMostRetrieved = 5;
  kb::Question question;
  question.words = analysis.root_cause;
  question.about.bottlenecks = {analysis.settled.bottleneck};
  question.about.axes = analysis.axes;
  question.about.devices = {asked.device, "tpu"};
  question.about.topology = {"slice", "torus"};
  question.kind = kb::EntryKind::kPractice;
  question.limit = kMostRetrieved;
  if (tools.tools != nullptr && tools.tools->search) {
    return NotedTools(*tools.tools).search(question);
  }
  std::vector<kb::Entry> found;
  if (tools.entries.empty()) {
    return found;
  }
  SEXTANT_TRY(kb::Index index, kb::Index::of(tools.entries));
  SEXTANT_TRY(const std::vector<kb::Ranked> ranked, index.search(question));
  for (const kb::Ranked& one : ranked) {
    found.push_back(index.entries()[one.entry]);
  }
  return found;
}

// Of a proposal's axes; those that a case has not are no part of it, and the judge says so.
CaseMesh case_mesh(const describe::MeshAxes& axes) {
  return {{axes.replica, saturating_product({axes.data, axes.fsdp}), axes.sequence, axes.tensor}};
}

// A longer data axis is legal or not by a number that nobody tells: that is no reason to keep a
// mesh that operators wait for.
bool waits_for_batch(const Moves& moves) {
  return std::ranges::any_of(moves.refused, [](const RefusedMove& refused) {
    return refused.rule == "batch-bounds-data" && !refused.unknown.empty();
  });
}

std::string words_of_bottleneck(Bottleneck bottleneck) {
  return std::string(describe::word_of<Bottleneck>(kb::kBottleneckWords, bottleneck));
}

class CaseTuning {
 public:
  CaseTuning(const Case& asked, const CaseTools& tools, MeshRuleBook rules, CaseSlices slices)
      : asked_(asked), tools_(tools), rules_(std::move(rules)), slices_(std::move(slices)) {}

  Result<Report> report() && {
    analyse();
    const Moves moves =
        from_ ? moves_of(move_facts(*from_)) : first_meshes(asked_, slices_.asked, tools_.wishes);
    SEXTANT_TRY(const std::vector<kb::Entry> found, retrieved(asked_, report_.analysis, tools_));
    for (const kb::Entry& entry : found) {
      report_.analysis.notes.push_back(
          fmt::format("known of such runs: {} ({}, {})", entry.title, entry.id, entry.source));
    }
    assume_models();
    if (models_) {
      report_.analysis.notes.insert(report_.analysis.notes.end(), models_->notes().begin(),
                                    models_->notes().end());
    }
    decide(moves);
    judge_ideas();
    note_judged();
    return std::move(report_);
  }

  Result<verify::Verdict> verdict(const verify::Proposal& proposal) && {
    analyse();
    assume_models();
    const ProposalFacts facts = proposal_facts();
    Judged judged{.proposal = proposal, .verdict = {}};
    const auto axes = verify::proposed_axes(proposal.change);
    const CaseMesh mesh = axes ? case_mesh(*axes) : CaseMesh{};
    judged.verdict = mesh_verdict(proposal, mesh, facts);
    if (models_ && facts.is_same_size) {
      models_->judge(mesh, tools_.entries, judged);
    }
    return std::move(judged.verdict);
  }

 private:
  void note_judged() const {
    if (tools_.tools == nullptr) {
      return;
    }
    const NotedTools noted(*tools_.tools);
    for (const std::vector<Judged>* all : {&report_.proposals, &report_.ideas}) {
      for (const Judged& judged : *all) {
        noted.judged(judged.proposal, judged.verdict);
      }
    }
  }

  void analyse() {
    CaseAnalysis analysed = analysed_case(asked_, slices_.recorded);
    report_.analysis = std::move(analysed.analysis);
    blames_ = std::move(analysed.blames);
    from_ = recorded_mesh(asked_);
  }

  void assume_models() {
    if (tools_.with_model && from_) {
      models_ = CaseModels::of({.asked = asked_,
                                .slice = slices_.recorded,
                                .runs = *from_,
                                .data_shards = !blames_.are_weights_copied},
                               slices_.asked, rules_, tools_.data);
    }
  }

  [[nodiscard]] Bottleneck bottleneck() const { return report_.analysis.settled.bottleneck; }

  [[nodiscard]] MoveFacts move_facts(const CaseMesh& from) const {
    return {.profiled = asked_,
            .slice = slices_.asked,
            .from = from,
            .blames = blames_,
            .bottleneck = bottleneck(),
            .memory_scale = slices_.memory_scale(),
            .wishes = tools_.wishes};
  }

  [[nodiscard]] ProposalFacts proposal_facts() const {
    return {.asked = asked_,
            .slice = slices_.asked,
            .rules = rules_,
            .from = from_,
            .is_same_size = !from_ || from_->chips() == asked_.chips,
            .memory_scale = slices_.memory_scale(),
            .bottleneck = bottleneck(),
            .entries = tools_.entries};
  }

  void decide(const Moves& moves) {
    const ProposalFacts facts = proposal_facts();
    const bool is_there_already =
        asked_.baseline && !moves.ranked.empty() && moves.ranked.front().mesh == *asked_.baseline;
    const bool is_alone = moves.ranked.empty() && !waits_for_batch(moves);
    const std::optional<CaseMesh> runs = asked_.baseline ? asked_.baseline : from_;
    if (runs && (is_there_already || (is_alone && from_ && moves.is_same_size))) {
      keep(*runs, is_there_already);
    } else {
      propose(moves, facts);
    }
    turn_down(moves.refused, facts);
  }

  void propose(const Moves& moves, const ProposalFacts& facts) {
    for (const std::vector<MeshMove>* kind : {&moves.ranked, &moves.unknown}) {
      for (const MeshMove& move : *kind) {
        if (report_.proposals.size() < kProposals) {
          report_.proposals.push_back(judged_move(move, facts));
          ask_models(move, facts, report_.proposals.back());
        }
      }
    }
    if (report_.proposals.size() < kProposals) {
      report_.fewer = fmt::format(
          "{} meshes are legal there and near {}, and relieve anything that "
          "operators wait for",
          report_.proposals.size(), from_ ? to_text(*from_) : std::string("nothing known"));
    }
  }

  void ask_models(const MeshMove& move, const ProposalFacts& facts, Judged& judged) const {
    if (!models_) {
      return;
    }
    if (const std::string places = models_->places(move.mesh); !places.empty()) {
      judged.proposal.reasoning.comparison += "; by the model alone: " + places;
    }
    if (facts.is_same_size) {
      models_->judge(move.mesh, tools_.entries, judged);
    }
  }

  void turn_down(const std::vector<RefusedMove>& all, const ProposalFacts& facts) {
    for (const RefusedMove& refused : all) {
      const bool is_proposed = std::ranges::find(report_.proposals, to_text(refused.mesh),
                                                 &Judged::mesh) != report_.proposals.end();
      if (report_.turned_down.size() < kProposals && refused.relief > 0.0 && !is_proposed) {
        report_.turned_down.push_back(judged_refusal(refused, facts));
      }
    }
  }

  // Each of them: one that is proposed anyway is named as theirs.
  void judge_ideas() {
    const ProposalFacts facts = proposal_facts();
    for (const CaseMesh& idea : ideas()) {
      const auto same = std::ranges::find(report_.proposals, to_text(idea), &Judged::mesh);
      Judged* theirs = nullptr;
      if (same != report_.proposals.end()) {
        theirs = &*same;
      } else {
        report_.ideas.push_back(judged_idea(idea, facts));
        theirs = &report_.ideas.back();
      }
      theirs->proposal.author = "user";
    }
  }

  // With those of a choice that are no mesh of this slice.
  [[nodiscard]] std::vector<CaseMesh> ideas() const {
    std::vector<CaseMesh> all = tools_.wishes.ideas;
    std::ranges::copy_if(tools_.wishes.among, std::back_inserter(all),
                         [&](const CaseMesh& mesh) { return mesh.chips() != slices_.asked.chips; });
    return all;
  }

  [[nodiscard]] Judged judged_idea(const CaseMesh& idea, const ProposalFacts& facts) const {
    if (idea.chips() != slices_.asked.chips || (facts.is_same_size && from_ == idea)) {
      return judged_mesh(idea, facts);
    }
    const AssessedMesh found =
        from_ ? assessed(move_facts(*from_), idea) : assessed_first(asked_, slices_.asked, idea);
    if (found.refused) {
      return judged_refusal(*found.refused, facts);
    }
    Judged judged = judged_move(found.move, facts);
    ask_models(found.move, facts, judged);
    return judged;
  }

  void keep(const CaseMesh& runs, bool is_there_already) {
    const std::string mesh = to_text(runs);
    if (is_there_already) {
      report_.keep = fmt::format("{} is what would be proposed", mesh);
    } else if (asked_.operators.empty() && !asked_.kpis.duty_cycle) {
      report_.keep = fmt::format(
          "{}: no profile says what the run waits for; until one does, nothing speaks "
          "against it",
          mesh);
    } else if (bottleneck() == Bottleneck::kStall && blames_.by_share.empty()) {
      report_.keep =
          fmt::format("{}: the device idles, and no told operator waits for the mesh. {}", mesh,
                      rules_.rule("idle-device").why);
    } else {
      report_.keep = fmt::format(
          "{}: the run is held up by {}, and no legal mesh near it relieves "
          "what its operators wait for",
          mesh, words_of_bottleneck(bottleneck()));
    }
    report_.fewer = "the mesh is best kept";
  }

  const Case& asked_;
  const CaseTools& tools_;
  MeshRuleBook rules_;
  CaseSlices slices_;
  std::optional<CaseMesh> from_;
  Blames blames_;
  std::optional<CaseModels> models_;
  Report report_;
};

Result<CaseTuning> case_tuning(const Case& profiled, const CaseTools& tools) {
  SEXTANT_TRY(MeshRuleBook rules, load_mesh_rules(tools.data));
  SEXTANT_TRY(CaseSlices slices, slices_of_case(profiled, rules, tools.data));
  return CaseTuning(profiled, tools, std::move(rules), std::move(slices));
}

}  // namespace

Result<Report> tune_case(const Case& profiled, const CaseTools& tools) {
  SEXTANT_TRY(CaseTuning tuning, case_tuning(profiled, tools));
  return std::move(tuning).report();
}

Result<verify::Verdict> judge_case(const Case& profiled, const CaseTools& tools,
                                   const verify::Proposal& proposal) {
  SEXTANT_TRY(CaseTuning tuning, case_tuning(profiled, tools));
  return std::move(tuning).verdict(proposal);
}

}  // namespace sextant::agents
