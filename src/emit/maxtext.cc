#include "emit/maxtext.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "emit/canonical.h"
#include "emit/maxtext_parts.h"

namespace sextant::emit {
namespace {

constexpr std::array<Reason, 20> kMaxtextReasons{{
    {"cp_inner", "MaxText names the size of the inner group"},
    {"vpp", "without a pipeline there is nothing to repeat"},
    {"schedule", "MaxText runs all forwards before all backwards, repeats breadth first"},
    {"layers_per_stage", "every stage of a MaxText pipeline has the same layers"},
    {"ep", "the expert axis is a part of data parallelism"},
    {"etp", "the tensor axes divide experts as they divide the rest"},
    {"zero",
     "weights are sharded over the fsdp, context and expert axes, or the optimizer over data"},
    {"zero_group", "weights are sharded over the fsdp, context and expert axes together"},
    {"reshard", "only a pipeline keeps gathered weights (pipeline_fsdp_ag_once)"},
    {"mbs", "a pipeline's microbatches are a multiple of its stages"},
    {"recompute", "no remat_policy computes exactly this again"},
    {"activation_offload", "no remat_policy of this kind keeps activations in host memory"},
    {"precision",
     "dtype is bfloat16, float32 or float16; quantization int8, fp8, te_mxfp8, te_nvfp4"},
    {"parameters", "weight_dtype is float32, bfloat16 or float16"},
    {"gradients",
     "grad_dtype applies to float32 weights; others have gradients of their own format"},
    {"optimizer", "weights are updated in place; the second moment has their format"},
    {"loss", "XLA fuses the loss; num_vocab_tiling splits it into a number of parts"},
    {"compile", "XLA compiles everything"},
    {"overlap", "XLA's scheduler decides what overlaps"},
    {"order", "the mesh says which axes cross slices; MaxText places the rest by itself"},
}};

Reading read_maxtext_layout(const Settings& settings, const describe::Model* model) {
  Reading reading;
  reading.dialect = Dialect::kMaxtext;
  reading.unresolved = settings.unresolved;
  SettingReader reader(settings, reading);
  maxtext::read_axes(reader, reading);
  maxtext::read_batch(reader, reading,
                      model == nullptr ? std::nullopt : std::optional(model->layer_count()));
  maxtext::read_kernels(reader, reading, model != nullptr && describe::has_experts(*model));
  for (const Setting& setting : settings.given) {
    const bool mesh = (setting.key.starts_with("ici_") || setting.key.starts_with("dcn_")) &&
                      setting.key.ends_with("_parallelism");
    if (mesh && !maxtext::is_axis(setting.key)) {
      reading.unknown.push_back({setting.key, setting.place});
    }
  }
  return reading;
}

bool is_override_key(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
         });
}

}  // namespace

Writing write_maxtext(const describe::Job& given) {
  describe::Job job = given;
  job.layout = canonical_layout(given);
  if (job.layout.cp_method == describe::CpMethod::kAllToAllP2p) {
    job.layout.cp_inner = given.layout.cp_inner;  // MaxText has no default for it
  }
  Writing writing;
  writing.settings.dialect = Dialect::kMaxtext;
  const std::vector<Setting> model = maxtext::model_settings(job.model, describe::DataStore{});
  SettingWriter out;
  out.all(model);
  maxtext::write_axes(job, out);
  maxtext::write_batch(job, out);
  maxtext::write_kernels(job, out);
  writing.settings.given = std::move(out).take();
  writing.settings.launch = launch_settings(job);
  const Reading said = read_maxtext_layout(writing.settings, model.empty() ? nullptr : &job.model);
  writing.left_out = left_out_of(job.layout, said.layout, kMaxtextReasons);
  if (model.empty()) {
    writing.left_out.push_back({"model", job.model.name,
                                "MaxText has no model_name for it; add a file to configs/models"});
  }
  if (said.global_batch != job.global_batch) {
    writing.left_out.push_back(
        {"gbs", std::to_string(job.global_batch), "it does not divide into the job's steps"});
  }
  return writing;
}

Reading read_maxtext(const Settings& settings, const describe::DataStore& data) {
  auto model = maxtext::model_of(settings, data);
  const bool known = model && *model;
  Reading reading = read_maxtext_layout(settings, known ? &**model : nullptr);
  if (known) {
    SettingReader(settings, reading).fact("model", (*model)->name, "model_name");
    reading.model = std::move(**model);
  } else if (model) {
    reading.unresolved.push_back({"the model", to_text(model->error()), {}});
  }
  return reading;
}

std::vector<Setting> maxtext_overrides(std::span<const WordAt> words) {
  std::vector<Setting> overrides;
  for (const WordAt& word : words) {
    const std::size_t equals = word.text.find('=');
    if (equals == std::string::npos ||
        !is_override_key(std::string_view(word.text).substr(0, equals))) {
      continue;
    }
    Setting setting{word.text.substr(0, equals), {word.text.substr(equals + 1)}, word.place};
    // The value is a part of the word as long as the word stands there as it is.
    const bool literal = word.place.length == word.text.size();
    setting.place.offset += literal ? equals + 1 : 0;
    setting.place.length = literal ? word.text.size() - equals - 1 : 0;
    overrides.push_back(std::move(setting));
  }
  return overrides;
}

}  // namespace sextant::emit
