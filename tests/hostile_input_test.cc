// Bad input of every kind: a clear error that names the file, exit code 2, no crash, bounded
// memory.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "run_program.h"

namespace sextant::tests {
namespace {

// Beyond what the program takes to print its version, which is the sanitizers' and the libraries':
// 200 MB of input must not be held.
constexpr long kMostMoreKib = 100L * 1024;

void expect_bounded(const Ran& ran, const char* what) {
  static const long kIdleKib = run_sextant({"--version"}).peak_kib;
  EXPECT_LT(ran.peak_kib - kIdleKib, kMostMoreKib) << what;
}

struct Hostile {
  const char* name;
  std::string text;
};

std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) {
    text += piece;
  }
  return text;
}

void expect_refused(const std::string& command, const std::string& file, const char* what) {
  const Ran ran = run_sextant({command, file});
  EXPECT_EQ(ran.exit_code, 2) << what << ": " << ran.err.substr(0, 2000);
  EXPECT_NE(ran.err.find(file), std::string::npos) << what << ": " << ran.err.substr(0, 500);
  EXPECT_LT(ran.err.size(), 4000U) << what;
  expect_bounded(ran, what);
}

TEST(HostileInput, ConfigJson) {
  const std::string fields = R"("num_hidden_layers":2,"num_attention_heads":4,"vocab_size":10)";
  const Folder folder;
  for (const Hostile& c :
       {Hostile{"empty", ""},
        {"truncated", R"({"model_type":"llama","hidden_size":40)"},
        {"not_utf8", "{\"model_type\":\"ll\xff\"}"},
        {"nul", std::string("{\"a\":\0}", 7)},
        {"array", "[]"},
        {"deep", repeated("[", 200000)},
        {"deep_objects", repeated("{\"a\":", 100000)},
        {"nan", R"({"model_type":"llama","hidden_size":NaN,)" + fields + "}"},
        {"negative", R"({"model_type":"llama","hidden_size":-4096,)" + fields + "}"},
        {"zero", R"({"model_type":"llama","hidden_size":0,)" + fields + "}"},
        {"overflow", R"({"model_type":"llama","hidden_size":1e300,)" + fields + "}"},
        {"large", R"({"model_type":"llama","hidden_size":99999999999999999999,)" + fields + "}"},
        {"fraction", R"({"model_type":"llama","hidden_size":40.5,)" + fields + "}"},
        {"text", R"({"model_type":"llama","hidden_size":"big",)" + fields + "}"},
        {"too_many_parameters",
         R"({"model_type":"llama","hidden_size":10000000,"intermediate_size":100000000,)"
         R"("num_hidden_layers":10000,"num_attention_heads":4,"vocab_size":10})"},
        {"no_architecture", "{}"}}) {
    expect_refused("model", folder.write(std::string(c.name) + ".json", c.text), c.name);
  }
}

TEST(HostileInput, ClusterToml) {
  const std::string start = "device = \"h100-sxm\"\n";
  const Folder folder;
  for (const Hostile& c :
       {Hostile{"empty", ""},
        {"truncated", "devices = "},
        {"not_utf8", "device = \"\xff\"\n"},
        {"deep_arrays", "x = " + repeated("[", 100000)},
        {"deep_dots", repeated("a.", 100000) + "b = 1\n"},
        {"deep_headers", "[" + repeated("a.", 50000) + "b]\n"},
        {"multi_line", "x = \"\"\"\n\"\"\"\n"},
        {"negative", start + "devices = -8\n"},
        {"zero", start + "devices = 0\n"},
        {"overflow", start + "devices = 99999999999999999999\n"},
        {"nan", start + "devices = nan\n"},
        {"unknown_key", start + "devices = 8\ngpus = 8\n"},
        {"no_unit",
         start + "devices = 8\n[nic_rate]\nvalue = \"400\"\nkind = \"measured\"\nsource = \"x\"\n"},
        {"no_source",
         start + "devices = 8\n[nic_rate]\nvalue = \"400 Gbit/s\"\nkind = \"measured\"\n"},
        {"no_kind", start + "devices = 8\n[nic_rate]\nvalue = \"400 Gbit/s\"\nsource = \"x\"\n"},
        {"nan_value", start + "devices = 8\n[nic_rate]\nvalue = \"nan Gbit/s\"\nkind = "
                              "\"measured\"\nsource = \"x\"\n"},
        {"zero_nodes", start + "devices = 8\n[devices_per_node]\nvalue = \"0 count\"\nkind = "
                               "\"measured\"\nsource = \"x\"\n"}}) {
    expect_refused("cluster", folder.write(std::string(c.name) + ".toml", c.text), c.name);
  }
}

TEST(HostileInput, ClusterTomlErrorsCarryLineAndColumn) {
  const Folder folder;
  const std::string file =
      folder.write("c.toml",
                   "device = \"h100-sxm\"\ndevices = 8\n\n[nic_rate]\nvalue = \"400 furlong\"\n"
                   "kind = \"measured\"\nsource = \"x\"\n");
  const Ran ran = run_sextant({"cluster", file});
  EXPECT_NE(ran.err.find(file + ":5:9"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("Gbit/s"), std::string::npos) << ran.err;
}

TEST(HostileInput, Tables) {
  const Folder folder;
  for (const Hostile& c :
       {Hostile{"empty", ""},
        {"unknown_header", "a,b,c\n1,2,3\n"},
        {"not_utf8", "id,\xff\n"},
        {"open_quote", "kind,variant,dtype,a,b,c,d,e,f,time_us\n\"gemm,"},
        {"short_row", "kind,variant,dtype,a,b,c,d,e,f,time_us\ngemm,fprop\n"},
        {"nan", "kind,variant,dtype,a,b,c,d,e,f,time_us\ngemm,fprop,bf16,1,1,1,,,,nan\n"},
        {"negative", "kind,variant,dtype,a,b,c,d,e,f,time_us\ngemm,fprop,bf16,1,1,1,,,,-3\n"},
        {"overflow", "kind,variant,dtype,a,b,c,d,e,f,time_us\ngemm,fprop,bf16,1e99,1,1,,,,3\n"}}) {
    expect_refused("validate", folder.write(std::string(c.name) + ".csv", c.text), c.name);
  }
}

TEST(HostileInput, TwoHundredMegabytesAreNotRead) {
  const Folder folder;
  for (const auto& [command, name] :
       {std::pair{"model", "big.json"}, std::pair{"cluster", "big.toml"},
        std::pair{"validate", "big.csv"}}) {
    const std::filesystem::path file = folder.path() / name;
    std::ofstream(file) << "x";
    std::filesystem::resize_file(file, 200'000'000);
    const Ran ran = run_sextant({command, file.string()});
    EXPECT_EQ(ran.exit_code, 2) << command << ran.err;
    EXPECT_NE(ran.err.find("larger than"), std::string::npos) << ran.err;
    expect_bounded(ran, command);
  }
}

TEST(HostileInput, EndlessInputIsCutOff) {
  for (const char* command : {"model", "cluster"}) {
    const Ran ran = run_sextant({command, "/dev/zero"});
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    expect_bounded(ran, command);
  }
}

}  // namespace
}  // namespace sextant::tests
