// `sextant capture` as a user meets it: what a script would start is exact whatever it does with
// branches, functions and sourced files; what is hostile is contained.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "base/places_testing.h"
#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kModel =
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
    "--max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64 --vocab-size 32000 "
    "--bf16";

// A folder with a script, and what capturing it gave.
class Captured {
 public:
  explicit Captured(const std::string& script, const std::vector<std::string>& arguments = {},
                    const std::vector<std::string>& options = {},
                    std::vector<std::string> variables = {}) {
    path_ = folder_.write("train.sh", script);
    file_ = folder_.path() / "job.capture.json";
    std::vector<std::string> words{
        "-C",    folder_.path().string(), built_program(), "capture", "--yes",
        "--out", file_.string()};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "bash", path_});
    words.insert(words.end(), arguments.begin(), arguments.end());
    variables.emplace_back("PATH=/usr/local/bin:/usr/bin:/bin");
    variables.push_back("HOME=" + folder_.path().string());
    ran_ = run_other("/usr/bin/env", words, variables);
    if (fs::exists(file_)) {
      record_ = json::parse(content(file_));
    }
  }

  [[nodiscard]] bool allowed() const {
    return ran_.err.find("the script is not run: the kernel does not let") == std::string::npos &&
           ran_.err.find("cannot be made read-only") == std::string::npos;
  }
  [[nodiscard]] const Ran& ran() const { return ran_; }
  [[nodiscard]] const json& record() const { return record_; }
  [[nodiscard]] fs::path folder() const { return folder_.path(); }
  [[nodiscard]] std::string file() const { return file_.string(); }
  // The words of the last call, with a blank between.
  [[nodiscard]] std::string last_call() const {
    std::string text;
    if (record_.contains("calls") && !record_["calls"].empty()) {
      for (const auto& word : record_["calls"].back()["words"]) {
        text += (text.empty() ? "" : " ") + word.get<std::string>();
      }
    }
    return text;
  }
  [[nodiscard]] std::string notes() const {
    return record_.contains("notes") ? record_["notes"].dump() : "";
  }

 private:
  Folder folder_;
  std::string path_;
  fs::path file_;
  Ran ran_;
  json record_;
};

// Where a plain user may have no namespaces of the kernel nothing is run, and there is nothing to
// look at but the refusal.
#define SKIP_WHERE_NOTHING_RUNS(captured)                                        \
  if (!(captured).allowed()) {                                                   \
    GTEST_SKIP() << "namespaces are not allowed here: " << (captured).ran().err; \
  }                                                                              \
  static_assert(true, "a semicolon follows")

TEST(CaptureCli, WithoutAYesNothingRuns) {
  const Folder folder;
  const std::string script = folder.write("t.sh", "touch ran\ntorchrun train.py\n");
  const Ran ran = run_sextant({"capture", "--", "bash", script});
  EXPECT_EQ(ran.exit_code, 2);
  for (const char* said : {"this runs: bash", "touch", "torchrun", "no network", "--yes"}) {
    EXPECT_NE(ran.err.find(said), std::string::npos) << said << "\n" << ran.err;
  }
}

