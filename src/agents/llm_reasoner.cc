#include "agents/llm_reasoner.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agents/llm_answer.h"
#include "agents/llm_report.h"
#include "base/text.h"
#include "kb/secrets.h"
#include "verify/judge.h"

namespace sextant::agents {
namespace {

// Of one tool's answer, sent to the model.
constexpr std::size_t kLongestToolText = 12000;
// Of what it says, in the log.
constexpr std::size_t kLongestNote = 65536;

// Where the prompt leaves a place for it.
void put_in(std::string& text, std::string_view what) {
  if (const std::size_t at = text.find("{}"); at != std::string::npos) {
    text.replace(at, 2, what);
  }
}

bool is_same_change(const Judged& one, const Judged& other) {
  if (one.verdict.layout && other.verdict.layout) {
    return *one.verdict.layout == *other.verdict.layout &&
           one.proposal.change.setting == other.proposal.change.setting;
  }
  return one.proposal.change == other.proposal.change;
}

bool is_among(const std::vector<Judged>& list, const Judged& one) {
  return std::ranges::any_of(list, [&](const Judged& other) { return is_same_change(one, other); });
}

void put_plain(const Masks& masks, verify::Proposal& proposal) {
  for (std::string* text : {&proposal.title, &proposal.change.layout, &proposal.change.setting,
                            &proposal.change.mends, &proposal.reasoning.bottleneck,
                            &proposal.reasoning.memory, &proposal.reasoning.comparison}) {
    *text = masks.plain(*text);
  }
  for (std::string& text : proposal.trade_offs) {
    text = masks.plain(text);
  }
  for (verify::Citation& citation : proposal.citations) {
    citation.id = masks.plain(citation.id);
  }
}

}  // namespace

LlmReasoner::LlmReasoner(LlmMind mind, const Tools& tools, const Report& report)
    : mind_(std::move(mind)), tools_(tools), callable_(tools, mind_.commands), report_(report) {
  talk_.system = mind_.prompt->system;
  for (const llm::ToolOffer& tool : mind_.prompt->tools) {
    if (tool.name == "judge" || callable_.offers(tool.name)) {
      talk_.tools.push_back(tool);
      put_in(talk_.tools.back().description, callable_.command_lines());
    }
  }
  say(mind_.prompt->start + fenced("report", outgoing(report_for_model(report))), true);
}

LlmOutcome LlmReasoner::reasoned() {
  LlmOutcome outcome;
  note(kb::EventKind::kToolCall,
       fmt::format("model {} is asked, prompt {}", mind_.model, mind_.prompt->version));
  const auto stopped = talk_until_done(outcome);
  (has_answered_ ? outcome.cut_short : outcome.fallback) = stopped;
  std::ranges::stable_sort(outcome.added, [](const Judged& one, const Judged& other) {
    return verify::stands_before(one.verdict, other.verdict);
  });
  return outcome;
}

Result<LlmOutcome> LlmReasoner::answered(const std::string& question) {
  LlmOutcome outcome;
  note(kb::EventKind::kToolCall, "question: " + question);
  rounds_ = calls_ = returns_ = malformed_ = proposals_ = 0;
  has_answered_ = false;
  say("A question of the user's; answer it in the summary, and propose only what is new.\n" +
          outgoing(question),
      true);
  if (const auto stopped = talk_until_done(outcome); stopped && !has_answered_) {
    return external(*stopped);
  }
  return outcome;
}

// Nothing: it said all it wanted to say; else why it was ended.
std::optional<std::string> LlmReasoner::talk_until_done(LlmOutcome& outcome) {
  for (rounds_ = 1; rounds_ <= mind_.limits.rounds; ++rounds_) {
    if (rounds_ == mind_.limits.rounds || calls_ >= mind_.limits.calls) {
      talk_.may_call = false;
      talk_.answer_schema = mind_.prompt->answer_schema;
    }
    Result<llm::ModelReply> reply = mind_.ask(talk_);
    if (!reply) {
      note(kb::EventKind::kReply, "error: " + to_text(reply.error()));
      return to_text(reply.error());
    }
    note(kb::EventKind::kReply, fmt::format("model {}: {}", mind_.model, reply->text));
    if (reply->ending == llm::Ending::kRefused) {
      return "the model declined to answer";
    }
    talk_.turns.push_back(
        {.speaker = llm::Speaker::kModel, .text = reply->text, .calls = reply->calls});
    if (!reply->calls.empty()) {
      take_calls(reply->calls);
      continue;
    }
    if (reply->text.empty()) {
      talk_.turns.back().text = "(nothing)";  // a turn must not be empty
    }
    if (auto stopped = take_answer(reply->text, outcome)) {
      return stopped->empty() ? std::nullopt : stopped;
    }
  }
  return fmt::format("it did not come to an end within {} requests", mind_.limits.rounds);
}

void LlmReasoner::take_calls(const std::vector<llm::ToolCall>& calls) {
  llm::Turn turn{.speaker = llm::Speaker::kTools};
  for (const llm::ToolCall& call : calls) {
    turn.results.push_back(result_of(call));
  }
  talk_.turns.push_back(std::move(turn));
}

llm::ToolResult LlmReasoner::result_of(const llm::ToolCall& call) {
  note(kb::EventKind::kToolCall,
       fmt::format("model {} calls {} {}", mind_.model, printable(call.name), call.arguments));
  llm::ToolResult result{.id = call.id, .text = {}, .is_error = true};
  if (calls_ >= mind_.limits.calls) {
    result.text = "no more calls in this session; answer now";
    return result;
  }
  ++calls_;
  const Result<std::string> said = called(call);
  result.is_error = !said.has_value();
  if (!said) {
    note(kb::EventKind::kReply, "error: " + to_text(said.error()));
    result.text = outgoing(to_text(said.error()));
    return result;
  }
  std::string text = outgoing(*said);
  if (text.size() > kLongestToolText) {
    const std::size_t line = text.rfind('\n', kLongestToolText);
    text = text.substr(0, line == std::string::npos ? kLongestToolText : line) +
           "\n(more was left out)\n";
  }
  result.text = fenced(call.name, text);
  return result;
}

Result<std::string> LlmReasoner::called(const llm::ToolCall& call) {
  const std::string arguments = mind_.masks.plain(call.arguments);
  if (call.name != "judge") {
    return callable_.called(call.name, arguments);
  }
  SEXTANT_TRY(const verify::Proposal proposal,
              parse_llm_proposal(arguments, "model " + mind_.model));
  if (proposals_ >= mind_.limits.proposals) {
    return external("no more proposals are judged in this session");
  }
  const Judged one = judged(proposal);
  return verdict_for_model(one.proposal, one.verdict);
}

Judged LlmReasoner::judged(const verify::Proposal& proposal) {
  ++proposals_;
  return mind_.judge(proposal);
}

// Nothing: it goes on; "": it is done; else why it is ended.
std::optional<std::string> LlmReasoner::take_answer(const std::string& text, LlmOutcome& outcome) {
  Result<LlmAnswer> answer = parse_llm_answer(text, "model " + mind_.model);
  if (!answer) {
    if (malformed_++ >= mind_.limits.malformed) {
      return "its answers are not the JSON asked for: " + to_text(answer.error());
    }
    std::string words = mind_.prompt->malformed;
    put_in(words, outgoing(to_text(answer.error())));
    say(std::move(words), false);
    return std::nullopt;
  }
  has_answered_ = true;
  outcome.summary += (outcome.summary.empty() ? "" : " ") + mind_.masks.plain(answer->summary);
  std::string verdicts;
  for (verify::Proposal& proposal : answer->proposals) {
    if (proposals_ >= mind_.limits.proposals) {
      return fmt::format("more than {} proposals", mind_.limits.proposals);
    }
    put_plain(mind_.masks, proposal);
    Judged one = judged(proposal);
    if (!one.verdict.stands()) {
      verdicts += verdict_for_model(one.proposal, one.verdict) + "\n";
    }
    take_judged(std::move(one), outcome);
  }
  if (verdicts.empty() || returns_++ >= mind_.limits.returns) {
    return "";
  }
  say(mind_.prompt->judged + fenced("verdicts", outgoing(verdicts)), true);
  return std::nullopt;
}

void LlmReasoner::take_judged(Judged one, LlmOutcome& outcome) {
  if (is_among(report_.proposals, one)) {
    ++outcome.agreed;
  } else if (!is_among(kept_, one)) {
    kept_.push_back(one);
    outcome.added.push_back(std::move(one));
  }
}

void LlmReasoner::say(std::string text, bool may_call) {
  talk_.may_call = may_call;
  talk_.answer_schema = may_call ? std::string() : mind_.prompt->answer_schema;
  talk_.turns.push_back({.speaker = llm::Speaker::kUser, .text = std::move(text)});
}

std::string LlmReasoner::outgoing(std::string_view text) {
  return mind_.masks.masked(kb::redacted(text));
}

void LlmReasoner::note(kb::EventKind kind, const std::string& text) const {
  if (tools_.note) {
    // Cut after what is secret is gone: half a key is known to nobody as one.
    std::string kept = kb::redacted(mind_.masks.plain(text));
    kept.resize(std::min(kept.size(), kLongestNote));
    tools_.note(kind, std::move(kept));
  }
}

}  // namespace sextant::agents
