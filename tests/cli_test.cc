// The built program, as a user meets it: answers, JSON, errors, exit codes, colours, settings,
// completion.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/places_testing.h"
#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

// The exit status of a shell command.
int shell(const std::string& command) {
  const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
  return WEXITSTATUS(status);
}

TEST(Cli, ModelAnswersWithTheCountOfTheCatalogue) {
  const Ran ran = run_sextant({"model", "llama-3.1-70b"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("70,553,706,496 parameters"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.err, "");
}

TEST(Cli, JsonBeginsWithItsSchemaAndNamesItsInputs) {
  const Ran ran = run_sextant({"model", "DeepSeek-V3", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("{\n  \"schema\": \"sextant.model/2\"")) << ran.out.substr(0, 80);
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["parameters_total"], 671026419200);
  EXPECT_EQ(answer["parameters_active"], 37552297472);
  EXPECT_FALSE(answer["tool_version"].get<std::string>().empty());
  ASSERT_EQ(answer["inputs"].size(), 1U);
  EXPECT_TRUE(answer["inputs"].begin().value().get<std::string>().starts_with("sha256:"));
}

TEST(Cli, EveryCommandSpeaksJson) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"model", "gpt2", "--json"},
        {"cluster", "64xh100-sxm", "-o", "json"},
        {"explain", "HEADS-TP", "--json"},
        {"explain", "--json"},
        {"memory", "llama-3.1-8b", "--on", "8xh100-sxm", "--layout", "tp=2", "--json"},
        {"explain", "memory", "llama-3.1-8b", "--on", "8xh100-sxm", "--layout", "tp=2", "--json"},
        {"explain", "step", "llama-3.1-8b", "--on", "8xh100-sxm", "--layout", "tp=2", "--json"},
        {"compare", "gpt2", "--on", "8xh100-sxm", "--layout", "tp=2", "--layout", "tp=4", "--json"},
        {"explain", "work", "llama-3.1-8b", "--on", "8xh100-sxm", "--layout", "tp=2", "--json"},
        {"config", "show", "--json"},
        {"doctor", "--json"}}) {
    const Ran ran = run_sextant(arguments);
    EXPECT_EQ(ran.exit_code, 0) << arguments[0] << ran.err;
    const json answer = json::parse(ran.out, nullptr, false);
    ASSERT_TRUE(answer.is_object()) << arguments[0];
    EXPECT_TRUE(answer["schema"].get<std::string>().starts_with("sextant." + arguments[0] + "/"));
  }
}

// Items add up to what is allocated, and the tree says the same.
TEST(Cli, MemoryItemsAddUpAndTheTreeAgrees) {
  const std::vector<std::string> job{"llama-3.1-70b",   "--on",  "64xh100-sxm", "--layout",
                                     "tp=8,pp=4,mbs=1", "--json"};
  std::vector<std::string> memory{"memory"};
  memory.insert(memory.end(), job.begin(), job.end());
  const Ran ran = run_sextant(memory);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_TRUE(answer["fits"].get<bool>());
  ASSERT_EQ(answer["ranks"].size(), 4U);
  const json& fullest = answer["ranks"][answer["fullest_rank"].get<std::size_t>()];
  double sum = 0.0;
  for (const auto& item : fullest["items"].items()) {
    sum += item.value().get<double>();
  }
  EXPECT_NEAR(sum / fullest["allocated_bytes"].get<double>(), 1.0, 1e-9);
  std::vector<std::string> tree{"explain", "memory"};
  tree.insert(tree.end(), job.begin(), job.end());
  const json explained = json::parse(run_sextant(tree).out);
  EXPECT_DOUBLE_EQ(explained["tree"]["number"].get<double>(),
                   fullest["allocated_bytes"].get<double>());
}

