// A language model that reasons beside the built-in reasoner: it starts from its report, may ask
// the read-only tools and nothing else, and can only propose. Every proposal meets the judge; what
// is turned down goes back to it. It is believed in nothing and can end nothing but itself: where
// it is silent, broken or too dear, the built-in report stands alone, and why is said.
//
// Whatever it is sent is free of secrets, masked where that was asked for, and fenced as data where
// it is the job's. What it says is told to Tools::note with secrets removed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/llm_commands.h"
#include "agents/llm_masks.h"
#include "agents/llm_prompt.h"
#include "agents/llm_tools.h"
#include "agents/report.h"
#include "agents/tools.h"
#include "base/result.h"
#include "llm/conversation.h"

namespace sextant::agents {

struct LlmLimits {
  int rounds = 16;     // requests
  int calls = 48;      // of tools
  int proposals = 24;  // that are judged, those of the tool `judge` too
  int returns = 2;     // how often verdicts go back to it
  int malformed = 2;   // answers that cannot be read
};

// One language model, ready to be asked.
struct LlmMind {
  const LlmPrompt* prompt = nullptr;
  std::string model;  // "model NAME" is the author of its proposals
  // One request and its reply, paid for and tried again by whoever gives this.
  std::function<Result<llm::ModelReply>(const llm::Conversation&)> ask;
  // A proposal judged, with all that is told of one. What it does is noted.
  std::function<Judged(const verify::Proposal&)> judge;
  LlmCommands commands = {};
  Masks masks = {};
  LlmLimits limits = {};
};

struct LlmOutcome {
  std::vector<Judged> added;             // not among the built-in's, those that stand first
  std::size_t agreed = 0;                // its proposals that the built-in had too
  std::string summary;                   // its own words
  std::optional<std::string> fallback;   // it gave no answer: why
  std::optional<std::string> cut_short;  // it gave one, and was not let finish: why
};

class LlmReasoner {
 public:
  // `mind.prompt`, `tools` and `report` must outlive it.
  LlmReasoner(LlmMind mind, const Tools& tools, const Report& report);

  // What the first request would say.
  [[nodiscard]] const llm::Conversation& opening() const { return talk_; }
  // Once.
  LlmOutcome reasoned();
  // A question of the user's, after that, in the same conversation; tools as before. What it
  // proposes beside its words is judged and added.
  Result<LlmOutcome> answered(const std::string& question);

 private:
  std::optional<std::string> talk_until_done(LlmOutcome& outcome);
  std::optional<std::string> take_answer(const std::string& text, LlmOutcome& outcome);
  void take_calls(const std::vector<llm::ToolCall>& calls);
  llm::ToolResult result_of(const llm::ToolCall& call);
  Result<std::string> called(const llm::ToolCall& call);
  Judged judged(const verify::Proposal& proposal);
  void take_judged(Judged one, LlmOutcome& outcome);
  void say(std::string text, bool may_call);
  [[nodiscard]] std::string outgoing(std::string_view text);
  void note(kb::EventKind kind, const std::string& text) const;

  LlmMind mind_;
  const Tools& tools_;
  LlmTools callable_;
  const Report& report_;
  llm::Conversation talk_;
  std::vector<Judged> kept_;  // that were added
  bool has_answered_ = false;
  int rounds_ = 0;
  int calls_ = 0;
  int proposals_ = 0;
  int returns_ = 0;
  int malformed_ = 0;
};

}  // namespace sextant::agents
