#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "agents/proposal_text.h"
#include "app/tune_parts.h"
#include "base/text.h"

namespace sextant::app {
namespace {

using explain::ReplayedEvent;

// A start of a session, made ready again; or why not.
struct Again {
  std::shared_ptr<const Knowledge> knowledge;
  std::optional<PreparedTune> prepared;
  std::string why_not;
};

// The first input that is not what it was; "": all are.
std::string changed_input(const SessionStart& start, const explain::Provenance& today) {
  for (const auto& input : start.inputs) {
    if (std::ranges::find(today.inputs, input) == today.inputs.end()) {
      return input.first;
    }
  }
  return {};
}

Again again(const SessionStart& start, const std::string& kb_word, const Context& context,
            const Control& control) {
  Again made;
  Values values;
  for (const auto& [name, value] : start.words) {
    values.add(name, value);
  }
  const TuneRequest request = tune_request(values);
  auto knowledge = knowledge_of(kb_word, request.without_kb, context);
  if (!knowledge) {
    made.why_not = to_text(knowledge.error());
    return made;
  }
  made.knowledge = std::make_shared<const Knowledge>(std::move(*knowledge));
  auto prepared = prepared_tune(request, *made.knowledge, context, control);
  if (!prepared) {
    made.why_not = to_text(prepared.error());
    return made;
  }
  const std::string changed = changed_input(start, prepared->provenance);
  made.why_not = changed.empty() ? "" : fmt::format("{} is not what it was", printable(changed));
  made.prepared = std::move(*prepared);
  return made;
}

class Replay {
 public:
  Replay(const std::string& kb_word, const Context& context, const Control& control)
      : kb_word_(kb_word), context_(context), control_(control) {}

  ReplayedEvent of(const kb::LoggedEvent& logged) {
    ReplayedEvent event{.logged = logged};
    if (const auto start = parse_start(logged.event.text);
        start && logged.event.kind == kb::EventKind::kToolCall) {
      again_ = again(*start, kb_word_, context_, control_);
    } else if (logged.event.kind == kb::EventKind::kProposal) {
      judge(logged.event.text);
    } else if (logged.event.kind == kb::EventKind::kVerdict) {
      compare(event);
    }
    return event;
  }

 private:
  void judge(const std::string& text) {
    today_.reset();
    why_not_ = again_.why_not;
    if (!again_.prepared || !why_not_.empty()) {
      return;
    }
    const auto proposal = agents::parse_proposal(text, "the log");
    if (!proposal) {
      why_not_ = to_text(proposal.error());
      return;
    }
    auto verdict = again_.prepared->judge(*proposal);
    if (verdict) {
      today_ = std::move(*verdict);
    } else {
      why_not_ = to_text(verdict.error());
    }
  }

  void compare(ReplayedEvent& event) {
    if (!today_) {
      event.today = "not judged again: " +
                    (why_not_.empty() ? std::string("there is no proposal before it") : why_not_);
      event.agrees = false;
      return;
    }
    const auto then = agents::parse_ruling(event.logged.event.text, "the log");
    event.agrees = then && *then == today_->ruling;
    event.today = fmt::format(
        "{}: {}", describe::word_of<verify::Ruling>(verify::kRulingWords, today_->ruling),
        today_->reason);
    today_.reset();
  }

  const std::string& kb_word_;
  const Context& context_;
  const Control& control_;
  Again again_;
  std::optional<verify::Verdict> today_;
  std::string why_not_;
};

}  // namespace

Result<Answered<explain::TuneLogAnswer>> tune_log(const TuneLogRequest& request,
                                                  const Context& context, const Control& control) {
  SEXTANT_TRY(kb::Log log, kb::Log::open(kb_file(request.kb_file, context), kb::Access::kRead));
  Answered<explain::TuneLogAnswer> answered{
      .answer = {.provenance = {std::string(explain::tool_version()), {}}}};
  if (request.session.empty()) {
    SEXTANT_TRY(answered.answer.sessions, log.sessions());
    return answered;
  }
  Replay replay(request.kb_file, context, control);
  std::vector<ReplayedEvent>& events = answered.answer.events;
  SEXTANT_CHECK_OK(log.replay(request.session, [&](const kb::LoggedEvent& logged) {
    events.push_back(request.replays ? replay.of(logged) : ReplayedEvent{.logged = logged});
  }));
  const bool all_agree = std::ranges::all_of(events, &ReplayedEvent::agrees);
  answered.outcome = all_agree ? Outcome::kFine : Outcome::kNo;
  return answered;
}

}  // namespace sextant::app
