// The reasoner on the four published cases, every entry derived from their papers removed, and on
// variants of them: changing one fact changes the answer as it should.
#include "agents/tune_case.h"

#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agents/case_testing.h"
#include "agents/mesh_rules.h"

namespace sextant::agents {
namespace {

using metrics::OperatorBound;

constexpr int kPublishedCases = 4;

TEST(PublishedCases, TheAdoptedMeshIsAmongThreeAndFirstInThreeOfFour) {
  int first = 0;
  for (int number = 1; number <= kPublishedCases; ++number) {
    const auto published = published_case(number);
    if (!published) {
      GTEST_SKIP() << "no published cases beside the checkout: " << shared_folder() / "cases";
    }
    const Report report = quickly_tuned(published->asked);
    const std::vector<std::string> meshes = meshes_of_report(report);
    const std::string adopted = to_text(published->adopted);
    ASSERT_EQ(meshes.size(), 3U) << "case " << number;
    EXPECT_EQ(std::set(meshes.begin(), meshes.end()).size(), 3U) << "case " << number;
    EXPECT_NE(std::ranges::find(meshes, adopted), meshes.end()) << adopted;
    first += meshes.front() == adopted ? 1 : 0;
  }
  EXPECT_GE(first, 3);
}

TEST(PublishedCases, TheBottleneckIsOfTheirClass) {
  // As their engineers have it: the last is "memory and communication stalls".
  for (int number = 1; number <= kPublishedCases; ++number) {
    const auto published = published_case(number);
    if (!published) {
      GTEST_SKIP() << "no published cases beside the checkout";
    }
    const Report report = quickly_tuned(published->asked);
    const std::string found(diagnose::name_of(report.analysis.settled.bottleneck));
    EXPECT_NE(published->bottleneck.find(found), std::string::npos)
        << "case " << number << ": " << found << " for " << published->bottleneck;
    EXPECT_LE(report.analysis.operators.size(), 5U);
    EXPECT_FALSE(report.analysis.root_cause.empty());
  }
}

TEST(PublishedCases, EveryProposalIsLegalAndEveryRuleCitesASourceOfItsOwn) {
  for (int number = 1; number <= kPublishedCases; ++number) {
    const auto published = published_case(number);
    if (!published) {
      GTEST_SKIP() << "no published cases beside the checkout";
    }
    const Case& asked = published->asked;
    for (const Judged& one : quickly_tuned(asked).proposals) {
      EXPECT_NE(one.verdict.ruling, verify::Ruling::kRejected) << one.mesh;
      const auto mesh = parse_case_mesh(one.mesh, "proposal");
      ASSERT_TRUE(mesh);
      EXPECT_EQ(mesh->chips(), asked.chips) << one.mesh;
      EXPECT_EQ(asked.batch.value_or(mesh->batch_parts()) % mesh->batch_parts(), 0) << one.mesh;
      ASSERT_FALSE(one.proposal.citations.empty()) << one.mesh;
      for (const verify::Citation& citation : one.proposal.citations) {
        const auto entry = std::ranges::find(entries_of_others(), citation.id, &kb::Entry::id);
        ASSERT_NE(entry, entries_of_others().end()) << citation.id;
        EXPECT_FALSE(entry->source.empty());
      }
    }
  }
}

TEST(PublishedCases, MeshesThatRanOutOfMemoryAreNeverAccepted) {
  const auto published = published_case(4);
  if (!published) {
    GTEST_SKIP() << "no published cases beside the checkout";
  }
  ASSERT_EQ(published->out_of_memory.size(), 2U);
  CaseTools tools{.data = case_data(), .entries = entries_of_others()};
  tools.wishes.ideas = published->out_of_memory;
  const Report report = tuned(published->asked, tools);
  int seen = 0;
  for (const std::vector<Judged>* all : {&report.proposals, &report.ideas, &report.turned_down}) {
    for (const Judged& one : *all) {
      for (const CaseMesh& mesh : published->out_of_memory) {
        seen += one.mesh == to_text(mesh) ? 1 : 0;
        EXPECT_TRUE(one.mesh != to_text(mesh) || !one.verdict.stands()) << one.mesh;
      }
    }
  }
  EXPECT_EQ(seen, 2);
}

TEST(PublishedCases, ThreeAssumedShapesAreNamedAndPlaceTheAdoptedMesh) {
  // Of 2^k chips there are C(k + 3, 3) meshes of four axes that are powers of two.
  const std::map<int, std::string> meshes{{1, "220"}, {2, "35"}, {3, "165"}, {4, "120"}};
  for (int number = 1; number <= kPublishedCases; ++number) {
    const auto published = published_case(number);
    if (!published) {
      GTEST_SKIP() << "no published cases beside the checkout";
    }
    const Report report =
        tuned(published->asked, {.data = case_data(), .entries = entries_of_others()});
    const auto named = std::ranges::find_if(report.analysis.notes, [](const std::string& note) {
      return note.starts_with("assumed in the model's place: ");
    });
    ASSERT_NE(named, report.analysis.notes.end()) << "case " << number;
    EXPECT_EQ(split(*named, '(').size(), 4U) << *named;
    const auto adopted =
        std::ranges::find(report.proposals, to_text(published->adopted), &Judged::mesh);
    ASSERT_NE(adopted, report.proposals.end());
    const std::string& said = adopted->proposal.reasoning.comparison;
    EXPECT_NE(said.find(" of " + meshes.at(number) + " "), std::string::npos) << said;
    std::size_t under = 0;
    for (std::size_t at = said.find(" under "); at != std::string::npos;
         at = said.find(" under ", at + 1)) {
      ++under;
    }
    EXPECT_EQ(under, 3U) << said;
  }
}

// "| `whole` | 4 of 4 | …": a row of the page, of one way to ask.
std::string row_of_parts(std::string_view name, bool with_kb, bool with_model, bool with_profile) {
  int first = 0;
  int among = 0;
  int proposals = 0;
  int cited = 0;
  int placed = 0;
  for (int number = 1; number <= kPublishedCases; ++number) {
    PublishedCase published = *published_case(number);
    if (!with_profile) {
      published.asked.kpis = {};
      published.asked.operators.clear();
    }
    CaseTools tools{.data = case_data(), .with_model = with_model};
    if (with_kb) {
      tools.entries = entries_of_others();
    }
    const Report report = tuned(published.asked, tools);
    const std::string adopted = to_text(published.adopted);
    first += !report.proposals.empty() && report.proposals.front().mesh == adopted ? 1 : 0;
    for (const Judged& one : report.proposals) {
      ++proposals;
      among += one.mesh == adopted ? 1 : 0;
      cited += one.proposal.citations.empty() ? 0 : 1;
      placed += one.proposal.reasoning.comparison.find("by the model alone") != std::string::npos;
    }
  }
  return fmt::format("| {} | {} of 4 | {} of 4 | {} of {} | {} of {} |", name, first, among, cited,
                     proposals, placed, proposals);
}

TEST(PublishedCases, WhatEachPartAddsIsWhatThePageSays) {
  if (!published_case(1)) {
    GTEST_SKIP() << "no published cases beside the checkout";
  }
  const auto page = read_text(source_folder() / "docs" / "tune.md", 1_MiB);
  ASSERT_TRUE(page);
  for (const std::string& row :
       {row_of_parts("whole", true, true, true), row_of_parts("`--no-kb`", false, true, true),
        row_of_parts("`--no-planner`", true, false, true),
        row_of_parts("`--no-profile`", true, true, false)}) {
    EXPECT_NE(page->find(row), std::string::npos) << row;
  }
}

TEST(PublishedCases, AReplayJudgesAsTheSessionDid) {
  const auto published = published_case(2);
  if (!published) {
    GTEST_SKIP() << "no published cases beside the checkout";
  }
  const CaseTools tools{.data = case_data(), .entries = entries_of_others()};
  for (const Judged& one : tuned(published->asked, tools).proposals) {
    const auto again = judge_case(published->asked, tools, one.proposal);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->ruling, one.verdict.ruling) << one.mesh;
    EXPECT_EQ(again->ground, one.verdict.ground) << one.mesh;
    EXPECT_EQ(again->reason, one.verdict.reason) << one.mesh;
  }
}

// One fact of a case changed, and what becomes of the answer. "" of `first`: the mesh is kept.
struct Variant {
  int of = 0;
  std::string what;
  std::function<void(Case&)> change;
  std::string first;
  std::string bottleneck;
  std::function<void(const Report&)> holds = {};
};

CaseOperator& named_operator(Case& asked, std::string_view part, std::size_t nth = 0) {
  for (CaseOperator& one : asked.operators) {
    if (one.name.find(part) != std::string::npos && nth-- == 0) {
      return one;
    }
  }
  ADD_FAILURE() << part;
  return asked.operators.front();
}

void drop_operators(Case& asked, std::string_view part) {
  std::erase_if(asked.operators, [part](const CaseOperator& one) {
    return one.name.find(part) != std::string::npos;
  });
}

// The same slice with chips of another size: what runs elsewhere need not fit here.
void ask_for_memory(Case& asked, double gib) {
  asked.profiled = ProfiledOn{asked.device, asked.chips, asked.topology, *asked.baseline};
  asked.baseline.reset();
  asked.hbm_gib = gib;
}

void has(const Report& report, const std::string& mesh) {
  EXPECT_NE(std::ranges::find(report.proposals, mesh, &Judged::mesh), report.proposals.end())
      << mesh;
}
void has_not(const Report& report, const std::string& mesh) {
  EXPECT_EQ(std::ranges::find(report.proposals, mesh, &Judged::mesh), report.proposals.end())
      << mesh;
}
void misses(const Report& report, const std::string& what) {
  ASSERT_FALSE(report.proposals.empty());
  const std::string missing = join(report.proposals.front().verdict.missing, "; ");
  EXPECT_NE(missing.find(what), std::string::npos) << missing;
}
void shares_a_side(const Report& report, bool shares) {
  ASSERT_FALSE(report.proposals.empty());
  const std::string said = join(report.proposals.front().proposal.trade_offs, "; ");
  EXPECT_EQ(said.find("share a side") != std::string::npos, shares) << said;
}
void refuses(const Report& report, const std::string& why) {
  EXPECT_TRUE(std::ranges::any_of(report.turned_down, [&](const Judged& one) {
    return one.verdict.reason.find(why) != std::string::npos;
  })) << why;
}
// Is it known that the first one fits?
void is_sure_to_fit(const Report& report, bool sure) {
  ASSERT_FALSE(report.proposals.empty());
  EXPECT_EQ(report.proposals.front().verdict.ground == verify::Ground::kClaims, sure)
      << report.proposals.front().verdict.reason;
}

void expect_variants(const std::vector<Variant>& variants) {
  for (const Variant& variant : variants) {
    SCOPED_TRACE(fmt::format("case {}: {}", variant.of, variant.what));
    auto published = published_case(variant.of);
    if (!published) {
      GTEST_SKIP() << "no published cases beside the checkout";
    }
    variant.change(published->asked);
    const Report report = quickly_tuned(published->asked);
    EXPECT_EQ(report.keep.has_value(), variant.first.empty());
    EXPECT_EQ(report.proposals.empty() ? std::string() : report.proposals.front().mesh,
              variant.first);
    EXPECT_EQ(diagnose::name_of(report.analysis.settled.bottleneck), variant.bottleneck);
    if (variant.holds) {
      variant.holds(report);
    }
  }
}

TEST(CaseVariants, OfALongRingOnManyChips) {
  const auto slow_products = [](Case& asked) {
    for (const std::size_t nth : {0U, 1U}) {
      CaseOperator& product = named_operator(asked, "matrix multiplication", nth);
      product.efficiency = 0.2;
      product.share *= 3.0;
    }
  };
  expect_variants({
      {1, "as published", [](Case&) {}, "data=16,seq=4,model=8", "compute",
       [](const Report& report) {
         shares_a_side(report, true);
         is_sure_to_fit(report, true);
       }},
      // Blocks of 2,048 tokens hide their exchange: nothing is left to gain.
      {1, "it runs as adopted", [](Case& asked) { asked.baseline = mesh_of(16, 4, 8); }, "",
       "compute"},
      {1, "blocks of 8,192 tokens", [](Case& asked) { asked.sequence_length = 65'536; }, "",
       "compute"},
      // A batch of 8 cannot be cut into 16.
      {1, "a batch of 8", [](Case& asked) { asked.batch = 8; }, "", "compute"},
      {1, "nobody knows the batch", [](Case& asked) { asked.batch.reset(); },
       "data=16,seq=4,model=8", "compute",
       [](const Report& report) { misses(report, "the batch"); }},
      // 16 and 4 chips are whole sides there.
      {1, "a slice of 4x8x16", [](Case& asked) { asked.topology = Topology{4, 8, 16}; },
       "data=16,seq=4,model=8", "compute",
       [](const Report& report) { shares_a_side(report, false); }},
      {1, "nothing waits for a ring", [](Case& asked) { drop_operators(asked, "point-to-point"); },
       "", "compute"},
      // What is inside the fused products is then waited for: the model axis gives way too.
      {1, "products at a fifth of their roof, three times as long", slow_products,
       "data=16,seq=4,model=8", "compute",
       [](const Report& report) { has(report, "data=16,seq=8,model=4"); }},
      {1, "memory binds the products",
       [](Case& asked) {
         named_operator(asked, "matrix multiplication", 0).bound = OperatorBound::kMemory;
         named_operator(asked, "matrix multiplication", 1).bound = OperatorBound::kMemory;
       },
       "data=16,seq=4,model=8", "hbm"},
      {1, "chips of 16 GiB", [](Case& asked) { ask_for_memory(asked, 16.0); },
       "data=16,seq=4,model=8", "compute",
       [](const Report& report) { is_sure_to_fit(report, false); }},
  });
}

TEST(CaseVariants, OfAModelThatIsCopied) {
  expect_variants({
      {2, "as published", [](Case&) {}, "data=4,model=4", "hbm",
       [](const Report& report) { shares_a_side(report, false); }},
      {2, "it runs as adopted", [](Case& asked) { asked.baseline = mesh_of(4, 1, 4); }, "", "hbm"},
      // 4 is no product of whole sides of 2x8.
      {2, "a slice of 2x8", [](Case& asked) { asked.topology = Topology{1, 2, 8}; },
       "data=4,seq=2,model=2", "hbm", [](const Report& report) { shares_a_side(report, true); }},
      {2, "gradients take no time",
       [](Case& asked) {
         named_operator(asked, "all-reduce").share = 0.0005;
         named_operator(asked, "asynchronous").share = 0.0005;
       },
       "", "compute"},
      {2, "nothing but collectives",
       [](Case& asked) {
         drop_operators(asked, "custom");
         drop_operators(asked, "bitcast");
       },
       "data=4,model=4", "communication"},
      {2, "the device idles", [](Case& asked) { asked.kpis.duty_cycle = 0.2; }, "data=4,model=4",
       "stall"},
      {2, "compute binds all operators",
       [](Case& asked) {
         for (CaseOperator& one : asked.operators) {
           one.bound = OperatorBound::kCompute;
         }
       },
       "data=4,model=4", "compute"},
      {2, "chips of 8 GiB", [](Case& asked) { ask_for_memory(asked, 8.0); }, "data=4,model=4",
       "hbm",
       [](const Report& report) {
         EXPECT_NE(report.proposals.front().verdict.reason.find("x15.6"), std::string::npos)
             << report.proposals.front().verdict.reason;  // 4 times the tokens, 31.25 / 8 GiB
       }},
  });
}

TEST(CaseVariants, OfAModelAxisThatIsWaitedFor) {
  expect_variants({
      {3, "as published", [](Case&) {}, "data=8,seq=16,model=2", "communication"},
      {3, "it runs as adopted", [](Case& asked) { asked.baseline = mesh_of(8, 16, 2); }, "",
       "communication",
       [](const Report& report) { refuses(report, "do not divide a batch of 8"); }},
      {3, "a batch of 4", [](Case& asked) { asked.batch = 4; }, "", "communication",
       [](const Report& report) { refuses(report, "do not divide a batch of 4"); }},
      {3, "a batch of 64", [](Case& asked) { asked.batch = 64; }, "data=16,seq=16", "communication",
       [](const Report& report) { has(report, "data=8,seq=16,model=2"); }},
      {3, "nobody knows the batch", [](Case& asked) { asked.batch.reset(); }, "data=16,seq=16",
       "communication", [](const Report& report) { misses(report, "the batch"); }},
      {3, "a million tokens a sequence", [](Case& asked) { asked.sequence_length = 1 << 20; },
       "data=8,seq=16,model=2", "communication",
       [](const Report& report) {
         has(report, "data=4,seq=32,model=2");
         EXPECT_EQ(report.proposals[1].mesh, "data=4,seq=32,model=2");
       }},
      // Blocks of 512 tokens: v5e needs 197 TFLOPS · 2 over 4 · 50 GB/s, 1,970.
      {3, "16,384 tokens a sequence", [](Case& asked) { asked.sequence_length = 16'384; },
       "data=8,seq=16,model=2", "communication",
       [](const Report& report) {
         has_not(report, "data=4,seq=32,model=2");
         refuses(report, "blocks of 512 tokens are too short");
       }},
      {3, "the ring is waited for most",
       [](Case& asked) { named_operator(asked, "collective permute").share = 0.01; },
       "data=8,seq=8,model=4", "communication"},
      // Summed once a step they are gradients, which a longer model axis makes smaller.
      {3, "sums once a step",
       [](Case& asked) {
         for (CaseOperator& one : asked.operators) {
           if (one.name != "collective permute") {
             one.occurrences = 8;
           }
         }
       },
       "data=4,seq=8,model=8", "communication"},
      {3, "a product takes most of the time",
       [](Case& asked) {
         asked.operators.push_back({.name = "fusion.1",
                                    .category = "convolution fusion",
                                    .bound = OperatorBound::kCompute,
                                    .share = 0.4,
                                    .efficiency = 0.8});
       },
       "", "compute"},
      {3, "chips of 8 GiB", [](Case& asked) { ask_for_memory(asked, 8.0); },
       "data=8,seq=16,model=2", "communication",
       [](const Report& report) { is_sure_to_fit(report, false); }},
  });
}

TEST(CaseVariants, OfASliceOfHalfTheChips) {
  expect_variants({
      {4, "as published", [](Case&) {}, "data=2,seq=32,model=2", "stall",
       [](const Report& report) { is_sure_to_fit(report, false); }},
      {4, "back on the slice it was recorded on",
       [](Case& asked) {
         asked.chips = 256;
         asked.topology = Topology{1, 16, 16};
       },
       "", "stall"},
      {4, "it runs as adopted",
       [](Case& asked) {
         asked.profiled.reset();
         asked.baseline = mesh_of(2, 32, 2);
       },
       "", "stall"},
      {4, "a batch of 1", [](Case& asked) { asked.batch = 1; }, "seq=32,model=4", "stall",
       [](const Report& report) { has_not(report, "data=2,seq=32,model=2"); }},
      {4, "chips of 128 GiB", [](Case& asked) { asked.hbm_gib = 128; }, "data=2,seq=32,model=2",
       "stall", [](const Report& report) { is_sure_to_fit(report, true); }},
      {4, "64 chips",
       [](Case& asked) {
         asked.chips = 64;
         asked.topology = Topology{1, 8, 8};
       },
       "data=2,seq=32", "stall"},
      {4, "the ring is waited for most",
       [](Case& asked) { named_operator(asked, "point-to-point").share = 0.05; },
       "data=2,seq=16,model=4", "stall"},
      {4, "it is never idle", [](Case& asked) { asked.kpis.duty_cycle = 0.99; },
       "data=2,seq=32,model=2", "compute"},
  });
}

TEST(TuneCase, TheSameCaseGivesTheSameReport) {
  const auto words = [] {
    std::string all;
    for (const Judged& one :
         tuned(made_case(), {.data = case_data(), .entries = entries_of_others()}).proposals) {
      all += one.mesh + one.proposal.reasoning.comparison + one.verdict.reason;
    }
    return all;
  };
  const std::string first = words();
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(words(), first);
}

TEST(TuneCase, PinnedAxesKeepTheirSize) {
  CaseTools tools{.data = case_data(), .entries = entries_of_others(), .with_model = false};
  const Case asked = made_case();
  EXPECT_NE(tuned(asked, tools).proposals.front().mesh.find("model=4"), std::string::npos);
  tools.wishes.pins = {{CaseAxis::kSeq, 2}};
  const Report pinned = tuned(asked, tools);
  ASSERT_FALSE(pinned.proposals.empty());
  for (const Judged& one : pinned.proposals) {
    EXPECT_NE(one.mesh.find("seq=2"), std::string::npos) << one.mesh;
  }
}

TEST(TuneCase, AnIdeaIsJudgedWhateverItIs) {
  CaseTools tools{.data = case_data(), .entries = entries_of_others(), .with_model = false};
  const std::string first = tuned(made_case(), tools).proposals.front().mesh;
  tools.wishes.ideas = {mesh_of(8, 2, 4), mesh_of(128, 1, 1), mesh_of(4, 4, 4), mesh_of(1, 1, 64),
                        *parse_case_mesh(first, "test")};
  const Report report = tuned(made_case(), tools);
  EXPECT_EQ(report.proposals.front().proposal.author, "user");
  const auto said_of = [&](const std::string& mesh) {
    const auto idea = std::ranges::find(report.ideas, mesh, &Judged::mesh);
    EXPECT_TRUE(idea == report.ideas.end() || idea->proposal.author == "user");
    return idea == report.ideas.end() ? std::string() : idea->verdict.reason;
  };
  EXPECT_NE(said_of("data=128").find("128 chips; there are 64"), std::string::npos)
      << said_of("data=128");
  EXPECT_NE(said_of("data=4,seq=4,model=4").find("changes nothing"), std::string::npos);
  EXPECT_NE(said_of("model=64").find("waits for its links"), std::string::npos);
}

TEST(TuneCase, OfAChoiceOnlyThatIsProposed) {
  CaseTools tools{.data = case_data(), .entries = entries_of_others(), .with_model = false};
  tools.wishes.among = {mesh_of(1, 16, 4), mesh_of(16, 1, 4), mesh_of(4, 4, 4), mesh_of(2, 2, 2)};
  const Report report = tuned(made_case(), tools);
  ASSERT_FALSE(report.proposals.empty());
  EXPECT_EQ(report.proposals.front().mesh, "data=16,model=4");
  for (const Judged& one : report.proposals) {
    EXPECT_TRUE(one.mesh == "data=16,model=4" || one.mesh == "seq=16,model=4") << one.mesh;
  }
  ASSERT_EQ(report.ideas.size(), 1U);  // of 8 chips, which the slice has not
  EXPECT_EQ(report.ideas.front().verdict.ruling, verify::Ruling::kRejected);
}

TEST(TuneCase, WithoutAMeshThatRunsOneIsProposedAndNothingIsSureToFit) {
  Case asked = made_case();
  asked.baseline.reset();
  const Report report = quickly_tuned(asked);
  ASSERT_EQ(report.proposals.size(), 3U);
  EXPECT_EQ(report.proposals.front().mesh, "data=64");  // a sequence a chip
  for (const Judged& one : report.proposals) {
    EXPECT_EQ(one.verdict.ruling, verify::Ruling::kUndecidable) << one.mesh;
  }
}

TEST(TuneCase, WithoutAProfileOrKnowledgeItSaysLess) {
  Case asked = made_case();
  asked.operators.clear();
  asked.kpis = {};
  EXPECT_TRUE(quickly_tuned(asked).keep);  // nothing is known to be waited for
  for (const Judged& one :
       tuned(made_case(), {.data = case_data(), .with_model = false}).proposals) {
    EXPECT_TRUE(one.proposal.citations.empty());
  }
}

TEST(TuneCase, EveryRuleOfTheBookRestsOnPracticesOfOthers) {
  const auto rules = load_mesh_rules(case_data());
  ASSERT_TRUE(rules) << to_text(rules.error());
  EXPECT_GE(rules->rules.size(), 13U);
  for (const MeshRule& rule : rules->rules) {
    for (const std::string& practice : rule.practices) {
      EXPECT_NE(std::ranges::find(entries_of_others(), practice, &kb::Entry::id),
                entries_of_others().end())
          << rule.id << " cites " << practice;
    }
  }
}

TEST(TuneCase, ADeviceThatIsNoTpuIsAnErrorWithItsFile) {
  Case asked = made_case();
  asked.device = "h100-sxm";
  const auto report = tune_case(asked, {.data = case_data()});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().where, "made.toml");
}

}  // namespace
}  // namespace sextant::agents
