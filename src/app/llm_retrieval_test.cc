// The knowledge base found by meaning: a scripted server whose vectors know that two spellings of a
// word are one.
#include "app/llm_retrieval.h"

#include <algorithm>
#include <cctype>
#include <iostream>

#include <gtest/gtest.h>

#include "base/scratch_folder_testing.h"
#include "base/text.h"
#include "kb/library.h"
#include "llm/scripted_model_testing.h"

namespace sextant::app {
namespace {

const std::shared_ptr<kb::Index>& known_index() {
  static const std::shared_ptr<kb::Index> kIndex = [] {
    const auto entries = kb::built_in_entries(describe::DataStore());
    EXPECT_TRUE(entries) << to_text(entries.error());
    return std::make_shared<kb::Index>(std::move(*kb::Index::of(*entries)));
  }();
  return kIndex;
}

std::string backwards(std::string word) {
  std::ranges::reverse(word);
  return word;
}
// A model of meaning that reads words from both ends, and one that does not.
std::string either_way(const std::string& word) {
  return std::min(word, backwards(word));
}
std::string as_it_stands(const std::string& word) {
  return word;
}

// Every word of it backwards: words that no entry holds.
std::string foreign(const std::string& text) {
  std::string all;
  std::string word;
  for (const char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      all += backwards(word) + " ";
      word.clear();
    }
  }
  return all;
}

struct Retrieved {
  llm::Spending spending{llm::Budget()};
  LlmRetrieval retrieval;

  explicit Retrieved(const llm::ScriptedModel& model, const std::filesystem::path& kept = {},
                     const agents::Masks& masks = {})
      : retrieval(known_index(), {.endpoint = {.base = model.url(), .model = "m"},
                                  .model = "vectors",
                                  .spending = &spending,
                                  .wait = [](Seconds) { return Result<void>(); },
                                  .masks = masks,
                                  .kept = kept}) {}

  std::vector<std::string> ids(const std::string& words) {
    const auto found = retrieval.search({.words = words});
    EXPECT_TRUE(found) << to_text(found.error());
    std::vector<std::string> ids;
    for (const kb::Entry& entry : *found) {
      ids.push_back(entry.id);
    }
    return ids;
  }
};

// Of every eighth practice: is it among the ten that are found where its title is asked?
double share_found(Retrieved& by, std::string (*spelled)(const std::string&)) {
  int asked = 0;
  int found = 0;
  int number = 0;
  for (const kb::Entry& entry : known_index()->entries()) {
    if (entry.kind != kb::EntryKind::kPractice || number++ % 8 != 0) {
      continue;
    }
    const std::vector<std::string> ids = by.ids(spelled(entry.title));
    ++asked;
    found += std::ranges::find(ids, entry.id) == ids.end() ? 0 : 1;
  }
  EXPECT_GT(asked, 20);
  return static_cast<double>(found) / static_cast<double>(asked);
}

TEST(LlmRetrieval, WhatNoWordFindsIsFoundByItsMeaning) {
  const llm::ScriptedModel none({});
  const llm::ScriptedModel blind({}, {}, llm::meaning_of_words(as_it_stands));
  const llm::ScriptedModel knowing({}, {}, llm::meaning_of_words(either_way));
  Retrieved by_words(none);
  Retrieved by_blind(blind);
  Retrieved by_meaning(knowing);
  const double words = share_found(by_words, foreign);
  const double senseless = share_found(by_blind, foreign);
  const double meaning = share_found(by_meaning, foreign);
  std::cout << "found of what was asked in other words: " << words << " by words, " << senseless
            << " with vectors that know nothing of it, " << meaning << " by meaning\n";
  EXPECT_GT(meaning, 0.9);
  // Some titles hold words that are the same from both ends: "pp", "101".
  EXPECT_GT(meaning, words + 0.7);
  EXPECT_LE(senseless, words);
}

TEST(LlmRetrieval, WhatWordsFindIsStillFound) {
  const llm::ScriptedModel none({});
  const llm::ScriptedModel knowing({}, {}, llm::meaning_of_words(either_way));
  Retrieved by_words(none);
  Retrieved by_meaning(knowing);
  const double words = share_found(by_words, as_it_stands);
  const double both = share_found(by_meaning, as_it_stands);
  std::cout << "found of what was asked in its own words: " << words << " by words, " << both
            << " by both\n";
  EXPECT_GE(both, words);
}

TEST(LlmRetrieval, WithoutEmbeddingsWordsAnswerAloneAndItIsSaid) {
  const llm::ScriptedModel none({});
  Retrieved by(none);
  EXPECT_EQ(by.retrieval.told(), "");
  const std::vector<std::string> ids = by.ids("exposed tensor parallel communication");
  std::vector<std::string> plain;
  const auto ranked = known_index()->search({.words = "exposed tensor parallel communication"});
  ASSERT_TRUE(ranked);
  for (const kb::Ranked& one : *ranked) {
    plain.push_back(known_index()->entries()[one.entry].id);
  }
  EXPECT_EQ(ids, plain);
  EXPECT_TRUE(by.retrieval.told().starts_with("by words alone: ")) << by.retrieval.told();
  EXPECT_NE(by.retrieval.told().find("404"), std::string::npos);
  by.ids("bubble");
  EXPECT_EQ(none.seen().size(), 1U);  // and it is not asked again
}

TEST(LlmRetrieval, AVectorIsAskedForOnce) {
  const ScratchFolder scratch;
  const llm::ScriptedModel knowing({}, {}, llm::meaning_of_words(either_way));
  const std::filesystem::path kept = scratch.path() / "kb.vectors";
  const std::size_t batches =
      (known_index()->entries().size() + llm::kMostEmbedded - 1) / llm::kMostEmbedded;
  Retrieved first(knowing, kept);
  const std::vector<std::string> ids = first.ids("bubble");
  first.ids("memory");
  EXPECT_EQ(knowing.seen().size(), batches + 2);
  EXPECT_EQ(first.spending.requests(), static_cast<int>(batches) + 2);
  Retrieved second(knowing, kept);
  EXPECT_EQ(second.retrieval.would_send(), "");
  EXPECT_EQ(second.ids("bubble"), ids);
  EXPECT_EQ(knowing.seen().size(), batches + 3);
  EXPECT_NE(second.retrieval.told().find("all of them"), std::string::npos)
      << second.retrieval.told();
}

TEST(LlmRetrieval, WhatWouldBeSentIsWhatIsSent) {
  const llm::ScriptedModel knowing({}, {}, llm::meaning_of_words(either_way));
  const std::string shown = Retrieved(knowing).retrieval.would_send();
  EXPECT_TRUE(knowing.seen().empty());
  Retrieved by(knowing);
  by.ids("bubble");
  for (std::size_t i = 0; i + 1 < knowing.seen().size(); ++i) {
    EXPECT_NE(shown.find(knowing.seen()[i].body), std::string::npos) << i;
  }
}

TEST(LlmRetrieval, NamesAreMaskedAndSecretsStay) {
  const llm::ScriptedModel knowing({}, {}, llm::meaning_of_words(either_way));
  Retrieved by(knowing, {}, agents::Masks({"Falcon-Secret"}));
  by.ids("why is Falcon-Secret slow at /home/ann/x, api_key=sk-live-abcdef0123456789abcdef");
  EXPECT_EQ(knowing.all_bodies().find("alcon"), std::string::npos);
  EXPECT_EQ(knowing.all_bodies().find("/home/ann"), std::string::npos);
  EXPECT_EQ(knowing.all_bodies().find("sk-live"), std::string::npos);
}

}  // namespace
}  // namespace sextant::app
