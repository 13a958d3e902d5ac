// What a file of practices may say, and what the reader answers where it says something else.
#include <gtest/gtest.h>

#include "base/scratch_folder_testing.h"
#include "kb/practice.h"

namespace sextant::kb {
namespace {

constexpr std::string_view kGood = R"([tensor-inside-the-node]
title = "Tensor parallelism inside the node"
advice = "Keep the group in the node."
why = "Links."
source = "somewhere"
section = "1"
bottlenecks = ["communication"]
axes = ["tp"]
frameworks = ["megatron-core"]
models = ["dense"]
before = "tp=16"
after = "tp=8,pp=2"
quantity = "step"
direction = "lower"
ratio = "0.5 to 0.9"
job1 = { model = "llama-3-8b", on = "16xh100-sxm", seq = "4096", gbs = 16, framework = "megatron-core", before = "tp=16", after = "tp=8,pp=2" }
)";

std::string with(std::string_view from, std::string_view to) {
  std::string text(kGood);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(PracticeReading, TakesEveryFieldOfAPractice) {
  const auto read = parse_practices(kGood, "a.toml");
  ASSERT_TRUE(read) << to_text(read.error());
  ASSERT_EQ(read->size(), 1U);
  const Practice& practice = read->front();
  EXPECT_EQ(practice.id, "tensor-inside-the-node");
  EXPECT_EQ(practice.where, "a.toml:1:1");
  EXPECT_EQ(practice.applies.bottlenecks, std::vector{Bottleneck::kCommunication});
  EXPECT_EQ(practice.applies.axes, std::vector{Theme::kTensor});
  EXPECT_EQ(practice.applies.models, std::vector{ModelClass::kDense});
  EXPECT_EQ(practice.change.after, "tp=8,pp=2");
  EXPECT_EQ(practice.expects.quantity, Quantity::kStep);
  EXPECT_EQ(practice.expects.direction, Direction::kLower);
  EXPECT_EQ(practice.expects.ratio, (RatioRange{0.5, 0.9}));
  EXPECT_FALSE(practice.do_not);
  const auto& jobs = std::get<JobsCheck>(practice.check).jobs;
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].cluster_after, "16xh100-sxm");
  EXPECT_EQ(jobs[0].global_batch_after, 16);
  EXPECT_EQ(jobs[0].framework, describe::Framework::kMegatronCore);
}

// What is wrong, and what the error must name: the place and the word seen.
struct Wrong {
  std::string text;
  std::string where;
  std::string says;
};

TEST(PracticeReading, SaysWhereAndWhatIsWrong) {
  const std::vector<Wrong> cases{
      {with("title = \"Tensor parallelism inside the node\"\n", ""), "a.toml:1:1",
       "title is missing"},
      {with("title = \"Tensor parallelism inside the node\"", "title = 3"), "a.toml:2",
       "title is not a string"},
      {with("title = \"Tensor parallelism inside the node\"", "title = \"\""), "a.toml:2",
       "title has 0 characters"},
      {with("[\"communication\"]", "[\"network\"]"), "a.toml:7", "'network'"},
      {with("[\"communication\"]", "[]"), "a.toml:1:1", "bottlenecks and axes name nothing"},
      {with("axes = [\"tp\"]", "axes = [\"tp\", \"tp\"]"), "a.toml:8", "names 'tp' twice"},
      {with("quantity = \"step\"", "quantity = \"speed\""), "a.toml:13", "'speed'"},
      {with("direction = \"lower\"", "direction = \"better\""), "a.toml:14", "'better'"},
      {with("ratio = \"0.5 to 0.9\"", "ratio = \"half\""), "a.toml:15", "ratio is 'half'"},
      {with("ratio = \"0.5 to 0.9\"", "ratio = \"0.9 to 0.5\""), "a.toml:15", "ratio is"},
      {with("ratio = \"0.5 to 0.9\"", "ratio = \"nan to nan\""), "a.toml:15", "ratio is"},
      {with("ratio = \"0.5 to 0.9\"", "ratio = \"1.1 to 1.2\""), "a.toml:15",
       "the ratio says another direction"},
      {with("before = \"tp=16\"\nafter = \"tp=8,pp=2\"", "before = \"tp=16\""), "a.toml:1:1",
       "nothing says what to change"},
      {with("after = \"tp=8,pp=2\"\n", "after = \"tensor=8\"\n"), "a.toml:12", "tensor"},
      {with("after = \"tp=8,pp=2\"\n", "after = \"ici:model=8\"\n"), "a.toml:12", "model"},
      {with("ratio =", "size ="), "a.toml:15", "size"},
      {with("gbs = 16", "gbs = 0"), "a.toml:16", "gbs is 0"},
      {with("gbs = 16", "gbs = 16, devices = 3"), "a.toml:16", "devices"},
      {with("seq = \"4096\"", "seq = \"long\""), "a.toml:16", "long"},
      {with("framework = \"megatron-core\"", "framework = \"jax\""), "a.toml:16", "jax"},
      {with("job1 =", "rule = \"TP-EVEN\"\njob1 ="), "a.toml:16", "TP-EVEN"},
      {with("job1 =", "uncheckable = \"no\"\njob1 ="), "a.toml:16",
       "an uncheckable practice has a check"},
      {with("job1 =", "job4 ="), "a.toml:1:1", "nothing checks it"},
      {with("job1 =", "verdict = \"source\"\njob1 ="), "a.toml:1:1",
       "verdict and reason stand together"},
      {with("[tensor-inside-the-node]", "[\"Tensor Inside\"]"), "a.toml:1:1", "is no id"},
      {with("[tensor-inside-the-node]", "tensor = 3\n[tensor-inside-the-node]"), "a.toml:1",
       "tensor"},
      {with("title", "[[title"), "a.toml:2", ""},
  };
  for (const Wrong& wrong : cases) {
    const auto read = parse_practices(wrong.text, "a.toml");
    ASSERT_FALSE(read) << wrong.text;
    EXPECT_TRUE(read.error().where.starts_with(wrong.where))
        << to_text(read.error()) << "\nexpected at " << wrong.where;
    EXPECT_NE(read.error().what.find(wrong.says), std::string::npos)
        << to_text(read.error()) << "\nexpected: " << wrong.says;
  }
}

// The folder's own files, with one more beside them.
std::string error_with(const std::string& name, const std::string& text) {
  const ScratchFolder folder;
  EXPECT_FALSE(folder.write("practices/" + name, text).empty());
  const auto store = describe::DataStore::with_override(folder.path());
  EXPECT_TRUE(store);
  const auto book = load_practices(*store);
  return book ? "no error" : to_text(book.error());
}

TEST(PracticeReading, SourcesAreDescribedAndUsedAndIdsStandOnce) {
  EXPECT_NE(error_with("more.toml", std::string(kGood)).find("'somewhere'"), std::string::npos);
  const std::string twice =
      with("[tensor-inside-the-node]", "[tensor-inside-nvlink]");  // one of data/practices
  EXPECT_NE(error_with("zz.toml", twice).find("'tensor-inside-nvlink' stands twice"),
            std::string::npos)
      << error_with("zz.toml", twice);
  EXPECT_NE(error_with("sources.toml",
                       "[a]\ntitle = \"t\"\nurl = \"u\"\nversion = \"v\"\nread = "
                       "\"r\"\n")
                .find("source"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant::kb
