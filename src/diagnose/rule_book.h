// What each rule of a diagnosis means and what to do about it, in words: data/diagnose/*.toml,
// a file for each family of rules.
// Which moments a rule finds is code (the *_rules.h beside this); what it advises is data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"

namespace sextant::diagnose {

// A setting of one framework that does what the advice says.
struct Setting {
  std::string
      framework;     // "megatron-core", "torchtitan", "pytorch", "deepspeed", "maxtext", "nccl"
  std::string text;  // "--num-workers 8"
};

struct Advice {
  std::string id;    // "workers"; of its rule
  std::string what;  // one sentence
  std::vector<Setting> settings;
  std::string source;  // where it is advised: a page, a paper
  bool mends = true;   // false: it shows what the cause is, and makes no step shorter
};

struct Rule {
  std::string id;       // "input-bound"
  std::string title;    // "devices wait for data"
  std::string meaning;  // what it is and how it is told from others
  std::string record;   // which flag records what it asks for
  std::vector<Advice> advice;
};

class RuleBook {
 public:
  // An Error names file, line and key.
  static Result<RuleBook> load(const describe::DataStore& data);

  [[nodiscard]] const std::vector<Rule>& rules() const { return rules_; }  // by id
  // REQUIRES: there is one (a test holds every rule of the code to the book).
  [[nodiscard]] const Rule& rule(std::string_view id) const;
  [[nodiscard]] const Rule* find(std::string_view id) const;  // null: there is none

 private:
  std::vector<Rule> rules_;
};

}  // namespace sextant::diagnose
