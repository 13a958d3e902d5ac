// No secret is in a record: by its name, by how it looks, and wherever its value stands again.
#include "capture/masks.h"

#include <gtest/gtest.h>

namespace sextant::capture {
namespace {

void mask(const std::vector<std::string>& environment, emit::CaptureRecord& record) {
  std::string output;
  mask_secrets(environment, record, output);
}

std::vector<std::string> masked_words(std::vector<std::string> words,
                                      const std::vector<std::string>& environment = {}) {
  emit::CaptureRecord record;
  record.command = std::move(words);
  mask(environment, record);
  return record.command;
}

TEST(SecretNames, ASecretIsAWordOfTheName) {
  for (const char* name : {"HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD",
                           "PGPASSWORD", "DB_PWD", "MYSQL_PWD", "SSH_PASSPHRASE", "HUBTOKEN"}) {
    EXPECT_TRUE(is_secret_name(name)) << name;
  }
  for (const char* name :
       {"TOKENIZERS_PARALLELISM", "TOKENIZER_MODEL", "KEYBOARD", "TP", "BYPASS", "PWD", "OLDPWD"}) {
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
  mask({"OTHER_KEY=another-value-9"}, record);
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
  mask({}, record);
  EXPECT_EQ(record.command, (std::vector<std::string>{"bash", "train.sh", "--api-key", "[secret]",
                                                      "--num-layers", "32"}));
}

TEST(Masks, ATrainingArgumentIsNoSecret) {
  emit::CaptureRecord record;
  record.command = {"--tokenizer-model", "/data/tok.model", "--eod-token-id", "50256"};
  const auto before = record.command;
  mask({}, record);
  EXPECT_EQ(record.command, before);
}

TEST(Masks, ALongerSecretIsReplacedBeforeAShorterOneThatBeginsIt) {
  const auto words = masked_words({"x-quietvalue-and-more"},
                                  {"A_TOKEN=quietvalue", "B_TOKEN=quietvalue-and-more"});
  EXPECT_EQ(words[0], "x-[secret]");
}

TEST(Masks, APasswordOfDigitsIsOneAndACountIsNot) {
  EXPECT_EQ(masked_words({"98765432"}, {"PGPASSWORD=98765432"})[0], "[secret]");
  EXPECT_EQ(masked_words({"98765432"}, {"MAX_TOKEN=98765432"})[0], "98765432");
}

TEST(Masks, AVariableInAWordIsAskedForItsName) {
  const auto words = masked_words({"docker", "-e", "WANDB_KEY=x-y", "--env=DB_PWD=p w",
                                   "--export=ALL,HUB_AUTH=a,b,TP=8", "A=1 MY_SECRET=z torchrun",
                                   "text_key=content"});
  EXPECT_EQ(words,
            (std::vector<std::string>{"docker", "-e", "WANDB_KEY=[secret]", "--env=DB_PWD=[secret]",
                                      "--export=ALL,HUB_AUTH=[secret],TP=8",
                                      "A=1 MY_SECRET=[secret] torchrun", "text_key=content"}));
}

TEST(Masks, WhatFollowsAFlagThatNamesASecretIsOneHoweverItLooks) {
  const auto words = masked_words({"--password", "p w", "--cookie", "c=1; d", "--auth", "u:p",
                                   "--db-password=1234", "--token", "an old phrase"});
  EXPECT_EQ(words, (std::vector<std::string>{"--password", "[secret]", "--cookie", "[secret]",
                                             "--auth", "[secret]", "--db-password=[secret]",
                                             "--token", "[secret]"}));
}

TEST(Masks, PlacesAndWhatWasPrintedAreMaskedToo) {
  emit::CaptureRecord record;
  record.folder = "/home/quietvalue1";
  record.calls.emplace_back();
  record.calls[0].words = {"torchrun"};
  record.calls[0].folder = "/w/quietvalue1";
  record.files.push_back({"/quietvalue1/c.yaml", "tp: 8\n"});
  std::string output = "login quietvalue1\n";
  mask_secrets({"X_TOKEN=quietvalue1"}, record, output);
  EXPECT_EQ(record.folder, "/home/[secret]");
  EXPECT_EQ(record.calls[0].folder, "/w/[secret]");
  EXPECT_EQ(record.files[0].path, "/[secret]/c.yaml");
  EXPECT_EQ(output, "login [secret]\n");
}

TEST(Masks, AWordOfAssignmentsWithoutEndIsReadInItsLength) {
  std::string word;
  for (int i = 0; i < 20'000; ++i) {
    word += "=,A=,";
  }
  EXPECT_EQ(masked_words({word})[0], word);
}

TEST(Masks, AFolderIsNoPassword) {
  EXPECT_EQ(masked_words({"/home/u/run/t.py"}, {"PWD=/home/u/run", "BASE_PWD=/home/u/run"})[0],
            "/home/u/run/t.py");
  const std::vector<std::string> words{"apptainer", "--pwd", "/workspace", "--pwd=/workspace"};
  EXPECT_EQ(masked_words(words), words);
}

}  // namespace
}  // namespace sextant::capture
