// No secret is in a record: by its name, by how it looks, and wherever its value stands again.
#include "capture/masks.h"

#include <gtest/gtest.h>

namespace sextant::capture {
namespace {

TEST(SecretNames, ASecretIsAWordOfTheName) {
  for (const char* name : {"HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD"}) {
    EXPECT_TRUE(is_secret_name(name)) << name;
  }
  for (const char* name :
       {"TOKENIZERS_PARALLELISM", "TOKENIZER_MODEL", "KEYBOARD", "TP", "BYPASS"}) {
    EXPECT_FALSE(is_secret_name(name)) << name;
  }
}

TEST(Masks, AValueThatAVariableNamesAsSecretIsNowhere) {
  emit::CaptureRecord record;
  record.calls.push_back({.words = {"python", "train.py", "--auth", "quietvalue123", "--tp", "8"},
                          .open = {},
                          .folder = "/",
                          .environment = {{"HF_TOKEN", "quietvalue123"}, {"TP", "8"}},
                          .outer = {},
                          .launches = false});
  record.files.push_back({"/c.yaml", "login: quietvalue123\ntp: 8\n"});
  record.notes = {"said quietvalue123"};
  mask_secrets({"OTHER_KEY=another-value-9"}, record);
  EXPECT_EQ(record.calls[0].words,
            (std::vector<std::string>{"python", "train.py", "--auth", "[secret]", "--tp", "8"}));
  EXPECT_EQ(record.calls[0].environment.size(), 1U);
  EXPECT_EQ(record.files[0].text.find("quietvalue"), std::string::npos);
  EXPECT_NE(record.files[0].text.find("tp: 8"), std::string::npos);
  EXPECT_EQ(record.notes[0].find("quietvalue"), std::string::npos);
}

TEST(Masks, AFlagNamesWhatTheNextWordIs) {
  emit::CaptureRecord record;
  record.command = {"bash", "train.sh", "--api-key", "plainword", "--num-layers", "32"};
  mask_secrets({}, record);
  EXPECT_EQ(record.command, (std::vector<std::string>{"bash", "train.sh", "--api-key", "[secret]",
                                                      "--num-layers", "32"}));
}

TEST(Masks, ATrainingArgumentIsNoSecret) {
  emit::CaptureRecord record;
  record.command = {"--tokenizer-model", "/data/tok.model", "--eod-token-id", "50256"};
  const auto before = record.command;
  mask_secrets({}, record);
  EXPECT_EQ(record.command, before);
}

}  // namespace
}  // namespace sextant::capture
