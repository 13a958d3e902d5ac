#include "emit/shell_script.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::emit {
namespace {

ShellScript read_script(std::string_view text) {
  auto script = read_shell_script(text, "t.sh");
  EXPECT_TRUE(script) << (script ? "" : to_text(script.error()));
  return script ? *script : ShellScript{};
}

// The words of the last command, those that are not known in angle brackets.
std::vector<std::string> words(std::string_view text) {
  const ShellScript script = read_script(text);
  std::vector<std::string> list;
  if (!script.commands.empty()) {
    for (const ScriptWord& word : script.commands.back().words) {
      list.push_back(word.why.empty() ? word.at.text : '<' + word.at.text + '>');
    }
  }
  return list;
}

std::string error_of(std::string_view text) {
  const auto script = read_shell_script(text, "t.sh");
  return script ? "" : to_text(script.error());
}

using List = std::vector<std::string>;

TEST(ShellScript, WhatArithmeticSetsIsKnownWhereItIsAllThatItDoes) {
  EXPECT_EQ(words("A=8; ((A=4)); run $A"), (List{"run", "4"}));
  EXPECT_EQ(words("A=8; ((A+=B)); run $A"), (List{"run", "<A+=B>"}));
  EXPECT_EQ(words("A=8; (( A *= 2 )); run $A"), (List{"run", "<$A>"}));
  EXPECT_EQ(words("A=8; ((A++)); run $A"), (List{"run", "<$A>"}));
  EXPECT_EQ(words("A=8; let A=4; run $A"), (List{"run", "<$A>"}));
  EXPECT_EQ(words("A=8; read A; run $A"), (List{"run", "<$A>"}));
  EXPECT_EQ(words("A=8; if ((A == 8)); then B=1; fi; run $A"), (List{"run", "8"}));
}

TEST(ShellScript, EmptyTextHasNoCommands) {
  EXPECT_TRUE(read_script("").commands.empty());
  EXPECT_TRUE(read_script("# only a comment\n\n").commands.empty());
}

TEST(ShellScript, WordsComeOutAsBashHasThem) {
  struct Case {
    std::string_view text;
    List words;
  };
  // Each list is what `printf '<%s>' …` prints for the command in bash 5.2.
  const std::vector<Case> cases{
      {"run a 'b c' \"d e\" f\\ g", {"run", "a", "b c", "d e", "f g"}},
      {"run a \\\n  b # c", {"run", "a", "b"}},
      {"run a#b '#c'", {"run", "a#b", "#c"}},
      {"run '' \"\"", {"run", "", ""}},
      {"A=1 B='x y'; run $A \"$B\" $B", {"run", "1", "x y", "x", "y"}},
      {"A=8; run --tp=$A ${A}x \"$A\"y", {"run", "--tp=8", "8x", "8y"}},
      {"A=(1 'b c' # two\n 3 ); run \"${A[@]}\" ${#A[@]} $A ${A[1]}",
       {"run", "1", "b c", "3", "3", "1", "b", "c"}},
      {"A=(1); A+=(2 3); run ${A[@]}", {"run", "1", "2", "3"}},
      {"A=x; A+=y; run $A", {"run", "xy"}},
      {"run ${A:-8} ${B-\"x y\"} ${C:=3} $C", {"run", "8", "x", "y", "3", "3"}},
      {"A=; run ${A:-1} ${A-2}z ${A:+4}", {"run", "1", "z"}},
      {"A=5; run ${A:+--flag} ${A:+\"$A\"}", {"run", "--flag", "5"}},
      {"A=8 B=4; C=$((A*B+$A)); run $C $(( C / ${B} ))", {"run", "40", "10"}},
      {"export A=1; declare -x B=2; readonly C=3; run $A$B$C", {"run", "123"}},
      {"O=\" --a 1 \\\n --b 2 \"; run $O", {"run", "--a", "1", "--b", "2"}},
      {"run a > out 2>&1 < in", {"run", "a"}},
      {"cat <<EOF\nrun $X 'unclosed\nEOF\nrun a", {"run", "a"}},
      {"cat <<-'EOF' | tee x\n\trun\n\tEOF\nrun b", {"run", "b"}},
      {"run $'a\\nb' $\"c\"", {"run", "a\nb", "c"}},
      {"run a\\$b \"c\\$d\" 'e$f'", {"run", "a$b", "c$d", "e$f"}},
      {"bash -c \"run a 'b c'\"", {"bash", "-c", "run", "a", "b c"}},
      {"C='run x'; eval \"$C\" y", {"run", "x", "y"}},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(words(one.text), one.words) << one.text;
  }
}

// bash itself would take the carriage return for an escaped character; such a script ran elsewhere.
TEST(ShellScript, LinesThatEndAsOnWindowsContinue) {
  EXPECT_EQ(words("A=8\r\nrun --tp $A \\\r\n  --pp 4 \\\r\n\t--sp\r\n"),
            (List{"run", "--tp", "8", "--pp", "4", "--sp"}));
  // A backslash that touches the word before it, and one inside quotes.
  EXPECT_EQ(words("run --tp 4\\\r\n --pp 2\r\n"), (List{"run", "--tp", "4", "--pp", "2"}));
  EXPECT_EQ(words("O=\" --a 1 \\\r\n --b 2 \"\r\nrun $O\r\n"),
            (List{"run", "--a", "1", "--b", "2"}));
  EXPECT_EQ(read_script("run \\\r\n  a # b\r\nrun \\\r\n  c\r\n").commands.size(), 2U);
}

TEST(ShellScript, WhatRunsIsNotKnown) {
  for (const std::string_view text :
       {"run $(nproc)", "run `nproc`", "run $1", "run $RANDOM", "run $NOWHERE", "run \"$@\"",
        "run $((X+1))", "run $((1/0))", "run ${A%x}", "run $?", "A=$(nproc); run $A",
        "for i in *; do run $i; done", "for i in 1 $X; do run $i; done",
        "A=1; while x; do A=$((A*2)); done; run $A", "A=1; A[2]=5; run $A"}) {
    const ShellScript script = read_script(text);
    ASSERT_FALSE(script.commands.empty()) << text;
    const ScriptCommand& command = script.commands.back();
    ASSERT_EQ(command.words.size(), 2U) << text;
    EXPECT_FALSE(command.words[1].why.empty()) << text;
  }
}

TEST(ShellScript, ReasonsNameTheCause) {
  EXPECT_EQ(read_script("run $GBS").commands[0].words[1].why, "GBS is set nowhere in the script");
  EXPECT_EQ(read_script(". env.sh\nrun $GBS").commands[1].words[1].why,
            "GBS is set nowhere in the script (line 1 reads another file)");
  EXPECT_EQ(read_script("run $3").commands[0].words[1].why,
            "argument 3 of the script is not known");
  EXPECT_EQ(read_script("if a; then T=1\nelse T=2\nfi; run $T").commands.back().words[1].why,
            "T is set differently in branches: lines 1 and 2");
}

TEST(ShellScript, BranchesCountOnlyWhereTheyAgree) {
  EXPECT_EQ(words("if a; then T=1; else T=1; fi; run $T"), (List{"run", "1"}));
  EXPECT_EQ(words("if a; then T=1; fi; run $T"), (List{"run", "1"}));
  EXPECT_EQ(words("T=2; if a; then T=1; fi; run $T"), (List{"run", "<$T>"}));
  EXPECT_EQ(words("T=2; [ -f a ] && T=1; run $T"), (List{"run", "<$T>"}));
  EXPECT_EQ(words("case $X in a) T=1;; b) T=2 ;; esac; run $T"), (List{"run", "<$T>"}));
  EXPECT_EQ(words("T=2; if a; then T=1; run $T; fi"), (List{"run", "1"}));
  EXPECT_EQ(words("if a; then T=1; fi; T=3; run $T"), (List{"run", "3"}));
  EXPECT_EQ(words("f() { local T=4; run $T; }"), (List{"run", "4"}));
}

TEST(ShellScript, WhatABranchAddsIsNotKnownOutsideIt) {
  EXPECT_EQ(words("A=(1); if a; then A+=(2); fi; run ${A[@]}"), (List{"run", "1", "<2>"}));
  EXPECT_EQ(words("A='-x'; if a; then A=\"$A -y\"; fi; run $A"), (List{"run", "-x", "<-y>"}));
  EXPECT_EQ(words("A=(1); if a; then A+=(2); run ${A[@]}; fi"), (List{"run", "1", "2"}));
}

TEST(ShellScript, PlacesPointAtTheLiteral) {
  const std::string text = "TP=8\nO=\"--x 16\"\nrun $TP --tp=$TP --pp=4 k='a b' $O $((TP+1))\n";
  const ShellScript script = read_script(text);
  ASSERT_EQ(script.commands.size(), 1U);
  const std::vector<std::string> literals{"run", "8", "8", "4", "a b", "--x", "16", ""};
  const std::vector<std::int64_t> lines{3, 1, 1, 3, 3, 2, 2, 3};
  ASSERT_EQ(script.commands[0].words.size(), literals.size());
  for (std::size_t i = 0; i < literals.size(); ++i) {
    const Place& place = script.commands[0].words[i].at.place;
    EXPECT_EQ(text.substr(place.offset, place.length), literals[i]) << i;
    EXPECT_EQ(place.line, lines[i]) << i;
  }
}

TEST(ShellScript, SlurmSetsItsVariablesFromTheHeader) {
  const std::string text =
      "#!/bin/bash\n#SBATCH -N4 --ntasks-per-node=8 # eight\nrun $SLURM_NNODES $SLURM_NTASKS\n";
  EXPECT_EQ(words(text), (List{"run", "4", "32"}));
}

TEST(ShellScript, UnclosedThingsAreErrorsWhereTheyOpen) {
  EXPECT_EQ(error_of("a\nrun 'b\nc"), "t.sh:2: the quote ' that opens here is never closed");
  EXPECT_EQ(error_of("\n\nrun \"b\nc"), "t.sh:3: the quote \" that opens here is never closed");
  for (const std::string_view text : {"run $(a", "run ${A", "run ${A:-b", "A=(1 2", "run $((1",
                                      "cat <<E\nx\n", "[[ a == b\n", "run `a", "run $'a"}) {
    EXPECT_NE(error_of(text), "") << text;
  }
}

TEST(ShellScript, BombsEndInAnError) {
  std::string doubling = "A=aaaaaaaaaaaaaaaa\n";
  for (int i = 0; i < 64; ++i) {
    doubling += "A=$A$A\n";
  }
  EXPECT_NE(error_of(doubling).find("too much text"), std::string::npos);
  std::string arrays = "A=(1 2 3 4 5 6 7 8)\n";
  for (int i = 0; i < 64; ++i) {
    arrays += "A=(\"${A[@]}\" \"${A[@]}\")\n";
  }
  EXPECT_NE(error_of(arrays).find("too much text"), std::string::npos);
  std::string deep = "run ";
  for (int i = 0; i < 5'000; ++i) {
    deep += "${A:-";
  }
  EXPECT_NE(error_of(deep), "");
  std::string quotes = "run ";
  for (int i = 0; i < 5'000; ++i) {
    quotes += "\"$((\"";
  }
  EXPECT_NE(error_of(quotes), "");
  std::string blocks;
  for (int i = 0; i < 5'000; ++i) {
    blocks += "if a; then ";
  }
  EXPECT_NE(error_of(blocks), "");
  EXPECT_NE(error_of(std::string(5'000'000, 'a')), "");
  std::string many;
  for (int i = 0; i < 140'000; ++i) {
    many += "a ";
  }
  EXPECT_NE(error_of(many), "");
}

}  // namespace
}  // namespace sextant::emit
