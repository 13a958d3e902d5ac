#include "measured/change_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "measured/row_tools.h"

namespace sextant::measured {
namespace {

constexpr std::size_t kMostText = 65536;
constexpr std::int64_t kMostSideCount = 1'000'000;
constexpr std::int64_t kNodeDevices = 8;  // of every system that these tables shard inside

std::vector<std::string> separated(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  int depth = 0;
  const auto end_word = [&] {
    if (const std::string_view plain = trimmed(word); !plain.empty()) {
      words.push_back(to_lower(plain));
    }
    word.clear();
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' && depth > 0 ? -1 : 0;
    const bool plus = text.substr(at).starts_with(" + ");
    if (depth == 0 && (text[at] == ',' || text[at] == ';' || plus)) {
      end_word();
      at += plus ? 2 : 0;
    } else {
      word.push_back(text[at]);
    }
  }
  end_word();
  return words;
}

// "selective:norm", "act" → "selective:norm+act": a list of modules is written with commas.
std::vector<std::string> with_modules(std::vector<std::string> words) {
  std::vector<std::string> joined;
  for (std::string& word : words) {
    const bool module = is_one_of(word, {"act", "moe", "mlp", "norm", "layernorm", "moe_act"});
    if (module && !joined.empty() && joined.back().starts_with("recompute=selective:")) {
      joined.back() += "+" + word;
    } else {
      joined.push_back(std::move(word));
    }
  }
  return joined;
}

// "bf16" of "bf16(fp32 grad accum)": what stands before a blank or parenthesis.
std::string_view head_of(std::string_view value) {
  return value.substr(0, value.find_first_of(" ("));
}

// "group of 4" of "1(group of 4)".
std::string_view inside_of(std::string_view value) {
  const std::size_t open = value.find('(');
  if (open == std::string_view::npos) {
    return {};
  }
  return value.substr(open + 1, value.rfind(')') - open - 1);
}

bool set_side_count(Count& count, std::string_view value) {
  const auto number = to_integer(value);
  if (!number || *number < 1 || *number > kMostSideCount) {
    return false;
  }
  count = number;
  return true;
}

bool set_switch(std::optional<bool>& flag, std::string_view value) {
  if (!is_one_of(value, {"0", "1"})) {
    return false;
  }
  flag = value == "1";
  return true;
}

std::optional<std::int64_t> first_whole_number(std::string_view text) {
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(begin);
  return to_integer(rest.substr(0, rest.find_first_not_of("0123456789")));
}

bool set_zero(ChangeWords& side, std::string_view value) {
  const auto stage = to_integer(head_of(value));
  if (!stage || *stage < 0 || *stage > 3) {
    return false;
  }
  side.zero = stage;
  const std::string_view inside = inside_of(value);
  if (inside.empty() || inside.starts_with("all") || inside.starts_with("over all")) {
    return true;
  }
  side.zero_group =
      first_whole_number(inside);  // "8", "group of 4: …", "sharded inside 8-GPU node: …"
  return side.zero_group.has_value();
}

bool set_precision(ChangeWords& side, std::string_view value) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kWords{
      {{"mixed", "fp16"},  // "mixed fp16/bf16" of 2022
       {"nvfp4", "nvfp4"},
       {"mxfp8", "mxfp8"},
       {"fp8", "fp8"},
       {"fp8-blockwise", "fp8"},
       {"bf16", "bf16"},
       {"bf16+tf32", "bf16"},
       {"fp16", "fp16"},
       {"fp32", "fp32"},
       {"tf32", "tf32"}}};
  const std::string_view head = head_of(value);
  const auto* const found =
      std::ranges::find_if(kWords, [&](const auto& one) { return one.first == head; });
  // "fp8 MoE" and "mxfp8(grouped GEMM)" are of the experts alone.
  if (found == kWords.end() || contains(value, "moe") || contains(value, "grouped") ||
      contains(value, "activations and optimizer")) {
    return false;
  }
  side.precision = found->second;
  side.precision_text = value;
  return true;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// "act" is of the experts where they are spread out.
bool set_recompute_word(ChangeWords& side, std::string_view value, bool experts) {
  const std::string_view head = head_of(value);
  if (is_one_of(value, {"none", "0", "off", "no"})) {
    side.recompute = "none";
  } else if (is_one_of(value, {"full", "on"})) {
    side.recompute = "full";
  } else if (value == "selective" || head == "selective" || value.starts_with("selective:")) {
    if (contains(value, "incl.")) {
      return false;
    }
    side.recompute = "selective";
    std::string modules(value.substr(std::string_view("selective").size()));
    replace_all(modules, "layernorm", "\x01");
    replace_all(modules, "norm", "\x01");
    replace_all(modules, "\x01", "layernorm");
    replace_all(modules, "moe_act", "\x01");
    replace_all(modules, "act", experts ? "moe_act" : "activation");
    replace_all(modules, "\x01", "moe_act");
    if (contains(modules, "layer)") || contains(modules, "every 2nd layer")) {
      modules = " every other";
    } else if (contains(modules, "sac") || contains(modules, "(op")) {
      modules = " op";
    }
    side.recompute_text = "selective" + modules;
  } else {
    return false;
  }
  return true;
}

bool set_attention(ChangeWords& side, std::string_view value) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kWords{
      {{"flash", "flash"},
       {"flash2", "flash"},
       {"sdpa", "flash"},
       {"sdpa-flash2", "flash"},
       {"flash1", "flash v1"},
       {"standard", "no flash"},
       {"cudnn", "cudnn"}}};
  const auto* const found =
      std::ranges::find_if(kWords, [&](const auto& one) { return one.first == value; });
  if (found == kWords.end()) {
    return false;
  }
  side.attention = found->second;
  return true;
}

bool set_compile(ChangeWords& side, std::string_view value) {
  if (!is_one_of(value, {"0", "1", "model+loss"})) {
    return false;
  }
  side.compiled = value != "0";
  return true;
}

bool set_overlap_word(ChangeWords& side, std::string_view value) {
  if (value == "async-tp") {
    side.flags.emplace_back("async tp");
    return true;
  }
  return is_one_of(value, {"none", "none(tp)"});
}

bool set_schedule_word(ChangeWords& side, std::string_view value) {
  if (value == "1f1b") {
    return true;
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kWords{
      {{"interleaved-1f1b", "interleaved 1f1b"}, {"zero-bubble-v", "zbv"}, {"gpipe", "gpipe"}}};
  for (const auto& [word, flag] : kWords) {
    if (value == word) {
      side.flags.emplace_back(flag);
      return true;
    }
  }
  return false;
}

bool set_offload(ChangeWords& side, std::string_view value) {
  if (value == "none") {
    return true;
  }
  if (is_one_of(value, {"optimizer cpu", "optimizer 100% to cpu"})) {
    side.optimizer_offload = true;
    return true;
  }
  if (value == "all activations") {
    side.activation_offload = true;
    return true;
  }
  return false;
}

bool set_dispatch(ChangeWords& side, std::string_view value) {
  if (is_one_of(value, {"deepep", "hybridep"})) {
    side.flags.emplace_back("deepep");
    side.all_to_all = false;
    return true;
  }
  side.all_to_all = true;
  return value == "all-to-all";
}

bool set_axis(ChangeWords& side, std::string_view key, std::string_view value) {
  const std::array<std::pair<std::string_view, Count*>, 12> axes{{{"tp", &side.tp},
                                                                  {"pp", &side.pp},
                                                                  {"vpp", &side.vpp},
                                                                  {"cp", &side.cp},
                                                                  {"ep", &side.ep},
                                                                  {"etp", &side.etp},
                                                                  {"dp", &side.dp},
                                                                  {"dp_shard", &side.dp_shard},
                                                                  {"mbs", &side.micro_batch},
                                                                  {"micro_num", &side.grad_accum},
                                                                  {"accum", &side.grad_accum},
                                                                  {"gbs", &side.batch}}};
  for (const auto& [name, count] : axes) {
    if (key == name) {
      return set_side_count(*count, value);
    }
  }
  return false;
}

bool set_key(ChangeWords& side, std::string_view key, std::string_view value, bool experts) {
  if (key == "sp") {
    return set_switch(side.sp, value);
  }
  if (key == "reshard_after_forward") {
    return set_switch(side.reshard, value);
  }
  if (is_one_of(key, {"local_batch", "seq"})) {
    return true;  // the columns say as much
  }
  if (is_one_of(key, {"recompute", "ac"})) {
    return set_recompute_word(side, value, experts);
  }
  using Setter = bool (*)(ChangeWords&, std::string_view);
  constexpr std::array<std::pair<std::string_view, Setter>, 8> kSetters{
      {{"zero", set_zero},
       {"precision", set_precision},
       {"attention", set_attention},
       {"compile", set_compile},
       {"overlap", set_overlap_word},
       {"schedule", set_schedule_word},
       {"offload", set_offload},
       {"dispatch", set_dispatch}}};
  for (const auto& [name, setter] : kSetters) {
    if (key == name) {
      return setter(side, value);
    }
  }
  return set_axis(side, key, value);
}

// Words without a key. Names of a parallelisation (FSDP+EP) say what its keys say.
bool set_word_alone(ChangeWords& side, std::string_view word) {
  if (is_one_of(word, {"mcore", "fsdp+ep", "tp+ep+dp"})) {
    side.folded = false;
  } else if (word == "hsdp") {
    side.zero = 3;
    side.zero_group = kNodeDevices;
  } else if (is_one_of(word, {"deepep", "deepep dispatcher"})) {
    return set_dispatch(side, "deepep");
  } else if (is_one_of(word, {"nccl all-to-all", "baseline: nccl all-to-all dispatcher"})) {
    return set_dispatch(side, "all-to-all");
  } else if (word == "1f1b all-to-all overlap") {
    side.flags.emplace_back("moe_a2a_overlap=1");
  } else if (word == "mla up-projection no longer recomputed") {
    replace_all(side.recompute_text, "mla_up_proj", "");
  } else if (word == "recompute mlp+up_proj") {
    side.recompute = "selective";
    side.recompute_text = "selective mlp mla_up_proj";
  } else if (word == "full finetune") {
    side.fine_tuning = true;
  } else if (word == "+compile") {
    side.compiled = true;
  } else if (word == "+chunked cross entropy") {
    side.flags.emplace_back("chunked ce");
  } else if (word == "+activation checkpointing") {
    side.recompute = "full";
  } else if (word == "+packed dataset") {
    side.flags.emplace_back("packed");
  } else if (word == "+activation offloading") {
    side.activation_offload = true;
  } else if (word == "+8-bit adamw") {
    side.flags.emplace_back("adamw8bit");
  } else if (word == "bf16" || word == "fp8 delayed scaling") {
    return set_precision(side, head_of(word));
  } else {
    return is_one_of(word, {"fsdp", "fsdp2", "fsdp2 eager", "1 gpu", "forced balance",
                            "forced balanced routing", "no ep overlap", "mcore w/ folding"});
  }
  return true;
}

}  // namespace

std::string ChangeWords::flag_text() const {
  return join(flags, "; ");
}

ChangeWords change_words(std::string_view text) {
  ChangeWords side;
  if (text.size() > kMostText) {
    side.beyond.emplace("more than 64 KiB of words");
    return side;
  }
  const std::vector<std::string> words = with_modules(separated(text));
  const bool experts = std::ranges::any_of(
      words, [](const std::string& word) { return word.starts_with("ep=") && word != "ep=1"; });
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool keyed =
        equals != std::string::npos && equals > 0 && word.find_first_of(" (") > equals;
    const std::string_view whole = word;
    const bool known =
        keyed ? set_key(side, whole.substr(0, equals), trimmed(whole.substr(equals + 1)), experts)
              : set_word_alone(side, whole);
    if (!known) {
      side.beyond.insert(word);
    }
  }
  return side;
}

TwoSides two_sides(std::string_view text) {
  const std::size_t arrow = text.find("->");
  if (arrow == std::string_view::npos) {
    return {trimmed(text), trimmed(text)};
  }
  return {trimmed(text.substr(0, arrow)), trimmed(text.substr(arrow + 2))};
}

Count side_count(std::string_view text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const char unit = static_cast<char>(std::toupper(static_cast<unsigned char>(text.back())));
  const double scale = unit == 'K' ? 1024.0 : unit == 'M' ? 1024.0 * 1024.0 : 1.0;
  const auto number = to_double(scale > 1.0 ? text.substr(0, text.size() - 1) : text);
  constexpr double kMost = 1e9;
  if (!number || *number <= 0.0 || *number * scale > kMost ||
      std::floor(*number * scale) != *number * scale) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number * scale);
}

}  // namespace sextant::measured
