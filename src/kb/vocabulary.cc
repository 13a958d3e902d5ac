#include "kb/vocabulary.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.h"

namespace sextant::kb {
namespace {

constexpr std::size_t kMostWords = 64;

// A phrase, the features it stands for (words of their sets, by blanks) and other words for it.
struct Phrase {
  std::string_view said;
  std::string_view bottleneck = {};
  std::string_view axes = {};
  std::string_view changes = {};
  std::string_view words = {};
};
constexpr std::array kPhrases{
    Phrase{"out of memory", "hbm", "memory", "", "oom memory fits"},
    Phrase{"oom", "hbm", "memory", "", "memory fits"},
    Phrase{"does not fit", "hbm", "memory", "", "fits memory oom"},
    Phrase{"run out", "hbm", "memory", "", "memory"},
    Phrase{"memory", "hbm", "memory", "", ""},
    Phrase{"vram", "hbm", "memory", "", "memory"},
    Phrase{"activations", "hbm", "memory", "", "activation recompute checkpoint"},
    Phrase{"checkpointing", "", "memory", "recompute", "recompute recomputation activation"},
    Phrase{"rematerialization", "", "memory", "recompute", "recompute remat"},
    Phrase{"remat", "", "memory", "recompute", "recompute"},
    Phrase{"recompute", "", "memory", "recompute", "checkpointing recomputation"},
    Phrase{"recomputation", "", "memory", "recompute", "recompute checkpointing"},
    Phrase{"recomputing", "", "memory", "recompute", "recompute"},
    Phrase{"bubble", "stall", "pp", "pp schedule", "pipeline"},
    Phrase{"idle stages", "stall", "pp", "pp schedule", "pipeline bubble"},
    Phrase{"pipeline", "", "pp", "pp", ""},
    Phrase{"stages", "", "pp", "pp", "stage pipeline"},
    Phrase{"interleaved", "stall", "pp", "vpp", "virtual stages vpp"},
    Phrase{"virtual", "", "pp", "vpp", "interleaved vpp"},
    Phrase{"zero bubble", "stall", "pp", "schedule", "zero-bubble zbv"},
    Phrase{"tensor parallel", "", "tp", "tp", "tp tensor"},
    Phrase{"tensor parallelism", "", "tp", "tp", "tp tensor"},
    Phrase{"tp", "", "tp", "tp", "tensor"},
    Phrase{"sequence parallel", "", "tp", "tp", "sp sequence"},
    Phrase{"context parallel", "", "cp", "cp", "cp context"},
    Phrase{"long context", "", "cp", "cp", "long sequences context sequence"},
    Phrase{"long sequences", "", "cp", "cp", "context sequence"},
    Phrase{"million tokens", "hbm", "cp", "cp", "long sequence"},
    Phrase{"ulysses", "", "cp", "cp", "all-to-all heads"},
    Phrase{"ring attention", "", "cp", "cp", "ring zigzag"},
    Phrase{"expert parallel", "", "ep", "ep", "ep experts"},
    Phrase{"experts", "", "ep", "ep", "moe expert ep"},
    Phrase{"moe", "", "ep", "", "experts expert"},
    Phrase{"mixture of experts", "", "ep", "ep", "moe expert"},
    Phrase{"microbatches", "", "batch pp", "", "microbatch gbs accumulate"},
    Phrase{"tensor group", "", "tp", "tp", "tp tensor parallelism"},
    Phrase{"interleaving", "stall", "pp", "vpp", "interleaved virtual stages"},
    Phrase{"nodes", "communication", "topology", "", "node"},
    Phrase{"nvlink domain", "communication", "topology", "placement", "node"},
    Phrase{"dispatch", "communication", "ep", "expert-dispatch", "all-to-all dispatcher deepep"},
    Phrase{"token routing", "communication", "ep", "expert-dispatch", "dispatch router"},
    Phrase{"imbalance", "stall", "", "data straggler", "balanced uneven"},
    Phrase{"unbalanced", "stall", "", "data", "balanced uneven routing"},
    Phrase{"fsdp", "", "dp", "zero", "zero sharding"},
    Phrase{"zero", "", "dp", "zero", "sharded optimizer"},
    Phrase{"sharded", "", "dp", "zero", "shard zero"},
    Phrase{"hsdp", "", "dp", "zero", "hybrid shard"},
    Phrase{"hybrid sharding", "", "dp", "zero", "hybrid zero group"},
    Phrase{"data parallel", "", "dp", "dp", "dp replicas"},
    Phrase{"replicas", "", "dp", "dp", "data parallel"},
    Phrase{"gradient reduction", "communication", "dp", "", "all-reduce gradients"},
    Phrase{"all-reduce", "communication", "", "", "allreduce collective"},
    Phrase{"allreduce", "communication", "", "", "all-reduce"},
    Phrase{"communication", "communication", "", "", ""},
    Phrase{"network", "communication", "topology", "network", ""},
    Phrase{"infiniband", "communication", "topology", "network", "network ib"},
    Phrase{"ethernet", "communication", "topology", "network", "network infiniband"},
    Phrase{"slow links", "communication", "topology", "network", "network"},
    Phrase{"slow network", "communication", "topology", "network", "links"},
    Phrase{"between nodes", "communication", "topology", "", "node network"},
    Phrase{"across nodes", "communication", "topology", "", "node network"},
    Phrase{"nvlink", "communication", "topology", "", "domain node"},
    Phrase{"overlap", "communication", "overlap", "overlap", "hide hidden async"},
    Phrase{"hide", "communication", "overlap", "overlap", "overlap hidden async"},
    Phrase{"exposed", "communication", "overlap", "overlap", "overlap hidden"},
    Phrase{"nccl", "communication", "topology", "nccl", ""},
    Phrase{"fp8", "compute", "precision", "precision", "float8"},
    Phrase{"float8", "compute", "precision", "precision", "fp8"},
    Phrase{"fp4", "compute", "precision", "precision", "nvfp4"},
    Phrase{"nvfp4", "compute", "precision", "precision", ""},
    Phrase{"mxfp8", "compute", "precision", "precision", "mx"},
    Phrase{"low precision", "compute", "precision", "precision", "fp8 mxfp8"},
    Phrase{"half precision", "compute", "precision", "precision", "fp16 bf16"},
    Phrase{"bf16", "", "precision", "precision", ""},
    Phrase{"quantized", "", "precision", "", "quantised int8"},
    Phrase{"flash attention", "", "kernels", "attention-kernel", "flashattention flash"},
    Phrase{"flashattention", "", "kernels", "attention-kernel", "flash attention"},
    Phrase{"attention kernel", "", "kernels", "attention-kernel", "flash"},
    Phrase{"torch.compile", "", "kernels", "compile", "compile inductor"},
    Phrase{"compile", "", "kernels", "compile", "inductor"},
    Phrase{"compiler", "", "kernels", "compile", "compile"},
    Phrase{"fused", "", "kernels", "fusion", "fuse kernels liger"},
    Phrase{"fusing", "", "kernels", "fusion", "fused kernels"},
    Phrase{"fusion", "", "kernels", "fusion", "fused"},
    Phrase{"triton", "", "kernels", "fusion", "kernels fused"},
    Phrase{"elementwise", "hbm", "kernels", "fusion compile", "fused kernels"},
    Phrase{"cross entropy", "hbm", "memory", "loss", "loss logits chunked"},
    Phrase{"logits", "hbm", "memory", "loss", "loss vocabulary cross entropy"},
    Phrase{"loss", "", "memory", "loss", "logits"},
    Phrase{"vocabulary", "", "", "loss", "vocab logits"},
    Phrase{"micro batch", "", "batch", "mbs", "microbatch mbs"},
    Phrase{"microbatch", "", "batch", "mbs", "mbs"},
    Phrase{"batch size", "", "batch", "mbs", "microbatch mbs gbs"},
    Phrase{"accumulation", "", "batch", "mbs", "accumulate microbatches"},
    Phrase{"global batch", "", "batch", "", "gbs microbatches"},
    Phrase{"offload", "hbm", "memory", "offload", "cpu host"},
    Phrase{"offloading", "hbm", "memory", "offload", "offload cpu"},
    Phrase{"host memory", "hbm", "memory", "offload", "offload cpu"},
    Phrase{"cpu memory", "hbm", "memory", "offload", "offload"},
    Phrase{"optimizer states", "hbm", "memory", "optimizer zero", "optimizer states"},
    Phrase{"8-bit", "hbm", "memory precision", "optimizer", "adamw"},
    Phrase{"adam", "", "memory", "optimizer", "optimizer adamw"},
    Phrase{"launch overhead", "stall", "host kernels", "host", "launches cuda graphs"},
    Phrase{"cuda graphs", "stall", "host kernels", "host", "launches graph"},
    Phrase{"cpu bound", "stall", "host", "host", "launch host"},
    Phrase{"host bound", "stall", "host", "host", "launch cpu"},
    Phrase{"gpu is idle", "stall", "host", "host", "launch wait"},
    Phrase{"garbage collection", "stall", "host", "straggler", "gc"},
    Phrase{"gc pauses", "stall", "host", "straggler", "gc"},
    Phrase{"synchronization", "stall", "host", "sync", "sync synchronisation"},
    Phrase{"data loader", "stall", "host", "data", "dataloader loading workers"},
    Phrase{"dataloader", "stall", "host", "data", "loading workers"},
    Phrase{"input pipeline", "stall", "host", "data", "dataloader loading"},
    Phrase{"padding", "stall", "host", "data", "packed packing pad"},
    Phrase{"packing", "stall", "host", "data", "packed pad"},
    Phrase{"straggler", "stall", "host", "straggler", "slow rank"},
    Phrase{"slow gpu", "stall", "host", "straggler", "throttling"},
    Phrase{"slow node", "stall", "host", "straggler", "throttling fail-slow"},
    Phrase{"throttling", "stall", "host", "straggler", "throttled thermal"},
    Phrase{"numa", "stall", "host topology", "placement host", "bind bound core"},
    Phrase{"rank order", "", "topology", "placement", "mapping order"},
    Phrase{"rail", "communication", "topology", "placement network", ""},
    Phrase{"scale out", "communication", "dp topology", "dp", "scaling devices"},
    Phrase{"weak scaling", "communication", "dp topology", "dp", "scaling devices"},
    Phrase{"strong scaling", "communication", "dp topology", "dp", "scaling devices"},
    Phrase{"multislice", "communication", "topology", "", "slices dcn"},
    Phrase{"slices", "communication", "topology", "", "slice dcn multislice"},
    Phrase{"prefetch", "communication", "overlap dp", "overlap", "gather"},
    Phrase{"gqa", "", "tp", "", "key value heads"},
    Phrase{"kv heads", "", "tp", "", "key value heads"},
    Phrase{"dense", "", "", "", ""}};

// Words of a device's name, and the family of it.
constexpr std::array<std::string_view, 21> kDeviceWords{
    "h100",  "h200",  "h800",  "a100", "a800",     "b200",   "b300",
    "gb200", "gb300", "gh200", "v100", "mi300x",   "mi325x", "mi355x",
    "tpu",   "v5p",   "v5e",   "v6e",  "trillium", "gpu",    "amd"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kDeviceAliases{
    {{"v5p", "tpu-v5p"},
     {"v5e", "tpu-v5e"},
     {"v6e", "tpu-v6e"},
     {"trillium", "tpu-v6e"},
     {"amd", "mi300x"}}};
// "Blackwell": further names of frameworks than their own words.
constexpr std::array<std::pair<std::string_view, describe::Framework>, 7> kFrameworkAliases{
    {{"megatron", describe::Framework::kMegatronCore},
     {"torchtitan", describe::Framework::kTorchtitan},
     {"deepspeed", describe::Framework::kDeepspeed},
     {"maxtext", describe::Framework::kMaxtext},
     {"jax", describe::Framework::kMaxtext},
     {"accelerate", describe::Framework::kAccelerate},
     {"nanotron", describe::Framework::kNanotron}}};

// Words nobody looks for.
constexpr std::array<std::string_view, 66> kEmptyWords{
    "a",     "an",  "and",  "are",   "as",   "at",    "be",    "but",  "by",     "can",   "do",
    "does",  "for", "from", "get",   "has",  "have",  "how",   "i",    "if",     "in",    "instead",
    "into",  "is",  "it",   "its",   "me",   "much",  "my",    "of",   "on",     "or",    "our",
    "out",   "per", "so",   "than",  "that", "the",   "them",  "then", "there",  "these", "this",
    "to",    "too", "use",  "using", "want", "was",   "we",    "what", "when",   "where", "which",
    "while", "who", "why",  "will",  "with", "worth", "would", "you",  "should", "not",   "more"};

// Lower case; everything but letters, digits, '-' and '.' parts words.
std::string plain(std::string_view text) {
  std::string kept = " ";
  for (const char c : to_lower(text)) {
    const auto byte = static_cast<unsigned char>(c);
    kept += std::isalnum(byte) != 0 || c == '-' || c == '.' || byte >= 0x80 ? c : ' ';
  }
  return kept + " ";
}

template <typename T>
void once(std::vector<T>& list, const T& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) {
    list.push_back(value);
  }
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view part : split(text, ' ')) {
    if (!part.empty()) {
      words.emplace_back(part);
    }
  }
  return words;
}

template <typename E, std::size_t N>
void add_words(std::vector<E>& list, const std::array<describe::Word<E>, N>& all,
               std::string_view spelled) {
  for (const std::string& word : words_of(spelled)) {
    for (const auto& [value, spelling] : all) {
      if (spelling == word) {
        once(list, value);
      }
    }
  }
}

void add_phrase(Understood& found, const Phrase& phrase) {
  add_words(found.about.bottlenecks, kBottleneckWords, phrase.bottleneck);
  add_words(found.about.axes, kThemeWords, phrase.axes);
  for (const std::string& change : words_of(phrase.changes)) {
    once(found.about.changes, change);
  }
  for (const std::string& word : words_of(phrase.words)) {
    once(found.others, word);
  }
}

void add_device(Understood& found, std::string_view word) {
  for (const std::string_view device : kDeviceWords) {
    if (word.starts_with(device)) {
      std::string name(device);
      for (const auto& [alias, full] : kDeviceAliases) {
        name = alias == device ? std::string(full) : name;
      }
      once(found.about.devices, name);
    }
  }
}

void add_word(Understood& found, const std::string& word) {
  add_device(found, word);
  for (const auto& [name, framework] : kFrameworkAliases) {
    if (word == name) {
      once(found.about.frameworks, framework);
    }
  }
  if (word == "moe" || word == "experts") {
    once(found.about.models, ModelClass::kExperts);
  } else if (word == "dense") {
    once(found.about.models, ModelClass::kDense);
  } else if (word == "hybrid" || word == "mamba") {
    once(found.about.models, ModelClass::kHybrid);
  }
}

}  // namespace

Understood understood(std::string_view words) {
  Understood found;
  const std::string text = plain(words.substr(0, 2'000));
  for (const std::string& word : words_of(text)) {
    const bool empty = std::find(kEmptyWords.begin(), kEmptyWords.end(), word) != kEmptyWords.end();
    if (!empty && found.words.size() < kMostWords) {
      once(found.words, word);
      add_word(found, word);
    }
  }
  for (const Phrase& phrase : kPhrases) {
    if (text.find(" " + std::string(phrase.said) + " ") != std::string::npos) {
      add_phrase(found, phrase);
    }
  }
  return found;
}

}  // namespace sextant::kb
