// How many entries the vocabulary of a Megatron job has, where its files say it beside
// --vocab-size: padded to a stated size, or that of a tokenizer which everyone uses
// (data/frameworks/tokenizers.json). A size that only the catalogue knows is an assumption, never a
// fact.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "emit/dialects.h"
#include "emit/settings.h"

namespace sextant::emit {

// Adds the fact "vocab", and gives it to the model, where no fact has it.
void add_vocabulary(const Settings& settings, Reading& reading);

// Of "gpt2-vocab.json", "meta-llama/Llama-2-7b-hf"; nothing of a file that anyone may have made.
struct KnownTokenizer {
  std::int64_t entries = 0;
  std::string_view of;  // "GPT-2"
};
std::optional<KnownTokenizer> known_tokenizer(std::string_view named);

}  // namespace sextant::emit