TEST(CaptureCli, BranchesFunctionsArraysAndArgumentsComeOutAsTheShellHasThem) {
  const Captured captured(std::string("set -euo pipefail\n"
                                      "pick() { case $1 in 70B) echo 8;; *) echo 2;; esac; }\n"
                                      "TP=$(pick \"$1\"); shift\n"
                                      "ARGS=(") +
                              kModel +
                              ")\n"
                              "if (( TP > 4 )); then ARGS+=(--sequence-parallel); fi\n"
                              "echo 'PP=4' > env.sh; source env.sh\n"
                              "eval \"torchrun --nnodes 8 --nproc_per_node 8 pretrain_gpt.py "
                              "--tensor-model-parallel-size $TP --pipeline-model-parallel-size "
                              "$PP ${ARGS[*]} $*\"\n",
                          {"70B", "--use-distributed-optimizer"});
  SKIP_WHERE_NOTHING_RUNS(captured);
  ASSERT_EQ(captured.ran().exit_code, 0) << captured.ran().err << captured.ran().out;
  EXPECT_NE(captured.last_call().find("--sequence-parallel --use-distributed-optimizer"),
            std::string::npos)
      << captured.last_call();
  EXPECT_FALSE(fs::exists(captured.folder() / "env.sh"));
  const Ran check = run_sextant({"check", "--json", captured.file(), "--on", "64xh100-sxm"});
  const json answer = json::parse(check.out);
  EXPECT_TRUE(answer["legal"].get<bool>()) << check.out;
  EXPECT_NE(answer["layout"].get<std::string>().find("tp=8"), std::string::npos);
  EXPECT_NE(answer["layout"].get<std::string>().find("pp=4"), std::string::npos);
  EXPECT_TRUE(answer["unresolved"].empty()) << answer["unresolved"].dump(1);
}

