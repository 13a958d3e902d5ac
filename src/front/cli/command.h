// A subcommand as data: what it takes, examples, and what it runs. The parser, the help, the shell
// completion and the manual pages all read this table. Those of use cases are made from app's
// tables (use_case_command.h); the others are the command line's own.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "explain/style.h"

namespace sextant::front {

// What a command gives back: text for standard output, notes for standard error, the exit code.
struct Output {
  std::string text;
  std::vector<std::string> notes;
  int exit_code = 0;
};

// What a command runs in.
struct Session {
  app::Context context;
  explain::Style style;
};

// What the user gave, by option or positional name ("--rows", "MODEL").
class Arguments {
 public:
  void add(const std::string& name, std::string value) {
    values_[name].push_back(std::move(value));
  }
  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  // The first value, or "".
  [[nodiscard]] std::string one(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> all(const std::string& name) const;

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

struct Option {
  std::string name;   // "--rows"
  std::string value;  // "FILE"; empty: a flag
  std::string help;
  std::string complete;  // "files", a kind of `sextant __complete`, or words joined by '|'
  bool many = false;     // may be given several times; else the last one counts
};

struct Positional {
  std::string name;  // "MODEL"
  std::string help;
  bool required = true;
  bool many = false;
  std::string complete = {};
};

struct Command {
  std::string name;
  std::string summary;
  std::vector<std::string> examples;
  std::vector<Positional> positionals;
  std::vector<Option> options;
  std::function<Result<Output>(const Arguments&, const Session&)> run;
  bool hidden = false;
  bool has_findings = false;   // -o github and -o sarif too
  bool takes_command = false;  // what stands behind "--" is another program's, for its positional
};

// One function a subcommand that is no use case, one file each.
Command capture_command();
Command completion_command();
Command config_command();
Command doctor_command();
Command mcp_command();
Command complete_command();  // hidden: words for the shell
Command man_command();       // hidden: manual pages for packages

// All of them, in the order help shows.
const std::vector<Command>& commands();
// Options every command takes.
const std::vector<Option>& common_options();

}  // namespace sextant::front
