#include "emit/dialects.h"

#include <algorithm>

#include <fmt/format.h>

#include "describe/layout/attention_kernel.h"
#include "emit/accelerate.h"
#include "emit/bridge.h"
#include "emit/deepspeed.h"
#include "emit/known_keys.h"
#include "emit/maxtext.h"
#include "emit/megatron.h"
#include "emit/megatron_deepspeed.h"
#include "emit/nanotron.h"
#include "emit/not_known.h"
#include "emit/other_words.h"
#include "emit/setting_values.h"
#include "emit/shape_facts.h"
#include "emit/torchtitan.h"
#include "emit/trainer_flags.h"
#include "emit/vocabulary.h"

namespace sextant::emit {

namespace {

Writing write_words(Dialect dialect, const describe::Job& job) {
  switch (dialect) {
    case Dialect::kMegatron:
      return write_megatron(job);
    case Dialect::kBridge:
      return write_bridge(job);
    case Dialect::kTorchtitan:
      return write_torchtitan(job);
    case Dialect::kTorchtitanToml:
      return write_torchtitan_toml(job);
    case Dialect::kDeepspeed:
      return write_deepspeed(job);
    case Dialect::kMaxtext:
      return write_maxtext(job);
    case Dialect::kAccelerate:
      return write_accelerate(job);
    case Dialect::kNanotron:
      return write_nanotron(job);
  }
  return {};
}

// A default that the framework has no words for is what it picks anyway; a stated one is lost, but
// where the device leaves it nothing else to pick.
bool names_attention(Dialect dialect) {
  return dialect == Dialect::kMegatron || dialect == Dialect::kBridge ||
         dialect == Dialect::kMaxtext || dialect == Dialect::kNanotron;
}

bool picks_attention(const describe::Job& job) {
  describe::Job open = job;
  open.stated.erase("attention");
  open.layout.attention = describe::AttentionKernel::kFlash;
  return describe::attention_kernel(open) == job.layout.attention;
}

Reading read_words(const Settings& settings, const describe::DataStore& data) {
  switch (settings.dialect) {
    case Dialect::kMegatron:
      return read_megatron(settings, data);
    case Dialect::kBridge:
      return read_bridge(settings, data);
    case Dialect::kTorchtitan:
      return read_torchtitan(settings, data);
    case Dialect::kTorchtitanToml:
      return read_torchtitan_toml(settings, data);
    case Dialect::kDeepspeed:
      return read_deepspeed(settings, data);
    case Dialect::kMaxtext:
      return read_maxtext(settings, data);
    case Dialect::kAccelerate:
      return read_accelerate(settings, data);
    case Dialect::kNanotron:
      return read_nanotron(settings, data);
  }
  return {};
}

// A log lists what the framework worked out beside what it was told: no misspelt settings.
void forget_derived(const Settings& settings, Reading& reading) {
  const std::vector<std::string>& logs = settings.printed;
  std::erase_if(reading.unknown, [&logs](const UnknownSetting& one) {
    return std::find(logs.begin(), logs.end(), one.place.file) != logs.end();
  });
}

void add_nearest(const describe::DataStore& data, Reading& reading) {
  // Each is compared with every key there is; a file of anything may hold any number.
  constexpr std::size_t kMost = 16;
  if (reading.unknown.empty()) {
    return;
  }
  const KnownKeys known = known_keys(reading.dialect, data);
  for (std::size_t i = 0; i < std::min(kMost, reading.unknown.size()); ++i) {
    reading.unknown[i].nearest = nearest_keys(reading.unknown[i].key, known);
  }
}

}  // namespace

Writing write(Dialect dialect, const describe::Job& job) {
  Writing writing = write_words(dialect, job);
  const bool said = std::any_of(writing.left_out.begin(), writing.left_out.end(),
                                [](const Inexpressible& one) { return one.field == "attention"; });
  if (job.states("attention") && !said && !names_attention(dialect) && !picks_attention(job)) {
    writing.left_out.push_back({"attention",
                                std::string(describe::word_of<describe::AttentionKernel>(
                                    describe::kAttentionKernelWords, job.layout.attention)),
                                "the framework picks the kernel"});
  }
  return writing;
}

std::set<std::string, std::less<>> stated_keys(const Reading& reading) {
  std::set<std::string, std::less<>> keys;
  for (const Fact& fact : reading.facts) {
    const bool follows = fact.field == "dp" && fact.derived;  // nobody said it
    if (!follows && (fact.field != "attention" || reading.attention_stated)) {
      keys.insert(fact.field);
    }
  }
  if (reading.attention_stated) {
    keys.emplace("attention");
  }
  return keys;
}

namespace {

// How many devices, where a reader did not say where it has them from: of the launcher, else what
// the sizes that the files state come to.
void add_devices(const Settings& settings, Reading& reading) {
  const bool said = std::any_of(reading.facts.begin(), reading.facts.end(),
                                [](const Fact& fact) { return fact.field == "devices"; });
  if (said || !reading.devices) {
    return;
  }
  const Setting* launched = find(settings.launch, "devices");
  const std::string count = std::to_string(*reading.devices);
  if (launched != nullptr && launched->values == std::vector<std::string>{count}) {
    reading.facts.push_back({"devices", count, "devices " + count, launched->place});
  } else {
    reading.facts.push_back({"devices", count, "what its sizes take together", {}, true});
  }
}

// dp, where everything that it follows from is known.
void add_replicas(Reading& reading) {
  const auto has = [&](std::string_view field) {
    return std::any_of(reading.facts.begin(), reading.facts.end(),
                       [&](const Fact& fact) { return fact.field == field; });
  };
  if (reading.layout.dp > 0 && has("devices") && !has("dp")) {
    reading.facts.push_back({"dp",
                             std::to_string(reading.layout.dp),
                             "what tp, pp and cp leave of the devices",
                             {},
                             true});
  }
}

// Of a program that nobody knows: how many devices it is started on.
Reading read_unknown_program(const Settings& settings) {
  Reading reading;
  reading.framework_known = false;
  reading.unresolved = settings.unresolved;
  SettingReader reader(settings, reading);
  reading.devices = reader.launched("devices");
  reading.devices_per_node = reader.launched("devices_per_node");
  if (const Setting* said = find(settings.launch, "devices"); reading.devices) {
    reading.facts.push_back({"devices", std::to_string(*reading.devices),
                             fmt::format("devices {}", said->values.front()), said->place});
  }
  return reading;
}

}  // namespace

Reading read(const Settings& settings, const describe::DataStore& data) {
  if (!settings.framework_known) {
    Reading reading = read_unknown_program(settings);
    mark_not_known(settings, nullptr, reading);
    return reading;
  }
  const auto reader = [&data](const Settings& asked) {
    if (asked.program == kFoundry) {
      Reading composed = read_foundry(asked, data);
      add_devices(asked, composed);
      return composed;
    }
    const bool fork = is_megatron_deepspeed(asked);
    const bool trained = asked.dialect == Dialect::kDeepspeed;
    Reading reading = read_words(fork      ? in_megatron_words(asked)
                                 : trained ? filled_by_trainer(asked)
                                           : asked,
                                 data);
    if (fork) {
      read_deepspeed_flags(asked, reading);
    }
    if (asked.dialect == Dialect::kDeepspeed || asked.dialect == Dialect::kAccelerate) {
      read_trainer_flags(asked, data, reading);
    }
    add_shape_facts(fork ? in_megatron_words(asked) : asked, reading);
    add_vocabulary(asked, reading);
    add_devices(asked, reading);
    return reading;
  };
  Reading reading = reader(settings);
  reading.program = settings.program;
  forget_derived(settings, reading);
  mark_not_known(settings, reader, reading);
  add_replicas(reading);
  add_nearest(data, reading);
  return reading;
}

}  // namespace sextant::emit
