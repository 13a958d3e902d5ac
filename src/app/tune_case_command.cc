#include <utility>

#include <fmt/format.h>

#include "agents/case_file.h"
#include "agents/llm_judge.h"
#include "agents/tune_case.h"
#include "app/tune_parts.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "describe/cluster/load_cluster.h"
#include "describe/cluster/torus.h"

namespace sextant::app {
namespace {

constexpr Bytes kMostCaseFile = 1_MiB;

// "8x16", or a slice as it is called: "v6e-128".
Result<agents::Case> on_slice(agents::Case asked, const std::string& word, const Context& context) {
  if (describe::parse_torus(word, "‹on›")) {
    return agents::on_topology(std::move(asked), word, "‹on›");
  }
  const auto cluster = describe::load_cluster(word, context.data);
  if (!cluster || !describe::is_torus(*cluster) || cluster->slices != 1) {
    return invalid(fmt::format("'{}' is no slice", printable(word)), "‹on›",
                   "a topology such as 8x16, or one slice such as v6e-128");
  }
  const auto& sides = cluster->torus;
  SEXTANT_TRY(agents::Case there,
              agents::on_topology(std::move(asked),
                                  fmt::format("{}x{}x{}", sides[0], sides[1], sides[2]), "‹on›"));
  if (there.device != cluster->device.id) {
    there.device = cluster->device.id;
    there.hbm_gib.reset();
  }
  return there;
}

// Only what a case has may be given with one.
Result<void> check_case_words(const TuneRequest& request) {
  for (const auto& [given, what] : {std::pair{!request.job.model.empty(), "‹model›"},
                                    {!request.from.empty(), "‹from›"},
                                    {!request.traces.traces.empty(), "‹trace›"},
                                    {!request.job.layout.empty(), "‹layout›"},
                                    {!request.device.empty(), "‹device›"},
                                    {!request.headroom.empty(), "‹headroom›"},
                                    {!request.job.framework.empty(), "‹framework›"},
                                    {!request.job.sequences.empty(), "‹seq›"},
                                    {!request.job.global_batch.empty(), "‹gbs›"},
                                    {!request.job.workload.empty(), "‹workload›"}}) {
    if (given) {
      return invalid("a case says all that is known of its job", what,
                     "without it, or without ‹case›");
    }
  }
  return {};
}

Result<agents::CaseWishes> case_wishes(const TuneRequest& request, const ChoiceFile& choices) {
  agents::CaseWishes wishes;
  if (!request.pin.empty()) {
    SEXTANT_TRY(wishes.pins, agents::parse_axis_pins(request.pin, "‹pin›"));
  }
  for (const std::string& idea : request.ideas) {
    SEXTANT_TRY(const agents::CaseMesh mesh, agents::parse_case_mesh(idea, "‹idea›"));
    wishes.ideas.push_back(mesh);
  }
  for (const agents::Candidate& one : choices.candidates) {
    SEXTANT_TRY(const agents::CaseMesh mesh, agents::parse_case_mesh(one.text, one.where));
    wishes.among.push_back(mesh);
  }
  return wishes;
}

Result<agents::Case> asked_case(const TuneRequest& request, const std::string& text,
                                const Context& context) {
  SEXTANT_TRY(agents::Case asked, agents::read_case(text, request.case_file));
  if (!request.job.cluster.empty()) {
    SEXTANT_TRY(asked, on_slice(std::move(asked), request.job.cluster, context));
  }
  if (request.without_profile) {
    asked.kpis = {};
    asked.operators.clear();
  }
  return asked;
}

}  // namespace

Result<ChoiceFile> read_choices(const std::string& file) {
  ChoiceFile choices;
  if (file.empty()) {
    return choices;
  }
  SEXTANT_TRY(const std::string text, read_text(file, kMostCaseFile));
  SEXTANT_TRY(choices.candidates, agents::read_candidates(text, file));
  choices.inputs = {{file, sha256_hex(text)}};
  return choices;
}

Result<PreparedTune> prepared_case(const TuneRequest& request, const Knowledge& knowledge,
                                   const Context& context) {
  SEXTANT_CHECK_OK(check_case_words(request));
  SEXTANT_TRY(const std::string text, read_text(request.case_file, kMostCaseFile));
  SEXTANT_TRY(agents::Case asked, asked_case(request, text, context));
  SEXTANT_TRY(const ChoiceFile choices, read_choices(request.among));
  SEXTANT_TRY(agents::CaseWishes wishes, case_wishes(request, choices));
  PreparedTune prepared{.provenance = knowledge.provenance, .tune = {}, .judge = {}};
  prepared.provenance.inputs.emplace_back(request.case_file, sha256_hex(text));
  prepared.provenance.inputs.insert(prepared.provenance.inputs.end(), choices.inputs.begin(),
                                    choices.inputs.end());
  const auto held = std::make_shared<const agents::Case>(std::move(asked));
  const auto tools_with = [&data = context.data, &knowledge, wishes = std::move(wishes),
                           with_model = !request.without_planner](const agents::Tools* tools) {
    return agents::CaseTools{.data = data,
                             .entries = knowledge.entries,
                             .tools = tools,
                             .with_model = with_model,
                             .wishes = wishes};
  };
  prepared.tune = [held, tools_with](const agents::Tools& tools) {
    return agents::tune_case(*held, tools_with(&tools));
  };
  prepared.judge = [held, tools_with](const verify::Proposal& proposal) {
    return agents::judge_case(*held, tools_with(nullptr), proposal);
  };
  prepared.beside = [judge = prepared.judge](const agents::Tools& tools, const agents::Report&) {
    LlmScene scene{.tools = tools, .judge = {}};
    scene.judge = agents::case_judge(judge, tools);
    return scene;
  };
  return prepared;
}

}  // namespace sextant::app
