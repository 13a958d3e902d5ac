// What tests of `sextant plan` share: a small problem, and answers as JSON.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace sextant::tests {

using nlohmann::json;

using Words = std::vector<std::string>;

// A small problem: an 8B model on one node, and few values of what multiplies a space.
inline Words plan_words(const Words& more, const std::string& fix = "cp=1,mbs=1") {
  Words words{"plan", "llama-3.1-8b", "--on", "8xh100-sxm", "--gbs", "64", "--fix", fix};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline json answer_of(Words words, int exit_code = 0) {
  words.emplace_back("--json");
  const Ran ran = run_sextant(words);
  EXPECT_EQ(ran.exit_code, exit_code) << ran.err << ran.out;
  return json::parse(ran.out);
}

inline json estimate_of(const std::string& layout) {
  return json::parse(run_sextant({"estimate", "llama-3.1-8b", "--on", "8xh100-sxm", "--gbs", "64",
                                  "--layout", layout, "--json"})
                         .out);
}

inline double step_of(const json& of) {
  return of["step_time_s"].get<double>();
}

inline void expect_said(const std::string& text, const Words& said) {
  for (const std::string& one : said) {
    EXPECT_NE(text.find(one), std::string::npos) << one << "\n" << text;
  }
}

}  // namespace sextant::tests
