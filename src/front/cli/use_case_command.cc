#include "front/cli/use_case_command.h"

#include <array>
#include <utility>

#include "front/cli/artifacts.h"
#include "front/cli/exit_codes.h"
#include "front/cli/interrupt.h"
#include "front/cli/questions.h"
#include "front/cli/spelling.h"

namespace sextant::front {
namespace {

using app::Parameter;
using app::ParameterKind;
using app::UseCase;

// What a shell asks for at a parameter of the kind; others have words, or nothing.
constexpr std::array<std::pair<ParameterKind, std::string_view>, 9> kCompletions{
    {{ParameterKind::kModel, "models"},
     {ParameterKind::kCluster, "devices"},
     {ParameterKind::kDevice, "devices"},
     {ParameterKind::kLayout, "layout-keys"},
     {ParameterKind::kFramework, "frameworks"},
     {ParameterKind::kRule, "rules"},
     {ParameterKind::kFileToRead, "files"},
     {ParameterKind::kFileToWrite, "files"},
     {ParameterKind::kFolderToWrite, "files"}}};

std::string completion_of(const Parameter& parameter) {
  for (const auto& [kind, completion] : kCompletions) {
    if (kind == parameter.kind) {
      return std::string(completion);
    }
  }
  std::string words;
  for (const std::string_view word : parameter.words) {
    words += words.empty() ? "" : "|";
    words += word;
  }
  return words;
}

app::Values values_of(const UseCase& use_case, const Arguments& arguments) {
  app::Values values;
  for (const Parameter& parameter : use_case.parameters) {
    for (std::string& value : arguments.all(spelled(use_case, parameter))) {
      values.add(parameter.name, std::move(value));
    }
  }
  return values;
}

Result<app::Reply> asked(const UseCase& use_case, const app::Values& values,
                         const Session& session) {
  if (!use_case.stoppable) {
    return app::ask(use_case, values, session.context);
  }
  app::Control control = watched_control();
  control.next_question = [&](const app::Reply& so_far) {
    end_progress();
    return next_question(spelled_text(use_case, so_far.text(session.style)));
  };
  auto reply = app::ask(use_case, values, session.context, control);
  end_progress();
  return reply;
}

Result<Output> answered(const UseCase& use_case, const Arguments& arguments,
                        const Session& session) {
  auto reply = asked(use_case, values_of(use_case, arguments), session);
  if (!reply) {
    return tl::unexpected(spelled_error(use_case, std::move(reply.error())));
  }
  SEXTANT_TRY(const std::vector<std::string> written, write_artifacts(reply->artifacts));
  Output output{.text = spelled_text(use_case, reply->text(session.style)),
                .notes = std::move(reply->notes),
                .exit_code = exit_code_of(reply->outcome)};
  output.notes.insert(output.notes.end(), written.begin(), written.end());
  for (std::string& note : output.notes) {
    note = spelled_text(use_case, note);
  }
  return output;
}

}  // namespace

Command command_of(const UseCase& use_case) {
  Command command;
  command.name = use_case.name;
  command.summary = use_case.summary;
  command.has_findings = use_case.finds;
  for (const app::Example& example : use_case.examples) {
    command.examples.push_back(spelled(use_case, example));
  }
  for (const Parameter& parameter : use_case.parameters) {
    const std::string name = spelled(use_case, parameter);
    const std::string help = spelled_text(use_case, explain::help_text(parameter));
    if (parameter.positional) {
      command.positionals.push_back(
          {name, help, parameter.required, parameter.many, completion_of(parameter)});
    } else {
      command.options.push_back(
          {name, std::string(parameter.value), help, completion_of(parameter), parameter.many});
    }
  }
  command.run = [&use_case](const Arguments& arguments, const Session& session) {
    return answered(use_case, arguments, session);
  };
  return command;
}

}  // namespace sextant::front
