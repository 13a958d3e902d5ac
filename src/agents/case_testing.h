// What tests of the reasoner on cases share: data, entries, and the published cases beside the
// checkout. Only tests include this.
#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "agents/case_file.h"
#include "agents/tune_case.h"
#include "base/file.h"
#include "base/places_testing.h"
#include "base/text.h"
#include "describe/toml_table.h"
#include "kb/library.h"

namespace sextant::agents {

inline const describe::DataStore& case_data() {
  static const describe::DataStore kData;
  return kData;
}

// Is it derived from the papers that the published cases come from?
inline bool is_of_the_cases(const kb::Entry& entry) {
  const std::string said =
      to_lower(entry.title + "\n" + entry.source + "\n" + entry.url + "\n" + entry.section);
  return said.find("asap") != std::string::npos || said.find("prompts") != std::string::npos;
}

// All that is built in, but for what the cases' own papers say.
inline const std::vector<kb::Entry>& entries_of_others() {
  static const std::vector<kb::Entry> kEntries = [] {
    auto entries = kb::built_in_entries(case_data());
    EXPECT_TRUE(entries) << to_text(entries.error());
    std::erase_if(*entries, is_of_the_cases);
    return std::move(*entries);
  }();
  return kEntries;
}

inline CaseMesh mesh_of(std::int64_t data, std::int64_t seq, std::int64_t model) {
  return {{1, data, seq, model}};
}

// A published case with its answer, which the reader of cases drops.
struct PublishedCase {
  Case asked;
  CaseMesh adopted;
  std::string bottleneck;
  std::vector<CaseMesh> out_of_memory;
};

// An axis of "answer.adopted.model", "answer.out_of_memory.0.model".
inline void take_answer(const describe::TomlEntry& entry, PublishedCase& published) {
  const std::vector<std::string_view> parts = split(entry.key, '.');
  if (parts.size() == 2 && parts[1] == "bottleneck") {
    published.bottleneck = entry.values.front();
  }
  const auto axis =
      std::ranges::find(kCaseAxisWords, parts.back(), [](const auto& one) { return one.second; });
  if (parts.size() < 3 || axis == kCaseAxisWords.end()) {
    return;
  }
  const std::int64_t size = to_integer(entry.values.front()).value_or(0);
  if (parts[1] == "adopted") {
    published.adopted[axis->first] = size;
  } else if (parts[1] == "out_of_memory") {
    const auto index = static_cast<std::size_t>(to_integer(parts[2]).value_or(0));
    published.out_of_memory.resize(std::max(published.out_of_memory.size(), index + 1));
    published.out_of_memory[index][axis->first] = size;
  }
}

// Nothing where the cases are not beside the checkout.
inline std::optional<PublishedCase> published_case(int number) {
  const std::filesystem::path file =
      shared_folder() / "cases" / ("case" + std::to_string(number) + ".toml");
  if (!std::filesystem::exists(file)) {
    return std::nullopt;
  }
  const auto text = read_text(file, 1_MiB);
  EXPECT_TRUE(text) << to_text(text.error());
  auto asked = read_case(*text, file.string());
  EXPECT_TRUE(asked) << to_text(asked.error());
  PublishedCase published{
      .asked = std::move(*asked), .adopted = {}, .bottleneck = {}, .out_of_memory = {}};
  const auto entries = describe::toml_entries(*text, file.string());
  for (const describe::TomlEntry& entry : *entries) {
    if (entry.key.starts_with("answer.")) {
      take_answer(entry, published);
    }
  }
  return published;
}

inline Report tuned(const Case& asked, CaseTools tools) {
  auto report = tune_case(asked, tools);
  EXPECT_TRUE(report) << to_text(report.error());
  return report ? std::move(*report) : Report{};
}

// Without models, which are the slow part.
inline Report quickly_tuned(const Case& asked) {
  return tuned(asked, {.data = case_data(), .entries = entries_of_others(), .with_model = false});
}

inline std::vector<std::string> meshes_of_report(const Report& report) {
  std::vector<std::string> meshes;
  for (const Judged& one : report.proposals) {
    meshes.push_back(one.mesh);
  }
  return meshes;
}

// A small case of our own.
inline Case made_case() {
  return {.where = "made.toml",
          .device = "tpu-v5p",
          .chips = 64,
          .topology = Topology{4, 4, 4},
          .batch = 64,
          .sequence_length = 4096,
          .baseline = mesh_of(4, 4, 4),
          .kpis = {.duty_cycle = 0.99},
          .operators = {
              {.name = "fusion.1",
               .category = "convolution fusion",
               .bound = metrics::OperatorBound::kCompute,
               .share = 0.2,
               .efficiency = 0.7},
              {.name = "collective-permute.1", .category = "collective-permute", .share = 0.2}}};
}

}  // namespace sextant::agents