// An option takes one value: "--on X MODEL" used to swallow MODEL.
TEST(Cli, OptionsMayStandBeforeThePositional) {
  const Ran after = run_sextant({"memory", "gpt2", "--on", "8xh100-sxm", "--layout", "tp=2"});
  ASSERT_EQ(after.exit_code, 0) << after.err;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"memory", "--on", "8xh100-sxm", "gpt2", "--layout", "tp=2"},
        {"memory", "--on", "8xh100-sxm", "--layout", "tp=2", "gpt2"},
        {"memory", "--on=8xh100-sxm", "--layout=tp=2", "gpt2"}}) {
    const Ran before = run_sextant(words);
    EXPECT_EQ(before.exit_code, 0) << before.err;
    EXPECT_EQ(before.out, after.out);
  }
  EXPECT_EQ(run_sextant({"memory", "gpt2", "--on", "8xh100-sxm", "--layout"}).exit_code, 2);
}

TEST(Cli, WhatDoesNotFitIsANoWithWhatWouldHelp) {
  const Ran ran = run_sextant(
      {"memory", "llama-3.1-70b", "--on", "64xh100-sxm", "--layout", "tp=8,pp=1,mbs=4", "--json"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_FALSE(answer["fits"].get<bool>());
  EXPECT_GT(answer["missing_bytes"].get<double>(), 0.0);
  EXPECT_FALSE(answer["fitting_changes"].empty());
}

TEST(Cli, AnIllegalLayoutIsANoWithItsRules) {
  const Ran ran =
      run_sextant({"memory", "llama-3.1-70b", "--on", "64xh100-sxm", "--layout", "tp=7", "--json"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_FALSE(answer["legal"].get<bool>());
  EXPECT_FALSE(answer["violations"].empty());
}

TEST(Cli, AConfigJsonComesThroughAPipe) {
  const Ran ran = run_sextant({"model", "-", "--json"},
                              R"({"model_type":"llama","hidden_size":16,"num_hidden_layers":2,
      "intermediate_size":32,"num_attention_heads":4,"vocab_size":10,"tie_word_embeddings":true})");
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  // embedding 160 + 2 layers of (4*16*16 attention + 3*16*32 MLP + 2*16 norms) + final norm 16.
  EXPECT_EQ(json::parse(ran.out)["parameters_total"], 160 + 2 * (1024 + 1536 + 32) + 16);
}

TEST(Cli, ClusterListsLinksWithSourceAndKind) {
  const Ran ran = run_sextant({"cluster", "144xgb200", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["devices"], 144);
  EXPECT_EQ(answer["scale_up_domains"], 2);  // NVL72 is one domain
  EXPECT_EQ(answer["nodes"], 36);            // trays of four
  ASSERT_FALSE(answer["links"].empty());
  for (const json& link : answer["links"]) {
    EXPECT_FALSE(link["source"].get<std::string>().empty());
    EXPECT_FALSE(link["kind"].get<std::string>().empty());
  }
}

struct Usage {
  std::vector<std::string> arguments;
  int exit_code;
  const char* said;
};

TEST(Cli, BadUsageSaysWhatIsAllowedAndExitsWithTwo) {
  for (const Usage& c :
       {Usage{{"modle", "x"}, 2, "did you mean model?"},
        Usage{{"model", "llama-3.1-70b", "--jsno"}, 2, "did you mean --json?"},
        Usage{{"model", "lama-3.1-70b"}, 2, "did you mean"},
        Usage{{"model"}, 2, "MODEL is missing"},
        Usage{{"model", "gpt2", "extra"}, 2, "one argument too many"},
        Usage{{"cluster", "64xh101"}, 2, "did you mean"},
        Usage{{"cluster", "0xh100-sxm"}, 2, "out of range"},
        Usage{{"cluster", "64xh100-sxm@carrier-pigeon"}, 2, "not a known fabric"},
        Usage{{"explain", "HEDS-TP"}, 2, "did you mean HEADS-TP"},
        Usage{{"model", "gpt2", "-o", "yml"}, 2, "allowed: table, json, md, csv"},
        Usage{{"plan", "gpt2", "--on", "8xh100-sxm", "--on", "16xh100-sxm"}, 2, "2 times"},
        Usage{
            {"plan", "gpt2", "--on", "8xh100-sxm", "--precision", "fp7"}, 2, "--precision: 'fp7'"},
        Usage{{"config", "edit"}, 2, "allowed: show"},
        Usage{{"completion", "tcsh"}, 2, "allowed: bash, zsh, fish"},
        Usage{{"model", "gpt2", "--data", "/no/such/folder"}, 2, "/no/such/folder"},
        Usage{{"model", "/no/such/config.json"}, 2, "/no/such/config.json"}}) {
    const Ran ran = run_sextant(c.arguments);
    EXPECT_EQ(ran.exit_code, c.exit_code) << c.said;
    EXPECT_EQ(ran.out, "") << c.said;
    EXPECT_NE(ran.err.find(c.said), std::string::npos) << ran.err;
  }
}

TEST(Cli, HelpShowsExamplesBeforeOptions) {
  for (const char* command : {"model", "cluster", "explain", "validate", "doctor", "config"}) {
    const Ran ran = run_sextant({command, "--help"});
    EXPECT_EQ(ran.exit_code, 0);
    const std::size_t examples = ran.out.find("Examples:");
    const std::size_t usage = ran.out.find("Usage:");
    ASSERT_NE(examples, std::string::npos) << command;
    EXPECT_LT(examples, usage) << command;
  }
  EXPECT_NE(run_sextant({}).out.find("Commands:"), std::string::npos);
  EXPECT_EQ(run_sextant({"--version"}).out.substr(0, 8), "sextant ");
}

TEST(Cli, HelpNamesParametersAsTheyAreTyped) {
  const Ran ran = run_sextant({"diagnose", "--help"});
  EXPECT_NE(ran.out.find("of --model: how it was run"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("‹"), std::string::npos) << ran.out;
}

TEST(Cli, ColourOnlyWhereAskedFor) {
  const std::string escape = "\x1b[";
  const std::vector<std::string> question{"model", "gpt2"};
  EXPECT_EQ(run_sextant(question).out.find(escape), std::string::npos);  // no terminal
  EXPECT_NE(run_sextant(question, "", {"FORCE_COLOR=1"}).out.find(escape), std::string::npos);
  EXPECT_NE(run_sextant(question, "", {"CLICOLOR_FORCE=1"}).out.find(escape), std::string::npos);
  EXPECT_EQ(run_sextant(question, "", {"FORCE_COLOR=1", "NO_COLOR=1"}).out.find(escape),
            std::string::npos);
  EXPECT_NE(
      run_sextant({"model", "gpt2", "--color", "always"}, "", {"NO_COLOR=1"}).out.find(escape),
      std::string::npos);
}

TEST(Cli, SettingsHaveAnOriginAndAnOrder) {
  const Folder home;
  (void)home.write("sextant/config.toml", "output = \"json\"\ncolor = \"never\"\n");
  const std::string config = "XDG_CONFIG_HOME=" + home.path().string();
  const auto setting = [](const Ran& ran, const char* name) {
    const json answer = json::parse(ran.out);
    for (const json& row : answer["settings"]) {
      if (row["name"] == name) {
        return row;
      }
    }
    return json();
  };
  const Ran from_file = run_sextant({"config", "show", "--origin"}, "", {config});
  EXPECT_EQ(setting(from_file, "output")["value"], "json");
  EXPECT_NE(setting(from_file, "output")["origin"].get<std::string>().find("config.toml:1"),
            std::string::npos);
  const Ran from_variable =
      run_sextant({"config", "show", "--json"}, "", {config, "SEXTANT_COLOR=always"});
  EXPECT_EQ(setting(from_variable, "color")["origin"], "SEXTANT_COLOR");
  EXPECT_EQ(setting(from_variable, "output")["origin"], "flag --json");
  const Ran bad = run_sextant({"config", "show"}, "", {config, "SEXTANT_COLOR=pink"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(bad.err.find("SEXTANT_COLOR"), std::string::npos);
}

TEST(Cli, ADataFolderReplacesAndAddsFiles) {
  const Folder data;
  (void)data.write(
      "devices/toy-1.toml",
      "name = \"Toy\"\nvendor = \"nvidia\"\ngeneration = \"toy\"\nreference_system = \"dgx-h100\"\n"
      "[peak.bf16]\nvalue = \"1 TFLOP/s\"\nkind = \"assumed\"\nsource = \"test\"\n"
      "[memory_capacity]\nvalue = \"8 GB\"\nkind = \"assumed\"\nsource = \"test\"\n"
      "[memory_bandwidth]\nvalue = \"100 GB/s\"\nkind = \"assumed\"\nsource = \"test\"\n"
      "[power_limit]\nvalue = \"10 W\"\nkind = \"assumed\"\nsource = \"test\"\n");
  const Ran ran = run_sextant({"cluster", "4xtoy-1", "--data", data.path().string()});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("4 x Toy"), std::string::npos);
  EXPECT_EQ(run_sextant({"model", "gpt2", "--data", data.path().string()}).exit_code, 0);
}

TEST(Cli, CompletionScriptsAreAcceptedByTheirShells) {
  const Folder folder;
  struct Shell {
    const char* name;
    const char* check;
  };
  for (const Shell& one :
       {Shell{"bash", "bash -n "}, Shell{"zsh", "zsh -n "}, Shell{"fish", "fish --no-execute "}}) {
    const Ran ran = run_sextant({"completion", one.name});
    ASSERT_EQ(ran.exit_code, 0);
    EXPECT_NE(ran.out.find("validate"), std::string::npos);
    const std::string file = folder.write(one.name, ran.out);
    if (shell(std::string("command -v ") + one.name + " >/dev/null") == 0) {
      EXPECT_EQ(shell(one.check + file), 0) << one.name;
    }
  }
}

TEST(Cli, BashCompletesCommandsAndModels) {
  const Folder folder;
  const std::string script = folder.write("c", run_sextant({"completion", "bash"}).out);
  const std::string folder_of_program = built_program().substr(0, built_program().rfind('/'));
  const auto replies = [&](const std::string& words, int at) {
    const std::string out = folder.path() / "replies";
    const std::string command = "PATH=" + folder_of_program + ":$PATH bash -c 'source " + script +
                                "; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                                "; _sextant; printf \"%s\\n\" \"${COMPREPLY[@]}\"' | grep -c . > " +
                                out;
    return shell(command) == 0;
  };
  EXPECT_TRUE(replies("sextant mod", 1));
  EXPECT_TRUE(replies("sextant model llama-3", 2));
  EXPECT_FALSE(replies("sextant zzz", 1));
}

TEST(Cli, ValidatePredictsAKernelAndRefusesWhatIsNotModelled) {
  const Folder folder;
  const std::string kernels = folder.write(
      "mine.csv",
      "kind,variant,dtype,a,b,c,d,e,f,time_us\ngemm,fprop,bf16,4096,4096,4096,,,,210.5\n");
  const std::string bench = folder.write(
      "bench.csv", "world,threads,kind,group,a,b,c,time_us\n8,2,matmul,1,256,256,256,900\n");
  const std::string rows = folder.path() / "rows.csv";
  const Ran ran = run_sextant({"validate", kernels, bench, "--json", "--rows", rows});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["schema"], "sextant.validate/2");
  ASSERT_EQ(answer["rows"].size(), 2U);
  EXPECT_EQ(answer["rows"][0]["id"], "mine.csv#2");
  EXPECT_EQ(answer["rows"][0]["quantity"], "time_us");
  EXPECT_EQ(answer["rows"][0]["status"], "predicted");
  EXPECT_EQ(answer["rows"][0]["measured"], 210.5);
  // 2 · 4096³ flops take 139 µs at an H200's peak of 989 TFLOP/s, and not twice that.
  EXPECT_GT(answer["rows"][0]["predicted"].get<double>(), 139.0);
  EXPECT_LT(answer["rows"][0]["predicted"].get<double>(), 278.0);
  EXPECT_EQ(answer["rows"][1]["status"], "refused");
  EXPECT_EQ(answer["rows"][1]["reason"], "not modelled yet");
  EXPECT_TRUE(answer["rows"][1]["predicted"].is_null());
  EXPECT_TRUE(std::filesystem::exists(rows));
}

TEST(Cli, AClosedOutputIsAnErrorOutside) {
  const Ran ran = run_sextant({"model", "gpt2"}, "", {});
  EXPECT_EQ(ran.exit_code, 0);
  const std::string command = built_program() + " model gpt2 > /dev/full 2>/dev/null";
  EXPECT_EQ(shell(command), 3);
}

}  // namespace
}  // namespace sextant::tests
