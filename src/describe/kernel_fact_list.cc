#include "describe/kernel_fact_list.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "describe/kernel_fact_keys.h"

namespace sextant::describe {
namespace {

// Adds the keys of one table of the file.
class Section {
 public:
  Section(std::string name, std::vector<KernelFact>& list) : name_(std::move(name)), list_(list) {}
  Section& ratio(std::string_view key, Sourced<double>& value) { return add(key, &value); }
  Section& share(std::string_view key, Sourced<double>& value) { return add(key, &value); }
  Section& seconds(std::string_view key, Sourced<Seconds>& value) { return add(key, &value); }
  Section& count(std::string_view key, Sourced<std::int64_t>& value) { return add(key, &value); }

 private:
  Section& add(std::string_view key, KernelFact::Place place) {
    list_.emplace_back(fmt::format("{}.{}", name_, key), place);
    return *this;
  }

  std::string name_;
  std::vector<KernelFact>& list_;
};

template <typename Facts>
void add_section(const std::string& name, Facts& facts, std::vector<KernelFact>& list) {
  Section section(name, list);
  visit_keys(section, facts);
}

double number_of(double value) {
  return value;
}
double number_of(Seconds value) {
  return value.base();
}
double number_of(std::int64_t value) {
  return static_cast<double>(value);
}

void put(double number, double& into) {
  into = number;
}
void put(double number, Seconds& into) {
  into = Seconds(number);
}
void put(double number, std::int64_t& into) {
  into = std::llround(number);
}

std::string text_of(double value) {
  return fmt::format("{:.4g} ratio", value);
}
std::string text_of(Seconds value) {
  return fmt::format("{:.4g} us", value / 1_us);
}
std::string text_of(std::int64_t value) {
  return fmt::format("{} count", value);
}

// Text that is safe between TOML's quotes.
std::string quotable(std::string_view text) {
  std::string safe;
  for (const char c : printable(text, text.size())) {
    safe += c == '"' || c == '\\' ? '_' : c;
  }
  return safe;
}

}  // namespace

double KernelFact::number() const {
  return std::visit([](const auto* place) { return number_of(place->value); }, place_);
}

void KernelFact::set_number(double number) {
  std::visit([number](auto* place) { put(number, place->value); }, place_);
}

void KernelFact::set_source(SourceKind kind, std::string source) {
  std::visit(
      [&](auto* place) {
        place->kind = kind;
        place->source = std::move(source);
      },
      place_);
}

SourceKind KernelFact::kind() const {
  return std::visit([](const auto* place) { return place->kind; }, place_);
}

const std::string& KernelFact::source() const {
  return std::visit([](const auto* place) -> const std::string& { return place->source; }, place_);
}

std::string KernelFact::text() const {
  return std::visit([](const auto* place) { return text_of(place->value); }, place_);
}

std::vector<KernelFact> kernel_fact_list(KernelFacts& facts) {
  std::vector<KernelFact> list;
  for (const auto& [dtype, word] : kDTypeWords) {
    if (auto& rates = facts.rates[static_cast<std::size_t>(dtype)]) {
      add_section(fmt::format("rates.{}", word), *rates, list);
    }
  }
  add_section("power", facts.power, list);
  add_section("product", facts.product, list);
  add_section("attention", facts.attention, list);
  add_section("stream", facts.stream, list);
  add_section("issue", facts.issue, list);
  add_section("host_copy", facts.host_copy, list);
  return list;
}

std::string kernel_facts_text(KernelFacts facts, const std::string& head) {
  std::string text = fmt::format("# {}\n", quotable(head));
  for (const KernelFact& fact : kernel_fact_list(facts)) {
    text += fmt::format("\n[{}]\nvalue = \"{}\"\nkind = \"{}\"\nsource = \"{}\"\n", fact.key(),
                        fact.text(), word_of<SourceKind>(kSourceKindWords, fact.kind()),
                        quotable(fact.source()));
  }
  return text;
}

}  // namespace sextant::describe
