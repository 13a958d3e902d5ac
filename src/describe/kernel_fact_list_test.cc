#include "describe/kernel_fact_list.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"

namespace sextant::describe {
namespace {

KernelFacts h200_facts() {
  const DataStore data;
  const auto device = load_device("h200-sxm", data);
  EXPECT_TRUE(device);
  const auto facts = kernel_facts(data, *device);
  EXPECT_TRUE(facts) << (facts ? "" : to_text(facts.error()));
  return *facts;
}

// The reader refuses files that lack a key or hold one more, so the list has exactly its keys.
TEST(KernelFactList, HasEveryKeyOfTheReader) {
  KernelFacts facts = h200_facts();
  std::string text;
  std::set<std::string> keys;
  for (const KernelFact& fact : kernel_fact_list(facts)) {
    text += fmt::format("[{}]\nvalue = \"{}\"\nkind = \"{}\"\nsource = \"s\"\n", fact.key(),
                        fact.text(), word_of<SourceKind>(kSourceKindWords, fact.kind()));
    keys.insert(fact.key());
  }
  EXPECT_EQ(keys.size(), kernel_fact_list(facts).size()) << "a key twice";
  auto read = parse_kernel_facts(text, "list.toml");
  ASSERT_TRUE(read) << to_text(read.error());
  const auto before = kernel_fact_list(facts);
  const auto after = kernel_fact_list(*read);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].key(), after[i].key());
    // Four digits are kept.
    EXPECT_NEAR(after[i].number(), before[i].number(), 1e-3 * before[i].number())
        << before[i].key();
  }
}

TEST(KernelFactList, NumbersGoWhereTheKeySays) {
  KernelFacts facts = h200_facts();
  for (KernelFact& fact : kernel_fact_list(facts)) {
    if (fact.key() == "product.launch") {
      fact.set_number(7e-6);
      fact.set_source(SourceKind::kFitted, "here");
      EXPECT_EQ(fact.text(), "7 us");
    } else if (fact.key() == "stream.kept_columns") {
      fact.set_number(99.6);
      EXPECT_EQ(fact.text(), "100 count");
    } else if (fact.key() == "rates.bf16.burst") {
      fact.set_number(0.51239);
      EXPECT_EQ(fact.text(), "0.5124 ratio");
    }
  }
  EXPECT_EQ(facts.product.launch.value, 7_us);
  EXPECT_EQ(facts.product.launch.source, "here");
  EXPECT_EQ(facts.stream.kept_columns.value, 100);
  const auto& bf16 = facts.rates[static_cast<std::size_t>(DType::kBf16)];
  ASSERT_TRUE(bf16);
  if (bf16) {
    EXPECT_EQ(bf16->burst.value, 0.51239);
  }
}

}  // namespace
}  // namespace sextant::describe
