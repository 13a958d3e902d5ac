// What an entry's file may say, what is refused, and that what is written reads back the same.
#include "kb/entry_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace sextant::kb {
namespace {

constexpr std::string_view kWin = R"([ring-two-nodes]
kind = "win"
title = "TP inside the node"
source = "our run of May"
trust = "B"
bottlenecks = ["communication"]
axes = ["tp"]
changes = ["tp"]
devices = ["h100-sxm"]
frameworks = ["megatron-core"]
models = ["dense"]
model = "Llama-3-70B"
parameters_billion = 70.6
device_count = 256
sequence = 8192
global_batch = 512
layout = "pp=4,zero=1"
before = "tp=16"
after = "tp=8"
metric = "step_time_s"
value_before = 12.5
value_after = 10
effect_percent = 25
)";

std::string win_with(std::string_view from, std::string_view to) {
  std::string text(kWin);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Entry the_win() {
  const auto read = parse_entries(kWin, "mine.toml");
  EXPECT_TRUE(read) << to_text(read.error());
  return read && read->size() == 1 ? read->front() : Entry();
}

TEST(EntryText, TakesEveryField) {
  const Entry win = the_win();
  EXPECT_EQ(win.id, "ring-two-nodes");
  EXPECT_EQ(win.kind, EntryKind::kWin);
  EXPECT_EQ(win.origin, Origin::kOwn);
  EXPECT_EQ(win.trust, Trust::kB);
  EXPECT_EQ(win.about.parameters_billion, 70.6);
  EXPECT_EQ(win.about.device_count, 256);
  EXPECT_EQ(win.about.mesh, (Mesh{{"pp", 4}, {"tp", 8}}));
  EXPECT_EQ(win.measured.before, 12.5);
  EXPECT_EQ(win.measured.effect_percent, 25.0);
  EXPECT_TRUE(is_measured(win));
}

TEST(EntryText, JsonSaysTheSame) {
  const auto read = parse_entries(R"({"ring-two-nodes": {"kind": "win", "title":
      "TP inside the node", "source": "our run of May", "trust": "B", "bottlenecks":
      ["communication"], "axes": "tp", "changes": ["tp"], "devices": ["h100-sxm"], "frameworks":
      ["megatron-core"], "models": ["dense"], "model": "Llama-3-70B", "parameters_billion": 70.6,
      "device_count": 256, "sequence": 8192, "global_batch": 512, "layout": "pp=4,zero=1", "before":
      "tp=16", "after": "tp=8", "metric": "step_time_s", "value_before": 12.5, "value_after": 10,
      "effect_percent": 25, "why": null}})",
                                  "mine.json");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(read->front(), the_win());
}

TEST(EntryText, WithoutSourceIsRefused) {
  for (const std::string_view empty : {"", "source = \"\"\n"}) {
    const auto read = parse_entries(win_with("source = \"our run of May\"\n", empty), "mine.toml");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().what, "'ring-two-nodes' has no source");
    EXPECT_EQ(read.error().where, "mine.toml:2");
  }
}

TEST(EntryText, WhatIsNoEntryIsRefusedWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {win_with("kind = \"win\"", "kind = \"wonder\""), "wonder"},
      {win_with("[ring-two-nodes]", "[Ring_Two]"), "no id"},
      {win_with("axes = [\"tp\"]", "axes = [\"width\"]"), "width"},
      {win_with("changes = [\"tp\"]", "changes = [\"luck\"]"), "luck"},
      {win_with("device_count = 256", "device_count = -1"), "device_count"},
      {win_with("device_count = 256", "device_count = \"many\""), "device_count"},
      {win_with("effect_percent = 25", "effect_percent = nan"), "effect_percent"},
      {win_with("effect_percent = 25\n", ""), "measured effect"},
      {win_with("before = \"tp=16\"\n", ""), "before and after"},
      {win_with("layout =", "colour ="), "colour"},
      {win_with("title = \"TP inside the node\"", "title = [\"a\", \"b\"]"), "list"},
      {win_with("our run of May", std::string(1'001, 'x')), "1001 bytes"},
      {"title = \"nobody's\"\n", "outside of an entry"},
      {"{\"a\": 3}", "no entry"},
      {"{\"a\": {\"kind\": {}}}", "no plain value"}};
  for (const auto& [text, what] : wrong) {
    const auto read = parse_entries(text, "mine.toml");
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().what.find(what), std::string::npos) << to_text(read.error());
    EXPECT_NE(read.error().where.find("mine.toml"), std::string::npos) << to_text(read.error());
  }
}

TEST(EntryText, APracticeNeedsAdvice) {
  const auto read = parse_entries("[a]\nkind = \"practice\"\ntitle = \"t\"\nsource = \"s\"\n", "a");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "'a' has no advice");
}