TEST(CaptureCli, AHereDocumentThatTheScriptWritesIsAFileOfTheJob) {
  const Captured captured(
      "ZERO=2\n"
      "cat > ds.json <<EOT\n{\"zero_optimization\": {\"stage\": $ZERO}, "
      "\"train_micro_batch_size_per_gpu\": 4, \"bf16\": {\"enabled\": true}}\nEOT\n"
      "deepspeed --num_gpus 8 train.py --deepspeed ds.json\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  const json answer = json::parse(run_sextant({"check", "--json", captured.file()}).out);
  EXPECT_NE(answer["layout"].get<std::string>().find("zero=2"), std::string::npos);
  EXPECT_NE(answer["layout"].get<std::string>().find("mbs=4"), std::string::npos);
}

TEST(CaptureCli, WhatDependsOnAnAnswerThatNobodyGaveIsNotKnown) {
  const std::string script =
      "N=$(nvidia-smi -L | wc -l)\n"
      "torchrun --nproc_per_node $N pretrain_gpt.py --tensor-model-parallel-size 2 " +
      std::string(kModel) + "\n";
  const Captured open(script);
  SKIP_WHERE_NOTHING_RUNS(open);
  EXPECT_EQ(open.record()["calls"].back()["open"], json::array({2}));
  EXPECT_NE(open.notes().find("how many devices a node has"), std::string::npos);
  const Captured said(script, {}, {"--on", "4xa100-sxm-80g"});
  ASSERT_EQ(said.ran().exit_code, 0) << said.ran().err;
  EXPECT_NE(said.last_call().find("--nproc_per_node 4"), std::string::npos) << said.last_call();
  EXPECT_FALSE(said.record()["calls"].back().contains("open"));
}

TEST(CaptureCli, ABatchScriptRunsUnderItsHeader) {
  const Captured captured(
      "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\n"
      "srun bash -c \"torchrun --nnodes \\$SLURM_NNODES --nproc_per_node "
      "$SLURM_GPUS_PER_NODE --rdzv $(scontrol show hostnames "
      "$SLURM_JOB_NODELIST | head -n1) pretrain_gpt.py " +
      std::string(kModel) + "\"\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_NE(captured.last_call().find("--nnodes 4 --nproc_per_node 8 --rdzv node0 pretrain_gpt.py"),
            std::string::npos)
      << captured.last_call() << captured.ran().out;
}

TEST(CaptureCli, NoSecretIsInTheRecord) {
  const Captured captured(
      "export HF_TOKEN=quietvalue77\n"
      "echo \"login: $HF_TOKEN\" > c.yaml\n"
      "torchrun train.py --config c.yaml --hub $HF_TOKEN --wandb-api-key other-9-secret "
      "$GIVEN_KEY\n",
      {}, {}, {"GIVEN_KEY=from-the-user-77"});
  SKIP_WHERE_NOTHING_RUNS(captured);
  const std::string record = content(captured.file());
  ASSERT_NE(record.find("torchrun"), std::string::npos);
  for (const char* secret : {"quietvalue77", "other-9-secret", "from-the-user-77"}) {
    EXPECT_EQ((record + captured.ran().out + captured.ran().err).find(secret), std::string::npos)
        << secret;
  }
}

TEST(HostileCapture, AScriptThatRemovesFilesRemovesNone) {
  const Folder outside;
  const std::string precious = outside.write("precious.txt", "kept");
  const Captured captured("rm -rf " + outside.path().string() +
                          " \"$HOME\"/* ./train.sh\necho gone > " + precious +
                          "\necho x > /etc/sextant-was-here || true\ntorchrun train.py\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(content(precious), "kept");
  EXPECT_TRUE(fs::exists(captured.folder() / "train.sh"));
  EXPECT_FALSE(fs::exists("/etc/sextant-was-here"));
  EXPECT_EQ(captured.last_call(), "torchrun train.py");
}

TEST(HostileCapture, NothingReachesTheNetwork) {
  const Captured captured(
      "curl -s http://127.0.0.1:1/ && echo curl >> said\n"
      "/usr/bin/wget -q http://127.0.0.1:1/ 2>/dev/null\n"
      "if (exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null; then OUT=--tcp; fi\n"
      "if [ -e /run/systemd ] && socat - UNIX:/run/systemd/private 2>/dev/null; then OUT=--unix; "
      "fi\n"
      "torchrun train.py $OUT $(ls /sys/class/net 2>/dev/null)\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.last_call(), "torchrun train.py") << captured.ran().out;
  EXPECT_NE(captured.notes().find("curl was called"), std::string::npos);
}

TEST(HostileCapture, AScriptThatForksWithoutEndIsEnded) {
  const Captured captured("torchrun early.py\nbomb() { bomb | bomb & }\nbomb\nwait\n", {},
                          {"--seconds", "20"});
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.last_call(), "torchrun early.py");
  EXPECT_NE(captured.notes().find("more than 400 processes"), std::string::npos)
      << captured.notes();
}

TEST(HostileCapture, AScriptThatNeverEndsIsEnded) {
  const Captured captured("torchrun early.py\nwhile true; do :; done\n", {}, {"--seconds", "1"});
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.last_call(), "torchrun early.py");
  EXPECT_NE(captured.notes().find("ended after 1 s"), std::string::npos) << captured.notes();
}

TEST(HostileCapture, WhatAScriptPrintsAndWritesIsBounded) {
  const Captured captured(
      "head -c 50000000 /dev/zero\n"
      "if head -c 2000000000 /dev/zero > big 2>/dev/null; then BIG=--big; fi\n"
      "for i in $(seq 1 200); do echo $i > file$i; done\n"
      "torchrun train.py $BIG\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.last_call(), "torchrun train.py");
  EXPECT_LT(captured.ran().out.size(), 10'000U);
  EXPECT_FALSE(fs::exists(captured.folder() / "big"));
}

TEST(HostileCapture, APathToAProgramMeetsTheStandInToo) {
  if (!fs::exists("/usr/bin/python3") && !fs::exists("/usr/bin/curl")) {
    GTEST_SKIP() << "neither python3 nor curl lies in /usr/bin here";
  }
  const std::string program = fs::exists("/usr/bin/python3") ? "/usr/bin/python3" : "/usr/bin/curl";
  const Captured captured("PATH=/usr/bin:/bin\n" + program +
                          " pretrain_gpt.py --num-layers 2\ntorchrun train.py\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  const std::string all = captured.record()["calls"].dump() + captured.notes();
  EXPECT_NE(all.find(program == "/usr/bin/curl" ? "curl was called" : "pretrain_gpt.py"),
            std::string::npos)
      << all << captured.ran().out;
  EXPECT_EQ(captured.last_call(), "torchrun train.py");
}

TEST(HostileCapture, TheStandInItselfCannotBeChanged) {
  const auto size = fs::file_size(built_program());
  const Captured captured(
      "echo x >> /dev/.sextant/program && A=--program\n"
      "echo x >> /dev/.sextant/bin/torchrun && A=--torchrun\n"
      "for p in /usr/bin/python3 /usr/bin/curl; do [ -e $p ] && echo x >> $p && A=--$p; done\n"
      "echo x >> " +
      built_program() + "\ntorchrun train.py $A\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.last_call(), "torchrun train.py") << captured.ran().out;
  EXPECT_EQ(fs::file_size(built_program()), size);
}

TEST(HostileCapture, ARightThatIsNotNeededIsRefused) {
  const Captured captured(
      "mount -t tmpfs x /mnt 2>/dev/null && A=--mount\n"
      "umount /usr 2>/dev/null && A=--umount\n"
      "unshare -Ur true 2>/dev/null && A=--unshare\n"
      "echo 1 > /proc/sys/kernel/sysrq 2>/dev/null && A=--sysctl\n"
      "[ -e /dev/sda ] || [ -e /dev/vda ] || [ -e /dev/nvidia0 ] && A=--device\n"
      "kill -9 " +
      std::to_string(getpid()) + " 2>/dev/null && A=--kill\ntorchrun train.py $A\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.last_call(), "torchrun train.py") << captured.ran().out;
}

TEST(HostileCapture, ARecordThatAScriptMadeUpIsStillOnlyARecord) {
  const Captured captured(
      "printf 'w99999999999:x' > /dev/.sextant/spool/000-0\n"
      "printf 'garbage' > /dev/.sextant/spool/000-1\n"
      "ln -s /etc/passwd /dev/.sextant/spool/000-2\nmkdir /dev/.sextant/spool/000-3\n"
      "torchrun train.py\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.last_call(), "torchrun train.py");
  EXPECT_EQ(content(captured.file()).find("root:"), std::string::npos);
}

// What perl says of a system call, as an option: perl is of every Debian, and no stand-in.
std::string perl_option(const std::string& code, const std::string& option) {
  return "if perl -e '" + code + "' 2>/dev/null; then A+=\" " + option + "\"; fi\n";
}

TEST(HostileCapture, MemoryThatBelongsToNoProcessIsRefused) {
  if (!fs::exists("/usr/bin/perl")) {
    GTEST_SKIP() << "no perl in /usr/bin here";
  }
  const Captured captured(perl_option("exit(defined(shmget(0, 1 << 20, 01600)) ? 0 : 1)", "--shm") +
                          perl_option("exit(defined(msgget(0, 01600)) ? 0 : 1)", "--msg") +
                          perl_option("exit 0", "--perl") + "torchrun train.py $A\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.last_call(), "torchrun train.py --perl") << captured.ran().out;
}

TEST(HostileCapture, MemoryThatProcessesShareCountsToo) {
#if defined(__x86_64__)
  if (!fs::exists("/usr/bin/perl")) {
    GTEST_SKIP() << "no perl in /usr/bin here";
  }
  // mmap(0, 3 GiB, READ | WRITE, SHARED | ANONYMOUS, -1, 0)
  const Captured captured(
      "torchrun early.py\n"
      "perl -e 'syscall(9, 0, 3 << 30, 3, 0x21, -1, 0) > 0 or exit; select(undef, undef, undef, "
      "30)'\n"
      "torchrun late.py\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.last_call(), "torchrun early.py");
  EXPECT_NE(captured.notes().find("held more than 2048 MiB"), std::string::npos)
      << captured.notes();
#else
  GTEST_SKIP() << "the number of mmap is another here";
#endif
}

TEST(HostileCapture, APairOfDatagramSocketsIsRefusedAndOneOfStreamsIsNot) {
  if (!fs::exists("/usr/bin/perl")) {
    GTEST_SKIP() << "no perl in /usr/bin here";
  }
  const auto pair = [](const std::string& type) {
    return "use Socket; exit(socketpair(A, B, AF_UNIX, " + type + ", 0) ? 0 : 1)";
  };
  const Captured captured(perl_option(pair("SOCK_DGRAM"), "--datagrams") +
                          perl_option(pair("SOCK_SEQPACKET"), "--packets") +
                          perl_option(pair("SOCK_STREAM"), "--streams") + "torchrun train.py $A\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.last_call(), "torchrun train.py --streams") << captured.ran().out;
}

TEST(HostileCapture, AFileThatTheCallerHasOpenIsNotTheScripts) {
  const Folder folder;
  const std::string script = folder.write(
      "t.sh", "if { echo leaked >&2000; } 2>/dev/null; then A=--leaked; fi\ntorchrun t.py $A\n");
  const std::string log = folder.write("log.txt", "");
  const std::string out = folder.path() / "job.json";
  const Ran ran = run_other(
      "/bin/bash",
      {"-c", "exec 2000>>\"$1\" || exit 77; exec \"$2\" capture --yes --out \"$3\" -- bash \"$4\"",
       "bash", log, built_program(), out, script});
  if (ran.exit_code == 77 || !fs::exists(out)) {
    GTEST_SKIP() << "not so many files may be open, or nothing runs here: " << ran.err;
  }
  EXPECT_EQ(content(log), "");
  EXPECT_EQ(content(out).find("--leaked"), std::string::npos);
}

TEST(CaptureCli, ABatchScriptOnStandardInputRuns) {
  const Captured captured(
      "sbatch <<'EOT'\n#!/bin/bash\n#SBATCH --nodes=2\n"
      "torchrun --nnodes $SLURM_NNODES t.py\nEOT\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.last_call(), "torchrun --nnodes 2 t.py") << captured.ran().out;
}

TEST(CaptureCli, AProgramWithALongNameThatIsNotThereIsNamed) {
  const Ran ran = run_sextant({"capture", "--yes", "--", "no-such-" + std::string(2'000, 'x')});
  EXPECT_TRUE(ran.err.find("the kernel does not let") != std::string::npos ||
              (ran.err.find("no-such-xxx") != std::string::npos &&
               ran.err.find("cannot be started: File name too long") != std::string::npos))
      << ran.err;
}

TEST(CaptureCli, AScriptThatStartsNothingSaysWhatItPrintedLast) {
  const Captured captured("echo no such dataset; exit 3\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.ran().exit_code, 1);
  EXPECT_NE(captured.ran().out.find("no such dataset"), std::string::npos) << captured.ran().out;
  EXPECT_NE(captured.ran().out.find("ended with 3"), std::string::npos) << captured.ran().out;
  EXPECT_FALSE(fs::exists(captured.file()));
}

TEST(CaptureCli, AWordThatChangesFromRunToRunIsNotKnown) {
  const Captured captured("torchrun t.py --port $(cat /proc/sys/kernel/random/uuid) --tp 8\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.record()["calls"].back()["open"], json::array({3}));
  EXPECT_NE(captured.notes().find("when the script ran again"), std::string::npos);
}

TEST(CaptureCli, AScriptThatBreaksOffSaysThatItsRecordMayNotBeWhole) {
  const Captured captured("set -e\ntorchrun early.py\nfalse\ntorchrun late.py\n");
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.last_call(), "torchrun early.py");
  EXPECT_NE(captured.notes().find("the script ended with 1: what it"), std::string::npos)
      << captured.notes();
}

TEST(CaptureCli, OptionsBehindTheDashesAreTheScripts) {
  const Captured captured("torchrun train.py \"$@\"\n", {"--help", "--json", "--", "[1,2]", ""});
  SKIP_WHERE_NOTHING_RUNS(captured);
  EXPECT_EQ(captured.record()["calls"].back()["words"],
            json::array({"torchrun", "train.py", "--help", "--json", "--", "[1,2]", ""}))
      << captured.ran().out;
}

}  // namespace
}  // namespace sextant::tests
