// Launch scripts as people have them: what is followed, and what stays open.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "emit/dialects.h"
#include "emit/not_known.h"
#include "emit/shell_job.h"
#include "emit/shell_script.h"

namespace sextant::emit {
namespace {

using WordLine = std::vector<std::string>;
using FilesBeside = std::map<std::string, std::string, std::less<>>;

ShellInvocation beside(FilesBeside files) {
  ShellInvocation invocation;
  invocation.file =
      [files = std::move(files)](std::string_view path) -> std::optional<ShellInvocation::Found> {
    const auto found = files.find(path);
    if (found == files.end()) {
      return std::nullopt;
    }
    return ShellInvocation::Found{found->first, found->second};
  };
  return invocation;
}

ShellScript script_of(std::string_view text, const ShellInvocation& invocation = {}) {
  auto script = read_shell_script(text, "t.sh", invocation);
  EXPECT_TRUE(script) << (script ? "" : to_text(script.error()));
  return script ? *std::move(script) : ShellScript{};
}

// The words of every command, those that are not known in angle brackets.
std::vector<WordLine> lines_of(std::string_view text, const ShellInvocation& invocation = {}) {
  std::vector<WordLine> list;
  for (const ScriptCommand& command : script_of(text, invocation).commands) {
    WordLine& line = list.emplace_back();
    for (const ScriptWord& word : command.words) {
      line.push_back(word.why.empty() ? word.at.text : '<' + word.at.text + '>');
    }
  }
  return list;
}

WordLine last_line(std::string_view text, const ShellInvocation& invocation = {}) {
  const std::vector<WordLine> lines = lines_of(text, invocation);
  return lines.empty() ? WordLine{} : lines.back();
}

TEST(ShellFollowed, LoopsOverKnownListsGoRoundByRound) {
  EXPECT_EQ(lines_of("for i in 1 2; do run $i; done"),
            (std::vector<WordLine>{{"run", "1"}, {"run", "2"}}));
  EXPECT_EQ(lines_of("for i in {1..3}; do run $i; done").size(), 3U);
  EXPECT_EQ(last_line("P=; for x in a b; do P=\"$P --$x\"; done; run $P"),
            (WordLine{"run", "--a", "--b"}));
  EXPECT_EQ(last_line("A=(); for x in 1 2; do A+=(-n $x); done; run ${A[@]}"),
            (WordLine{"run", "-n", "1", "-n", "2"}));
  EXPECT_EQ(last_line("for x in a b c; do if [ $x = b ]; then break; fi; done; run $x"),
            (WordLine{"run", "b"}));
  EXPECT_EQ(last_line("for x in a b; do if [ $x = a ]; then continue; fi; Y=$x; done; run $Y"),
            (WordLine{"run", "b"}));
  EXPECT_EQ(last_line("N=0; while [ $N -lt 5 ]; do N=$((N+2)); done; run $N"),
            (WordLine{"run", "6"}));
  EXPECT_EQ(last_line("for x in; do run $x; done; run y"), (WordLine{"run", "y"}));
}

TEST(ShellFollowed, ABreakThatMayBeTakenLeavesTheRestOpen) {
  EXPECT_EQ(last_line("for x in a b; do Y=$x; if grep -q z f; then break; fi; done; run $Y"),
            (WordLine{"run", "<$Y>"}));
  EXPECT_EQ(last_line("TP=8; while grep -q z f; do TP=4; done; run $TP"),
            (WordLine{"run", "<$TP>"}));
  EXPECT_EQ(last_line("for f in *.json; do X=$f; done; run $X"), (WordLine{"run", "<$f>"}));
}

TEST(ShellFollowed, FunctionsRunWhereTheyAreCalled) {
  EXPECT_EQ(last_line("f() { TP=$1; }\nf 4\nrun $TP"), (WordLine{"run", "4"}));
  EXPECT_EQ(last_line("function f { run --tp $1 \"$@\"; }\nf 4 5"),
            (WordLine{"run", "--tp", "4", "4", "5"}));
  EXPECT_EQ(last_line("TP=8; f() { local TP=4; X=$TP; }\nf\nrun $TP $X"),
            (WordLine{"run", "8", "4"}));
  EXPECT_EQ(lines_of("TP=8; f() { TP=4; }\nrun $TP").front(), (WordLine{"run", "8"}));
  EXPECT_EQ(last_line("f() { if [ $1 = a ]; then return; fi; TP=4; }\nTP=8\nf a\nrun $TP"),
            (WordLine{"run", "8"}));
  EXPECT_EQ(last_line("f() { if grep -q a b; then return; fi; TP=4; }\nTP=8\nf\nrun $TP"),
            (WordLine{"run", "<$TP>"}));
  // One that nothing calls may still be run by a trap: what it starts is seen, as what may run.
  const ShellScript uncalled = script_of("f() { python train.py; }\nTP=8\n");
  ASSERT_EQ(uncalled.commands.size(), 1U);
  EXPECT_TRUE(uncalled.commands[0].uncalled);
}

TEST(ShellFollowed, FilesAreReadFromWhereTheScriptIs) {
  const ShellInvocation with = beside({{"params.sh", "TP=4\nPP=${PP:-2}\n"}});
  EXPECT_EQ(last_line("source params.sh\nrun $TP $PP", with), (WordLine{"run", "4", "2"}));
  EXPECT_EQ(last_line("D=$(dirname $0)\nsource $D/params.sh\nrun $TP", with),
            (WordLine{"run", "4"}));
  EXPECT_EQ(last_line(". `pwd`/params.sh\nrun $TP", with), (WordLine{"run", "4"}));
  // A file that is not there: what it may set is not known.
  EXPECT_EQ(last_line("source other.sh\nrun $TP", with), (WordLine{"run", "<$TP>"}));
  const ShellScript script = script_of("source params.sh\nrun $TP", with);
  EXPECT_EQ(script.followed, (std::vector<std::string>{"params.sh"}));
  EXPECT_EQ(script.commands[0].words[1].at.place.file, "params.sh");
  EXPECT_EQ(script.commands[0].words[1].at.place.line, 1);
}

TEST(ShellFollowed, AScriptThatIsStartedHasWhatIsExported) {
  const ShellInvocation with = beside({{"train.sh", "run $TP $PP $1 $2\n"}});
  EXPECT_EQ(last_line("export TP=4; PP=8\nbash train.sh a b", with),
            (WordLine{"run", "4", "<$PP>", "a", "b"}));
  EXPECT_EQ(last_line("TP=2 bash train.sh a", with), (WordLine{"run", "2", "<$PP>", "a", "<$2>"}));
  EXPECT_EQ(last_line("srun -N 4 bash train.sh", with)[0], "srun");
  EXPECT_EQ(last_line("bash train.sh; run x", with), (WordLine{"run", "x"}));
  // sbatch of a file that has its own header.
  const ShellInvocation batch =
      beside({{"job.sh", "#SBATCH --ntasks-per-node=8\nrun $SLURM_NNODES\n"}});
  EXPECT_EQ(last_line("sbatch --nodes=4 job.sh", batch).back(), "4");
}

TEST(ShellFollowed, AScriptThatStartsItselfEnds) {
  const ShellInvocation with = beside({{"a.sh", "bash b.sh\n"}, {"b.sh", "bash a.sh\nrun x\n"}});
  EXPECT_FALSE(lines_of("bash a.sh", with).empty());
}

TEST(ShellFollowed, TextsOfHereDocumentsAreTexts) {
  EXPECT_EQ(last_line("TP=4\nC=$(cat <<EOF\n  run --tp $TP \\\n  --sp\nEOF\n)\neval \"$C\""),
            (WordLine{"run", "--tp", "4", "--sp"}));
  EXPECT_EQ(last_line("TP=4\nread -r -d '' C <<EOF\nrun $TP\nEOF\n$C"), (WordLine{"run", "4"}));
  EXPECT_EQ(last_line("C=$(cat <<'EOF'\nrun don't (x\nEOF\n)\nrun y"), (WordLine{"run", "y"}));
  EXPECT_EQ(last_line("C=$(cat <<- EOM\n\tenv | sed 's/^/ /' ;\n\trun \\$RANK ;\nEOM\n)\n"
                      "echo \"$C\" > w.sh\nchmod 777 w.sh\ntorchrun --no-python bash w.sh")
                .back(),
            "<$RANK>");
  EXPECT_EQ(last_line("IFS=',' read -r A B <<< \"2,4\"\nrun $A $B"), (WordLine{"run", "2", "4"}));
  EXPECT_EQ(last_line("read -ra A <<< \"x y\"\nrun ${A[1]}"), (WordLine{"run", "y"}));
  EXPECT_EQ(last_line("read A\nrun $A"), (WordLine{"run", "<$A>"}));
}

// As bash has them: blanks run together, other separators each end a field.
TEST(ShellFollowed, WhatIsReadFallsIntoFields) {
  const auto fields = [](const std::string& reads) {
    return last_line(reads + "\nrun \"$A\" \"$B\" \"$C\"");
  };
  EXPECT_EQ(fields("read -r A B C <<< \"8   2\""), (WordLine{"run", "8", "2", ""}));
  EXPECT_EQ(fields("read -r A B <<< \"  8 \t 2  3  \"\nC=x"), (WordLine{"run", "8", "2  3", "x"}));
  EXPECT_EQ(fields("IFS=, read -r A B C <<< \"8,,2\""), (WordLine{"run", "8", "", "2"}));
  EXPECT_EQ(fields("IFS=', ' read -r A B C <<< \"8 ,  2 4\""), (WordLine{"run", "8", "2", "4"}));
  EXPECT_EQ(fields("IFS=, read -r A B <<< \"8,2,\"\nC=x"), (WordLine{"run", "8", "2", "x"}));
  EXPECT_EQ(fields("IFS=, read -r A B <<< \"8,2,4,\"\nC=x"), (WordLine{"run", "8", "2,4,", "x"}));
  EXPECT_EQ(fields("IFS= read -r A <<< \" 8 2 \"\nB=y; C=x"), (WordLine{"run", " 8 2 ", "y", "x"}));
  EXPECT_EQ(last_line("IFS=, read -ra A <<< \"8,,2\"\nrun ${#A[@]} ${A[2]}"),
            (WordLine{"run", "3", "2"}));
}

TEST(ShellFollowed, WhatCommandsPrintIsWorkedOutWhereItFollows) {
  EXPECT_EQ(last_line("run $(echo 8) $(expr 2 + 3) $(printf '%02d' 7) $(basename /a/b.sh .sh)"),
            (WordLine{"run", "8", "5", "07", "b"}));
  EXPECT_EQ(last_line("for i in $(seq 1 2); do run $i; done"), (WordLine{"run", "2"}));
  EXPECT_EQ(last_line("run $(bc <<< \"4*2\")"), (WordLine{"run", "8"}));
  EXPECT_EQ(last_line("run $(echo 8 | tr 8 9)"), (WordLine{"run", "<$(echo 8 | tr 8 9)>"}));
  EXPECT_EQ(last_line("run $(nproc)"), (WordLine{"run", "<$(nproc)>"}));
}

TEST(ShellFollowed, SequencesOfAnySizeAreNotMade) {
  EXPECT_EQ(last_line("run $(seq -1 1)"), (WordLine{"run", "-1", "0", "1"}));
  EXPECT_EQ(last_line("run x$(seq 2 1)"), (WordLine{"run", "x"}));
  for (const std::string_view asked :
       {"-2 9223372036854775807", "9223372036854775807 -9223372036854775808",
        "-9223372036854775808 0", "1 100000", "9223372036854775807", "1 2 3", "1.5"}) {
    const std::string call = "$(seq " + std::string(asked) + ")";
    EXPECT_EQ(last_line("run " + call), (WordLine{"run", '<' + call + '>'})) << asked;
  }
}

TEST(ShellFollowed, CalculatorsHavePowersAndNoBits) {
  EXPECT_EQ(last_line("run $(bc <<< \"2^10\") $(bc <<< \"2 ^ 3 ^ 2 - 12\") $(bc <<< \"(1+2)^2\")"),
            (WordLine{"run", "1024", "500", "9"}));
  const std::vector<std::string> open{"2**3", "010+1", "2--3", "4|2",  "4&6",         "1<2",
                                      "2^-1", "0x10",  "1/0",  "9^99", "scale=2;1/2", "1.5*2"};
  for (const std::string& asked : open) {
    const std::string call = "$(bc <<< \"" + asked + "\")";
    EXPECT_EQ(last_line("run " + call), (WordLine{"run", '<' + call + '>'})) << asked;
  }
  EXPECT_EQ(last_line("run $(bc -l <<< 10/4)"), (WordLine{"run", "<$(bc -l <<< 10/4)>"}));
}

TEST(ShellFollowed, EscapesThatStandForBytesStayOpen) {
  EXPECT_EQ(last_line("for i in $(printf '1\\n2\\t3\\n'); do run $i; done"),
            (WordLine{"run", "3"}));
  EXPECT_EQ(last_line("run \"$(printf 'a\\\\n')\""), (WordLine{"run", "a\\n"}));
  for (const std::string_view asked : {"\\064", "\\x38", "8\\c9", "\\e[1m8", "8\\"}) {
    const std::string call = "$(printf '" + std::string(asked) + "')";
    EXPECT_EQ(last_line("run " + call), (WordLine{"run", '<' + call + '>'})) << asked;
  }
}

std::string text_in(const ScriptFile& file) {
  std::string text;
  for (const ScriptWord& part : file.parts) {
    text += part.at.text;
  }
  return text;
}

TEST(ShellFollowed, EchoDecodesEscapesWhereItIsTold) {
  EXPECT_EQ(last_line("for i in $(echo -e '1\\n2\\t3'); do run $i; done"), (WordLine{"run", "3"}));
  EXPECT_EQ(last_line("run \"$(echo '1\\n2')\" \"$(echo -eE '1\\n2')\" \"$(echo -x)\""),
            (WordLine{"run", "1\\n2", "1\\n2", "-x"}));
  for (const std::string_view asked : {"-e '\\064'", "-ne '\\x38'", "-e '8\\c9'", "-E -e '8\\'"}) {
    const std::string call = "$(echo " + std::string(asked) + ")";
    EXPECT_EQ(last_line("run " + call), (WordLine{"run", '<' + call + '>'})) << asked;
  }
  // In files that it writes, too.
  const ShellScript script = script_of(
      "echo -e '{\\n\\t1}' > a\necho -e '\\x7b' > b\necho '\\n' > c\necho -n 8 > d\necho 4 >> d\n"
      "echo -e \"$X\\n\" > e\n");
  ASSERT_EQ(script.written.size(), 5U);
  EXPECT_EQ(text_in(script.written[0]), "{\n\t1}\n");
  EXPECT_FALSE(script.written[1].known);
  EXPECT_EQ(text_in(script.written[2]), "\\n\n");
  EXPECT_EQ(text_in(script.written[3]), "84\n");
  EXPECT_EQ(text_in(script.written[4]), "$X\n\n");
}

TEST(ShellFollowed, FilesThatItWritesAreItsFiles) {
  const ShellScript script = script_of(
      "Z=3\ncat <<EOT > ds.json\n{\"zero_optimization\": {\"stage\": $Z}, \"a\": $X}\nEOT\n"
      "sed s/a/b/ t > u.json\n");
  ASSERT_EQ(script.written.size(), 2U);
  EXPECT_EQ(script.written[0].name, "ds.json");
  EXPECT_FALSE(script.written[1].known);
  const auto settings = parse_shell(
      "Z=3\ncat <<EOT > ds.json\n{\"zero_optimization\": {\"stage\": $Z}, \"a\": $X}\nEOT\n"
      "deepspeed --num_gpus 8 train.py --deepspeed ds.json\n",
      "t.sh");
  ASSERT_TRUE(settings);
  ASSERT_EQ(settings->written.size(), 1U);
  EXPECT_EQ(settings->written[0].text, "{\"zero_optimization\": {\"stage\": 3}, \"a\": \"$X\"}\n");
}

TEST(ShellFollowed, WhatEndsTheScriptEndsIt) {
  EXPECT_EQ(last_line("run a\nexit 0\nrun b"), (WordLine{"run", "a"}));
  EXPECT_EQ(last_line("X=1\nif [ $X = 1 ]; then run a; exit; fi\nrun b"), (WordLine{"run", "a"}));
  // Something is to be put right first: the job is what follows.
  EXPECT_EQ(last_line("X=\nif [ -z \"$X\" ]; then exit 1; fi\nrun b"), (WordLine{"run", "b"}));
  EXPECT_EQ(last_line("if grep -q a b; then exit 0; fi\nrun b"), (WordLine{"run", "b"}));
}

TEST(ShellFollowed, SchedulersSayHowManyDevices) {
  EXPECT_EQ(last_line("#SBATCH --nodes=4 --gpus-per-node=h100:8\nrun $SLURM_NNODES "
                      "$SLURM_GPUS_PER_NODE"),
            (WordLine{"run", "4", "8"}));
  const auto settings = parse_shell(
      "#PBS -l select=4:ncpus=64:ngpus=8\nmpirun python pretrain_gpt.py --num-layers 2\n", "t.sh");
  ASSERT_TRUE(settings);
  ASSERT_NE(find(settings->launch, "devices"), nullptr);
  EXPECT_EQ(find(settings->launch, "devices")->values.front(), "32");
}

// A list that grows by a line a time costs what it holds, not every text it has been.
TEST(ShellFollowed, LimitsCountWhatIsAlive) {
  std::string text = "P=\n";
  for (int i = 0; i < 400; ++i) {
    text += "P=\"${P} 12345678901 ${D}/en/x_0001.jsonl_text_document\"\n";
  }
  EXPECT_TRUE(read_shell_script(text + "run $P\n", "t.sh"));
}

TEST(ShellFollowed, HostileScriptsEndInBounds) {
  std::string nested = "X=1\n";
  for (int i = 0; i < 12; ++i) {
    nested += "for i" + std::to_string(i) + " in 1 2 3 4 5 6 7 8; do\n";
  }
  nested += "run $X\n";
  for (int i = 0; i < 12; ++i) {
    nested += "done\n";
  }
  (void)read_shell_script(nested, "t.sh");
  (void)read_shell_script("f() { f; f; f; }\nf\n", "t.sh");
  (void)read_shell_script("while true; do X=\"$X$X\"; run $X; done\n", "t.sh");
  (void)read_shell_script("X='eval \"$X\"'; eval \"$X\"\n", "t.sh");
  (void)read_shell_script("X=$(cat <<A\n$(cat <<B\n$X\nB\n)\nA\n)\n", "t.sh");
  (void)read_shell_script("for x in a; do\n", "t.sh");
  (void)read_shell_script("f() {\nfor\nwhile\n", "t.sh");
}

// Commands in branches of which one runs: what they agree on is known, the rest is not.
TEST(ShellFollowed, OfSeveralCommandsWhatTheyAgreeOnIsKnown) {
  const auto settings = parse_shell(
      "M=$1\nif [ $M = a ]; then\n torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 "
      "--tensor-model-parallel-size 2 --micro-batch-size 1\nelse\n torchrun --nproc_per_node 8 "
      "pretrain_gpt.py --num-layers 4 --tensor-model-parallel-size 4 --micro-batch-size 1\nfi\n",
      "t.sh");
  ASSERT_TRUE(settings);
  const Reading reading = read(*settings, describe::DataStore{});
  EXPECT_TRUE(reading.not_known.contains("tp"));
  EXPECT_EQ(reading.layout.mbs, 1);
  EXPECT_NE(layout_text(reading).find("tp=?"), std::string::npos);
}

}  // namespace
}  // namespace sextant::emit
