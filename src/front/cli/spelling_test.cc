#include "front/cli/spelling.h"

#include <gtest/gtest.h>

#include "front/cli/command.h"

namespace sextant::front {
namespace {

const app::UseCase& memory() {
  return *app::find_use_case("memory");
}

TEST(Spelling, ParametersAreOptionsOrStandByPlace) {
  EXPECT_EQ(spelled_text(memory(), "‹model› or ‹gbs› SEQUENCES"), "MODEL or --gbs SEQUENCES");
  EXPECT_EQ(spelled_text(memory(), "see «memory» and ‹data›"), "see sextant memory and --data");
}

TEST(Spelling, MarksAroundWhatIsNoNameStay) {
  for (const std::string text : {"", "‹", "›", "‹nope›", "‹‹gbs", "«", "«nope»", "a ‹ b › c"}) {
    EXPECT_EQ(spelled_text(memory(), text), text);
  }
  EXPECT_EQ(spelled_text(memory(), "‹‹gbs››"), "‹--gbs›");
}

TEST(Spelling, AnErrorIsSpelledInAllItsParts) {
  const Error error =
      spelled_error(memory(), {ErrorKind::kInvalid, "‹on› is missing", "«memory»", "‹on› CLUSTER"});
  EXPECT_EQ(to_text(error), "sextant memory: --on is missing (allowed: --on CLUSTER)");
}

TEST(Spelling, ExamplesAreCommandLines) {
  EXPECT_EQ(spelled(memory(), {.given = {{"model", "m"}, {"on", "8xh100-sxm"}, {"output", "json"}},
                               .use_case = {},
                               .into = "a.json"}),
            "sextant memory m --on 8xh100-sxm --json > a.json");
  EXPECT_EQ(spelled(memory(), {.given = {{"list", ""}}, .use_case = "model", .into = {}}),
            "sextant model --list");
}

TEST(Commands, EveryUseCaseIsOneWithAllItsParameters) {
  for (const app::UseCase& use_case : app::use_cases()) {
    const auto found = std::ranges::find(commands(), use_case.name, &Command::name);
    ASSERT_NE(found, commands().end()) << use_case.name;
    EXPECT_EQ(found->options.size() + found->positionals.size(), use_case.parameters.size());
  }
}

}  // namespace
}  // namespace sextant::front
