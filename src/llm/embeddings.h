// Texts as vectors, by whoever serves a model: OpenAI's embeddings, which llama.cpp, vLLM, Ollama
// and most gateways speak too. Near vectors mean near texts; how near is the model's to say.
//
// Source: `resources/embeddings` of the npm package openai 6.49.0.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/budget.h"
#include "llm/endpoint.h"

namespace sextant::llm {

using Vector = std::vector<float>;

inline constexpr std::size_t kMostEmbedded = 64;      // texts of one request
inline constexpr std::size_t kMostDimensions = 8192;  // of a vector

// One JSON line.
std::string embeddings_body(const std::string& model, std::span<const std::string> texts);

// A server's answer to `count` texts: as many vectors of one size, in their order, none of them
// without a direction. `usage` is what it counts; 0 where it does not.
struct Embeddings {
  std::vector<Vector> vectors;
  Usage usage = {};
};
Result<Embeddings> parse_embeddings(std::string_view body, std::size_t count);

// The request as it would be sent, the key replaced by "[key]".
std::string shown_embeddings(const Endpoint& endpoint, const std::string& model,
                             std::span<const std::string> texts);

// Vectors of these texts by that model of the endpoint, asked again as a conversation is, and paid
// for from the same budget. REQUIRES: 1 to kMostEmbedded texts.
Result<std::vector<Vector>> embedded(const Endpoint& endpoint, const std::string& model,
                                     std::span<const std::string> texts, Spending& spending,
                                     const Wait& wait);

// From -1 to 1; 0 where the sizes differ.
double cosine(const Vector& a, const Vector& b);

}  // namespace sextant::llm