TEST(EntryText, MeshesAreReadOfLayoutsAndOfWords) {
  EXPECT_EQ(mesh_of("tp=8,pp=1,dp_shard=32; DeepEP, no EP overlap"),
            (Mesh{{"fsdp", 32}, {"tp", 8}}));
  EXPECT_EQ(mesh_of("ici:fsdp=64,tensor=4;dcn:data=2"), (Mesh{{"dp", 2}, {"fsdp", 64}, {"tp", 4}}));
  EXPECT_EQ(mesh_of("tp=99999999999999999999,cp="), Mesh{});
}

TEST(EntryText, IdsAreMadeOfTitles) {
  EXPECT_EQ(id_from("Keep TP in the node!"), "keep-tp-in-the-node");
  EXPECT_EQ(id_from("¡"), "");
  EXPECT_TRUE(is_entry_id(id_from(std::string(200, 'a'))));
}

// Texts with quotes, controls, markup and letters beyond ASCII.
rc::Gen<std::string> any_text(std::size_t most) {
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                          "a", "tp=8", " ", "\"", "\\", "\n", "\t", "\x01", "\x7f", "<b>", "é", "→",
                          "'", "[", "]", "#", "=", ".", "\\u0041", "{", "}")),
                      [most](const std::vector<std::string>& parts) {
                        std::string text;
                        for (const std::string& part : parts) {
                          text += text.size() + part.size() <= most ? part : "";
                        }
                        return text;
                      });
}

template <typename E>
std::vector<E> some_of(std::initializer_list<E> all) {
  std::vector<E> chosen;
  for (const E one : all) {
    if (*rc::gen::arbitrary<bool>()) {
      chosen.push_back(one);
    }
  }
  return chosen;
}

Entry any_entry() {
  Entry entry{.id = "an-entry", .kind = EntryKind::kWin};
  entry.title = "t" + *any_text(100);
  entry.source = "s" + *any_text(100);
  entry.why = *any_text(400);
  entry.layout = *any_text(50);
  entry.before = "b" + *any_text(50);
  entry.after = "a" + *any_text(50);
  entry.added_by = *any_text(30);
  entry.do_not = *rc::gen::arbitrary<bool>();
  entry.trust = *rc::gen::element(Trust::kUnknown, Trust::kA, Trust::kB, Trust::kC);
  entry.about.bottlenecks = some_of({Bottleneck::kCompute, Bottleneck::kStall});
  entry.about.axes = some_of({Theme::kTensor, Theme::kHost});
  entry.about.frameworks = some_of({describe::Framework::kMaxtext, describe::Framework::kOther});
  entry.about.devices = some_of({std::string("h100-sxm"), std::string("tpu")});
  entry.about.device_count = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  entry.sequence = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  entry.measured.metric = "step_time_s";
  entry.measured.effect_percent = *rc::gen::inRange(-100'000, 100'000) / 7.0;
  entry.about.mesh = mesh_of(entry.layout.empty() ? entry.after : entry.layout + "," + entry.after);
  return entry;
}

RC_GTEST_PROP(EntryText, WhatIsWrittenReadsBackTheSame, ()) {
  const Entry entry = any_entry();
  const std::string toml = entries_toml({&entry, 1});
  const auto read = parse_entries(toml, "again.toml");
  if (!read) {
    RC_FAIL(to_text(read.error()) + "\n" + toml);
  }
  RC_ASSERT(read->size() == 1U);
  RC_ASSERT(read->front() == entry);
}

}  // namespace
}  // namespace sextant::kb
