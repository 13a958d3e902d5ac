// Tools that keep what they were asked and what they answered: every call, reply, proposal and
// verdict goes to Tools::note as text. A tool that is not there answers with nothing.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "agents/tools.h"

namespace sextant::agents {

class NotedTools {
 public:
  // `tools` must outlive it.
  explicit NotedTools(const Tools& tools) : tools_(tools) {}

  [[nodiscard]] bool plans() const { return static_cast<bool>(tools_.plan); }
  [[nodiscard]] bool judges() const { return static_cast<bool>(tools_.judge); }
  [[nodiscard]] bool judges_elsewhere() const { return static_cast<bool>(tools_.judge_at); }

  [[nodiscard]] Result<std::vector<search::PlanRow>> plan(std::size_t most) const;
  // Nothing: there is no such tool.
  [[nodiscard]] Result<std::optional<search::PlanPath>> path(const describe::Layout& to) const;
  [[nodiscard]] Result<std::vector<kb::Entry>> search(const kb::Question& question) const;
  [[nodiscard]] Result<std::optional<step::Estimate>> estimate(std::string_view layout) const;
  // REQUIRES: judges(), and where `at` is given judges_elsewhere().
  [[nodiscard]] verify::Verdict judge(const verify::Proposal& proposal,
                                      const describe::Layout* at = nullptr) const;
  // The two events of a proposal that was judged without a tool.
  void judged(const verify::Proposal& proposal, const verify::Verdict& verdict) const;

 private:
  void note(kb::EventKind kind, std::string text) const;

  const Tools& tools_;
};

}  // namespace sextant::agents
