#include "app/llm_retrieval.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "base/text_pages.h"
#include "kb/secrets.h"

namespace sextant::app {
namespace {

// Of an entry and of a question: what they are about stands at their beginning.
constexpr std::size_t kLongestEmbedded = 400;

std::string embedded_text(const kb::Entry& entry) {
  std::string text = entry.title;
  for (const std::string* more : {&entry.advice, &entry.before, &entry.after, &entry.setting}) {
    text += more->empty() ? "" : ". " + *more;
  }
  return text;
}

}  // namespace

LlmRetrieval::LlmRetrieval(std::shared_ptr<kb::Index> index, Asking asking)
    : index_(std::move(index)), asking_(std::move(asking)) {
  for (const kb::Entry& entry : index_->entries()) {
    texts_.push_back(outgoing(embedded_text(entry)));
  }
  vectors_.resize(texts_.size());
}

Result<std::vector<kb::Entry>> LlmRetrieval::search(const kb::Question& question) {
  is_asked_ = true;
  std::vector<double> near;
  if (!failure_ && !question.words.empty()) {
    if (auto found = nearness(question.words)) {
      near = *std::move(found);
    } else {
      failure_ = to_text(found.error());
    }
  }
  SEXTANT_TRY(const std::vector<kb::Ranked> ranked,
              near.empty() ? index_->search(question) : index_->search_with(question, near));
  std::vector<kb::Entry> entries;
  for (const kb::Ranked& one : ranked) {
    entries.push_back(index_->entries()[one.entry]);
  }
  return entries;
}

std::string LlmRetrieval::told() const {
  if (!is_asked_) {
    return {};
  }
  if (failure_) {
    return "by words alone: " + *failure_;
  }
  const std::size_t kept = texts_.size() - sent_;
  return fmt::format("by words and by meaning ({}: {} entries, {} of them known from before)",
                     asking_.model, texts_.size(), sent_ == 0 ? "all" : fmt::format("{}", kept));
}

std::string LlmRetrieval::would_send() {
  const std::vector<std::size_t> missing = not_kept();
  std::string text;
  for (std::size_t at = 0; at < missing.size(); at += llm::kMostEmbedded) {
    std::vector<std::string> some;
    for (std::size_t i = at; i < std::min(missing.size(), at + llm::kMostEmbedded); ++i) {
      some.push_back(texts_[missing[i]]);
    }
    text += "\n" + llm::shown_embeddings(asking_.endpoint, asking_.model, some);
  }
  return text;
}

Result<std::vector<double>> LlmRetrieval::nearness(const std::string& words) {
  SEXTANT_CHECK_OK(know_entries());
  const std::vector<std::string> asked{outgoing(words)};
  SEXTANT_TRY(
      const std::vector<llm::Vector> of_words,
      llm::embedded(asking_.endpoint, asking_.model, asked, *asking_.spending, asking_.wait));
  std::vector<double> near;
  for (const llm::Vector& vector : vectors_) {
    near.push_back(llm::cosine(of_words.front(), vector));
  }
  return near;
}

Result<void> LlmRetrieval::know_entries() {
  if (is_known_) {
    return {};
  }
  SEXTANT_TRY(kept_, kb::Vectors::open(asking_.kept));
  is_open_ = true;
  const std::vector<std::size_t> missing = not_kept();
  for (std::size_t at = 0; at < missing.size(); at += llm::kMostEmbedded) {
    SEXTANT_CHECK_OK(
        ask_for(std::span(missing).subspan(at, std::min(llm::kMostEmbedded, missing.size() - at))));
  }
  is_known_ = true;
  return {};
}

Result<void> LlmRetrieval::ask_for(std::span<const std::size_t> entries) {
  std::vector<std::string> texts;
  for (const std::size_t one : entries) {
    texts.push_back(texts_[one]);
  }
  SEXTANT_TRY(
      std::vector<llm::Vector> vectors,
      llm::embedded(asking_.endpoint, asking_.model, texts, *asking_.spending, asking_.wait));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    SEXTANT_CHECK_OK(kept_.add(asking_.model, texts[i], vectors[i]));
    vectors_[entries[i]] = std::move(vectors[i]);
  }
  sent_ += entries.size();
  return {};
}

// Entries whose vectors nobody has yet; those of the others are taken.
std::vector<std::size_t> LlmRetrieval::not_kept() {
  if (!is_open_) {
    if (auto kept = kb::Vectors::read(asking_.kept)) {
      kept_ = std::move(*kept);
    }
  }
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    std::optional<llm::Vector> vector = kept_.find(asking_.model, texts_[i]).value_or(std::nullopt);
    if (vector) {
      vectors_[i] = *std::move(vector);
    } else {
      missing.push_back(i);
    }
  }
  return missing;
}

std::string LlmRetrieval::outgoing(std::string_view text) {
  return std::string(beginning(asking_.masks.masked(kb::redacted(text)), kLongestEmbedded));
}

}  // namespace sextant::app
