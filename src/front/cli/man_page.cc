// Manual pages, generated from the table of commands: sextant(1) and one page a command,
// sextant-plan(1).
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/self_view.h"
#include "front/cli/build_source.h"
#include "front/cli/command.h"

namespace sextant::front {
namespace {

// Text that roff prints as it stands: no escapes, no hyphenated minus signs, no line read as a
// request.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if ((escaped.empty() || escaped.back() == '\n') && (c == '.' || c == '\'')) {
      escaped += "\\&";
    }
    escaped += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return escaped;
}

std::string page_head(std::string_view name, std::string_view summary) {
  std::string title(name);
  std::transform(title.begin(), title.end(), title.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return fmt::format(".TH {} 1 \"{}\" \"sextant {}\" \"Sextant\"\n.SH NAME\n{} \\- {}\n",
                     roff(title), build_source().date, explain::tool_version(), roff(name),
                     roff(summary));
}

// .TP: a term, the value it takes and, indented below it, what it means.
std::string defined(std::string_view term, std::string_view value, std::string_view meaning) {
  std::vector<std::string> words;
  if (!term.empty()) {
    words.push_back(fmt::format("\\fB{}\\fR", roff(term)));
  }
  if (!value.empty()) {
    words.push_back(fmt::format("\\fI{}\\fR", roff(value)));
  }
  return fmt::format(".TP\n{}\n{}\n", join(words, " "), roff(meaning));
}

std::string examples_section(const std::vector<std::string>& examples) {
  std::string text = examples.empty() ? "" : ".SH EXAMPLES\n.EX\n";
  for (const std::string& example : examples) {
    text += roff(example) + "\n";
  }
  return text + (examples.empty() ? "" : ".EE\n");
}

std::string exit_section() {
  return ".SH EXIT STATUS\n" + defined("0", "", "fine") + defined("1", "", "the answer is no") +
         defined("2", "", "bad usage or input") + defined("3", "", "something outside failed") +
         defined("130", "", "stopped by Ctrl-C; what was found so far is printed");
}

std::string command_page(const Command& command) {
  std::string text = page_head(fmt::format("sextant-{}", command.name), command.summary);
  text += fmt::format(".SH SYNOPSIS\n\\fBsextant {}\\fR", roff(command.name));
  for (const Positional& positional : command.positionals) {
    const std::string name =
        fmt::format("\\fI{}\\fR{}", roff(positional.name), positional.many ? "..." : "");
    text += positional.required ? " " + name : " [" + name + "]";
  }
  text += " [\\fIoptions\\fR]\n.SH OPTIONS\n";
  for (const Positional& positional : command.positionals) {
    text += defined("", positional.name, positional.help);
  }
  for (const Option& option : command.options) {
    text += defined(option.name, option.value, option.help);
  }
  for (const Option& option : common_options()) {
    text += defined(option.name, option.value, option.help);
  }
  return text + examples_section(command.examples) + exit_section() +
         ".SH SEE ALSO\n\\fBsextant\\fR(1)\n";
}

std::string main_page() {
  std::string text =
      page_head("sextant", "the fastest way to train this model on this cluster, and why");
  text +=
      ".SH SYNOPSIS\n\\fBsextant\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n"
      ".SH DESCRIPTION\nThe performance engineer for large\\-scale LLM training. Every number it "
      "says is traceable to "
      "a formula, a measurement or a citation. It needs no network.\n.SH COMMANDS\n";
  for (const Command& command : commands()) {
    if (!command.hidden) {
      text += defined(command.name, "", command.summary);
    }
  }
  text += ".SH SEE ALSO\n";
  for (const Command& command : commands()) {
    if (!command.hidden) {
      text += fmt::format("\\fBsextant\\-{}\\fR(1)\n", roff(command.name));
    }
  }
  return text + exit_section();
}

// Names of all pages, one a line; or one of them.
Result<Output> man_page(const std::string& page) {
  std::vector<std::string> names{"sextant"};
  for (const Command& command : commands()) {
    if (!command.hidden) {
      names.push_back(fmt::format("sextant-{}", command.name));
      if (names.back() == page) {
        return Output{command_page(command), {}, 0};
      }
    }
  }
  if (page.empty()) {
    return Output{join(names, "\n") + "\n", {}, 0};
  }
  if (page == "sextant") {
    return Output{main_page(), {}, 0};
  }
  return invalid(fmt::format("there is no page '{}'", printable(page)), "sextant __man",
                 join(names, ", "));
}

}  // namespace

Command man_command() {
  return {.name = "__man",
          .summary = "A manual page, for packages",
          .examples = {},
          .positionals = {{.name = "PAGE",
                           .help = "sextant, sextant-plan, …",
                           .required = false,
                           .complete = ""}},
          .options = {},
          .run = [](const Arguments& arguments,
                    const Session&) { return man_page(arguments.one("PAGE")); },
          .hidden = true};
}

}  // namespace sextant::front
