// What a use case answers: a value, whether it says yes, what is to be told beside it, and files to
// be written. Nothing here is text for a terminal, and nothing has been written yet: both are for
// whoever asked.
//
// Texts for people name a parameter as ‹gbs›, with its value as ‹gbs SEQUENCES›, and a use case as
// «plan»; whoever shows them spells these its own way (front/cli/spelling.h: --gbs, sextant plan).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "explain/term_tree.h"
#include "explain/violation_view.h"

namespace sextant::app {

enum class Outcome : std::uint8_t {
  kFine,
  kNo,           // a legal question whose answer is no
  kInterrupted,  // stopped by who asked; the answer is what was found until then
};

// A file that the request asked for.
struct Artifact {
  using Sink = std::function<void(std::string_view)>;

  std::string path;  // as the request named it; below the folder it named
  std::string bytes = {};
  // Instead of `bytes`, for what is too large to be held: gives them piece by piece.
  std::function<void(const Sink&)> pour = {};
  bool executable = false;
  bool makes_folders = false;          // those it lies in; else they must be there
  std::vector<std::string> note = {};  // to be said once it is written
};

template <typename Answer>
struct Answered {
  Answer answer;
  Outcome outcome = Outcome::kFine;
  std::vector<std::string> notes = {};
  std::vector<Artifact> artifacts = {};
};

// A job that breaks rules has them as its answer.
template <typename... Answer>
using OrIllegal = std::variant<Answer..., explain::NotLegal>;

// What a job's numbers are made of.
using Explained = Answered<OrIllegal<explain::TreeAnswer>>;

// An answer of any type: it can be shown. What generic callers (command line, protocols) hold.
struct Reply {
  std::function<std::string(const explain::Style&)> text;
  Outcome outcome = Outcome::kFine;
  std::vector<std::string> notes = {};
  std::vector<Artifact> artifacts = {};
};

// As a table on no terminal, for whoever reads words and no document.
inline std::string plain_text(const Reply& reply) {
  return reply.text({.format = explain::Format::kTable});
}

template <typename Answer>
Reply reply_of(Answered<Answer> answered) {
  return {.text = [answer = std::move(answered.answer)](
                      const explain::Style& style) { return to_text(answer, style); },
          .outcome = answered.outcome,
          .notes = std::move(answered.notes),
          .artifacts = std::move(answered.artifacts)};
}

template <typename... Answer>
Reply reply_of(Answered<std::variant<Answer...>> answered) {
  return {.text =
              [answer = std::move(answered.answer)](const explain::Style& style) {
                return std::visit([&style](const auto& one) { return to_text(one, style); },
                                  answer);
              },
          .outcome = answered.outcome,
          .notes = std::move(answered.notes),
          .artifacts = std::move(answered.artifacts)};
}

// For what every use case ends with: a Reply, or the Error.
template <typename Answer>
Result<Reply> reply_of(Result<Answered<Answer>> answered) {
  SEXTANT_TRY(Answered<Answer> found, std::move(answered));
  return reply_of(std::move(found));
}

}  // namespace sextant::app
