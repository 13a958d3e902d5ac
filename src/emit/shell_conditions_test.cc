#include "emit/shell_conditions.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "emit/shell_script.h"

namespace sextant::emit {
namespace {

using WordList = std::vector<std::string>;

// The words of the last command that is read, those that are not known in angle brackets.
WordList last_words(std::string_view text) {
  const auto script = read_shell_script(text, "t.sh");
  EXPECT_TRUE(script) << (script ? "" : to_text(script.error()));
  WordList list;
  if (script && !script->commands.empty()) {
    for (const ScriptWord& word : script->commands.back().words) {
      list.push_back(word.why.empty() ? word.at.text : '<' + word.at.text + '>');
    }
  }
  return list;
}

// "yes", "no" or "unknown": whether the condition holds, by what it leaves in a variable.
std::string truth(std::string_view condition, std::string_view before = "") {
  const WordList words = last_words(std::string(before) + "\nR=no\nif " + std::string(condition) +
                                    "; then R=yes; fi\nrun $R\n");
  return words.size() != 2 || words[1].starts_with('<') ? "unknown" : words[1];
}

struct TruthCase {
  std::string_view condition;
  std::string_view truth;
};

TEST(ShellConditions, KnownWordsAreWorkedOut) {
  constexpr std::string_view kBefore = "D=fp8 N=4 E= Z=\"a b\"";
  const std::vector<TruthCase> cases{{"[[ $D == fp8 ]]", "yes"},
                                     {"[[ \"$D\" == \"fp8\" ]]", "yes"},
                                     {"[ \"$D\" = bf16 ]", "no"},
                                     {"[ $D != bf16 ]", "yes"},
                                     {"[[ $D == fp* ]]", "yes"},
                                     {"[[ $D == \"fp*\" ]]", "no"},
                                     {"[[ $D == b?16 ]]", "no"},
                                     {"[ $N -eq 4 ]", "yes"},
                                     {"[ $N -gt 4 ]", "no"},
                                     {"[ $N -ge 4 ]", "yes"},
                                     {"[[ $N -lt 5 && $D == fp8 ]]", "yes"},
                                     {"[[ $N -lt 4 || $D == fp8 ]]", "yes"},
                                     {"[[ ! ( $N -lt 4 || $D == fp8 ) ]]", "no"},
                                     {"[ $N -le 3 -o $D = fp8 ]", "yes"},
                                     {"[ $N -eq 4 -a $D = x ]", "no"},
                                     {"! [ $N -eq 4 ]", "no"},
                                     {"[ $N -eq 4 ] && [ $D = fp8 ]", "yes"},
                                     {"[ $N -eq 5 ] || [ $D = x ]", "no"},
                                     {"((N > 1))", "yes"},
                                     {"(( N == 5 ))", "no"},
                                     {"(( $N % 3 == 1 ))", "yes"},
                                     {"[ -z \"$E\" ]", "yes"},
                                     {"[ -n \"$E\" ]", "no"},
                                     {"[ -n \"$Z\" ]", "yes"},
                                     {"[ \"$D\" ]", "yes"},
                                     {"test $N -eq 4", "yes"},
                                     {"true", "yes"},
                                     {"false", "no"}};
  for (const TruthCase& one : cases) {
    EXPECT_EQ(truth(one.condition, kBefore), one.truth) << one.condition;
  }
}

TEST(ShellConditions, WhatTheMachineKnowsIsNotKnownHere) {
  for (const std::string_view condition :
       {"[ -f x ]", "[[ -d $HOME ]]", "grep -q x y", "[ $(nproc) -gt 4 ]", "[ $X = dsw ]",
        "[[ $X == a ]]", "((X > 1))", "[[ a =~ b ]]", "[ $SLURM_PROCID = 0 ]", "[ -n $HOSTNAME ]",
        "cd x && [ 1 -eq 1 ]"}) {
    EXPECT_EQ(truth(condition), "unknown") << condition;
  }
}

// A script is started without arguments where nobody says otherwise; a variable may come from the
// environment.
TEST(ShellConditions, WithoutArgumentsTheFirstIsEmpty) {
  EXPECT_EQ(truth("[ \"$1\" = dsw ]"), "no");
  EXPECT_EQ(truth("[ \"$1\" != dsw ]"), "yes");
  EXPECT_EQ(truth("[ \"$X\" = dsw ]"), "unknown");
}

// As ${X:-8} takes its default.
TEST(ShellConditions, WhatNothingSetsIsEmpty) {
  EXPECT_EQ(truth("[ -z \"$X\" ]"), "yes");
  EXPECT_EQ(truth("[ -n \"$1\" ]"), "no");
  EXPECT_EQ(truth("[ \"$X\" = \"\" ]"), "yes");
  EXPECT_EQ(truth("[[ $# -gt 0 ]]"), "no");
  EXPECT_EQ(last_words("BS=8; if [ -n \"$1\" ]; then BS=$1; fi; run $BS"), (WordList{"run", "8"}));
  EXPECT_EQ(last_words("TP=8\nwhile [[ $# -gt 0 ]]; do case $1 in --tp) TP=$2; "
                       "shift;; esac; "
                       "shift; done\nrun $TP"),
            (WordList{"run", "8"}));
}

TEST(ShellConditions, OneBranchOfManyIsTaken) {
  constexpr std::string_view kSizes =
      "if [[ $M -eq 7 ]]; then L=32; elif [[ $M -eq 70 ]]; then L=80; else "
      "L=1; fi; run $L";
  EXPECT_EQ(last_words("M=${M:-70}; " + std::string(kSizes)), (WordList{"run", "80"}));
  EXPECT_EQ(last_words("M=7; " + std::string(kSizes)), (WordList{"run", "32"}));
  EXPECT_EQ(last_words("M=9; " + std::string(kSizes)), (WordList{"run", "1"}));
  EXPECT_EQ(last_words("M=$1; " + std::string(kSizes)), (WordList{"run", "<$L>"}));
  constexpr std::string_view kCases =
      "case \"$M\" in 7b|7B) L=32 ;; 70*) L=80;; *) L=1 ;; esac; run $L";
  EXPECT_EQ(last_words("M=7B; " + std::string(kCases)), (WordList{"run", "32"}));
  EXPECT_EQ(last_words("M=70B; " + std::string(kCases)), (WordList{"run", "80"}));
  EXPECT_EQ(last_words("M=x; " + std::string(kCases)), (WordList{"run", "1"}));
  EXPECT_EQ(last_words("M=$1; " + std::string(kCases)), (WordList{"run", "<$L>"}));
}

// One that may be taken leaves those after it open, and one that is taken closes them.
TEST(ShellConditions, AnOpenBranchLeavesTheNextOpen) {
  EXPECT_EQ(last_words("if [ -f x ]; then L=1; elif true; then L=2; else L=3; fi; run $L"),
            (WordList{"run", "<$L>"}));
  EXPECT_EQ(last_words("if true; then L=1; elif [ -f x ]; then L=2; else L=3; fi; run $L"),
            (WordList{"run", "1"}));
}

TEST(ShellConditions, ListsHangOnWhatStandsBefore) {
  EXPECT_EQ(last_words("A=1; [ $A = 1 ] && B=2; run $B"), (WordList{"run", "2"}));
  EXPECT_EQ(last_words("A=1; B=0; [ $A = 1 ] || B=2; run $B"), (WordList{"run", "0"}));
  EXPECT_EQ(last_words("A=1; B=0; [ $A = 1 ] && B=1 || B=2; run $B"), (WordList{"run", "1"}));
  EXPECT_EQ(last_words("A=0; B=0; [ $A = 1 ] && B=1 || B=2; run $B"), (WordList{"run", "2"}));
  EXPECT_EQ(last_words("A=1; [ $A = 2 ] && { B=1; C=2; }; run ${B:-0} ${C:-0}"),
            (WordList{"run", "0", "0"}));
  EXPECT_EQ(last_words("[ -z \"$T\" ] && T=4; run $T"), (WordList{"run", "4"}));
}

TEST(ShellConditions, ABranchThatIsNotTakenLeavesNothing) {
  EXPECT_EQ(last_words("if false; then run a; fi; run b"), (WordList{"run", "b"}));
  EXPECT_EQ(last_words("if false; then if x; then T=1; fi; fi; T=${T:-3}; run $T"),
            (WordList{"run", "3"}));
}

WordList started(std::string_view text, ShellInvocation invocation) {
  const auto script = read_shell_script(text, "t.sh", invocation);
  WordList list;
  for (const ScriptWord& word :
       script ? script->commands.back().words : std::vector<ScriptWord>{}) {
    list.push_back(word.why.empty() ? word.at.text : '<' + word.at.text + '>');
  }
  return list;
}

TEST(ShellConditions, ArgumentsAndVariablesAreWhatTheUserSays) {
  const ShellInvocation with{.arguments = {"dsw", "7B", "a b"}, .arguments_given = true};
  EXPECT_EQ(started("run $1 $2 \"$3\" $#", with), (WordList{"run", "dsw", "7B", "a b", "3"}));
  EXPECT_EQ(started("run \"$@\" ${4:-8}", with), (WordList{"run", "dsw", "7B", "a b", "8"}));
  EXPECT_EQ(started("shift; run $1 $#", with), (WordList{"run", "7B", "2"}));
  EXPECT_EQ(started("if [ $2 = 7B ]; then L=32; else L=80; fi; run $L", with),
            (WordList{"run", "32"}));
  EXPECT_EQ(started("run $@ x", {.arguments_given = true}), (WordList{"run", "x"}));
  const ShellInvocation set{.variables = {{"TP", "4"}}};
  EXPECT_EQ(started("TP=${TP:-8}; run $TP", set), (WordList{"run", "4"}));
  EXPECT_EQ(started("TP=8; run $TP", set), (WordList{"run", "8"}));
}

// Round by round: that is how scripts read their options.
TEST(ShellConditions, ArgumentsAreShiftedRoundByRound) {
  const ShellInvocation with{.arguments = {"--tp", "4"}, .arguments_given = true};
  EXPECT_EQ(started("TP=8\nwhile [[ $# -gt 0 ]]; do case $1 in --tp) TP=$2; shift;; esac; shift; "
                    "done\nrun $TP",
                    with),
            (WordList{"run", "4"}));
  EXPECT_EQ(last_words("TP=8\nwhile [[ $# -gt 0 ]]; do case $1 in --tp) TP=$2; shift;; esac; "
                       "shift; done\nrun $TP"),
            (WordList{"run", "8"}));
  // How often an unknown condition holds is not known.
  EXPECT_EQ(started("while grep -q x y; do shift; done\nrun $1", with), (WordList{"run", "<$1>"}));
}

// The flag and its value go together: a value alone would be read as the switch's before it.
TEST(ShellConditions, AFlagWithItsValueIsAddedWhole) {
  EXPECT_EQ(last_words("V=$1; P=\"--sp \"; if (( V > 1 )); then P=\"$P --v "
                       "$V\"; fi; run $P --x"),
            (WordList{"run", "--sp", "<--v>", "<$1>", "--x"}));
  EXPECT_EQ(last_words("V=2; P=\"--sp \"; if [ -f x ]; then P=\"$P --v $V\"; "
                       "fi; run $P --x"),
            (WordList{"run", "--sp", "<--v>", "<2>", "--x"}));
  EXPECT_EQ(last_words("V=2; P=\"--sp \"; if (( V > 1 )); then P=\"$P --v "
                       "$V\"; fi; run $P --x"),
            (WordList{"run", "--sp", "--v", "2", "--x"}));
}

TEST(ShellConditions, EvalKeepsWhatHangsOnABranch) {
  for (const std::string_view shell : {"eval $C", "bash -c \"$C\"", "sh -c \"$C\""}) {
    const WordList words = last_words(
        "E=--bf16\nif [ -f x ]; then E=\"$E --sp\"; fi\nC=\"run $E\"\n" + std::string(shell));
    ASSERT_GE(words.size(), 3U) << shell;
    EXPECT_EQ(words[words.size() - 2], "--bf16") << shell;
    EXPECT_EQ(words.back(), "<--sp>") << shell;
  }
  EXPECT_EQ(last_words("E=--bf16; S=0; if [ \"$S\" -eq 1 ]; then E=\"$E --sp\"; fi\n"
                       "C=\"run $E\"; eval $C"),
            (WordList{"run", "--bf16"}));
}

TEST(ShellConditions, DefaultsThatBranchesAssignAreTwoValues) {
  EXPECT_EQ(last_words("if [ -f x ]; then : \"${T:=8}\"; else : \"${T:=2}\"; fi; run $T"),
            (WordList{"run", "<$T>"}));
  EXPECT_EQ(last_words("if [ -f x ]; then T=8; fi; run ${T:-2}"), (WordList{"run", "<${T:-2}>"}));
  EXPECT_EQ(last_words("N=8; if [ $N -le 4 ]; then : \"${T:=8}\"; else : "
                       "\"${T:=2}\"; fi; run $T"),
            (WordList{"run", "2"}));
}

// A list that grows by a line of data: what is alive is small, however often it was looked at.
TEST(ShellConditions, ALongListOfDataIsNoBomb) {
  std::string text = "P=''\n";
  for (int i = 0; i < 400; ++i) {
    text += "P=\"${P} 12345678901 ${D}/en/part_0001.jsonl_text_document\"\n";
  }
  EXPECT_EQ(last_words(text + "run a").size(), 2U);
}

TEST(ShellConditions, HostileConditionsStayBounded) {
  std::string brackets = "if [[ ";
  std::string list = "true";
  for (int i = 0; i < 3000; ++i) {
    brackets += "( ";
    list += i % 2 == 0 ? " && true" : " || false";
  }
  EXPECT_EQ(truth(brackets.substr(3) + "]]"), "unknown");
  EXPECT_EQ(truth(list), "unknown");
  std::string ifs;
  for (int i = 0; i < 3000; ++i) {
    ifs += "if [ $A = 1 ]; then A=1; fi\n";
  }
  EXPECT_EQ(last_words(ifs + "run a"), (WordList{"run", "a"}));
}

}  // namespace
}  // namespace sextant::emit
