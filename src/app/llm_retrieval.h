// Retrieval of the knowledge base by words and by meaning, where the user's endpoint offers
// embeddings: what a language model searches while it reasons beside «tune».
//
// An entry's text is sent once and its vector kept (kb/vectors.h). Whatever fails, the search by
// words answers alone, and told() says why.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/llm_masks.h"
#include "base/result.h"
#include "kb/search.h"
#include "kb/vectors.h"
#include "llm/embeddings.h"

namespace sextant::app {

class LlmRetrieval {
 public:
  struct Asking {
    llm::Endpoint endpoint;
    std::string model;        // that makes the vectors
    llm::Spending* spending;  // of the session; outlives it
    llm::Wait wait;
    agents::Masks masks = {};
    std::filesystem::path kept = {};  // where vectors are kept; empty: in memory
  };

  LlmRetrieval(std::shared_ptr<kb::Index> index, Asking asking);

  Result<std::vector<kb::Entry>> search(const kb::Question& question);

  // "by words and by meaning (…)", "by words alone: …", or "" where nothing was searched.
  [[nodiscard]] std::string told() const;

  // The requests that the first search would send for the entries, as text.
  [[nodiscard]] std::string would_send();

 private:
  Result<std::vector<double>> nearness(const std::string& words);
  Result<void> know_entries();
  Result<void> ask_for(std::span<const std::size_t> entries);
  [[nodiscard]] std::vector<std::size_t> not_kept();
  [[nodiscard]] std::string outgoing(std::string_view text);

  std::shared_ptr<kb::Index> index_;
  Asking asking_;
  std::vector<std::string> texts_;  // of the entries, as they are sent
  std::vector<llm::Vector> vectors_;
  kb::Vectors kept_;
  std::size_t sent_ = 0;
  bool is_asked_ = false;
  bool is_open_ = false;  // kept_, to be written
  bool is_known_ = false;
  std::optional<std::string> failure_;
};

}  // namespace sextant::app
