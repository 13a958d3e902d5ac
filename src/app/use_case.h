// A use case as data: what it is for, the table of what it takes, examples, and the one function
// that answers. Command line, protocols, completion and documentation are made from the list.
#pragma once

#include <atomic>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/answered.h"
#include "app/context.h"
#include "base/result.h"
#include "explain/parameter_table.h"

namespace sextant::app {

using explain::Parameter;
using explain::ParameterKind;

// What was given, by a parameter's name. A flag that was given has any value.
class Values {
 public:
  Values() = default;
  Values(std::initializer_list<std::pair<std::string_view, std::string_view>> given);

  void add(std::string_view name, std::string value);
  [[nodiscard]] bool has(std::string_view name) const;
  // The first value, or "".
  [[nodiscard]] std::string one(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, std::vector<std::string>, std::less<>>& given() const {
    return given_;
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> given_;
};

// How whoever asked keeps hold of a long answer.
struct Control {
  const std::atomic<bool>* stop = nullptr;                // set: answer with what is found
  std::function<void(const std::string&)> progress = {};  // a line for a person, now and then
  // Of a session that takes questions: shows what was found so far and gives the next; nothing:
  // there are no more.
  std::function<std::optional<std::string>(const Reply& so_far)> next_question = {};
};

struct Example {
  std::vector<std::pair<std::string_view, std::string_view>> given;  // parameters and settings
  std::string_view use_case = {};                                    // "": the one it stands with
  std::string_view into = {};  // a file that takes the text of the answer
};

struct UseCase {
  std::string_view name;
  std::string_view summary;
  std::vector<Example> examples;
  std::vector<Parameter> parameters;
  Result<Reply> (*run)(const Values&, const Context&, const Control&) = nullptr;
  bool finds = false;      // its answers are findings with a place, for CI too
  bool stoppable = false;  // heeds Control::stop
};

// All of them, in the order a list of them is shown.
const std::vector<UseCase>& use_cases();
// Nothing where there is none of that name.
const UseCase* find_use_case(std::string_view name);

// What the use case answers to these values. An Error where one is not of its table, given too
// often, or missing that stands by place.
Result<Reply> ask(const UseCase& use_case, const Values& values, const Context& context,
                  const Control& control = {});

}  // namespace sextant::app
