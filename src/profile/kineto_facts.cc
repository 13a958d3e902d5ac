#include "profile/kineto_facts.h"

#include "base/text.h"

namespace sextant::profile {
namespace {

void take_distributed(KinetoFacts& facts, std::string_view text) {
  Members members(text);
  RawValue key;
  RawValue value;
  while (members.next(key, value)) {
    const auto number = integer_of(value);
    if (key.text == "rank" && number && *number >= 0) {
      facts.rank = number;
    } else if (key.text == "world_size" && number && *number > 0) {
      facts.world = number;
    }
  }
}

void take_device(KinetoFacts& facts, std::string_view text) {
  timeline::RecordedDevice device;
  std::int64_t id = 0;
  Members members(text);
  RawValue key;
  RawValue value;
  while (members.next(key, value)) {
    const auto number = integer_of(value);
    if (key.text == "id" && number) {
      id = *number;
    } else if (key.text == "name" && value.is_string()) {
      device.name = unescaped(value);
    } else if (key.text == "totalGlobalMem" && number && *number > 0) {
      device.memory = Bytes(static_cast<double>(*number));
    } else if (key.text == "numSms" && number && *number > 0) {
      device.multiprocessors = number;
    }
  }
  facts.devices.insert_or_assign(id, device);
}

void take_devices(KinetoFacts& facts, std::string_view text) {
  constexpr std::size_t kMostDevices = 1024;
  const char* const end = text.data() + text.size();
  const char* at = skip_blanks(text.data() + 1, end);
  while (at < end && *at == '{' && facts.devices.size() < kMostDevices) {
    RawValue device;
    const Skimmed skimmed = skim_value(at, end, device);
    if (skimmed.state != Skim::kWhole) {
      break;
    }
    take_device(facts, device.text);
    at = skip_blanks(skimmed.at, end);
    at = at < end && *at == ',' ? skip_blanks(at + 1, end) : at;
  }
  facts.unreadable += at < end && *at == ']' ? 0 : 1;
}

}  // namespace

void take_fact(KinetoFacts& facts, const RawValue& key, const RawValue& value) {
  const std::string_view name = key.text;
  const auto is_on = [&] { return value.text == "1" || value.text == "true"; };
  if (name == "record_shapes") {
    facts.has_shapes = is_on();
  } else if (name == "with_stack") {
    facts.has_stacks = is_on();
  } else if (name == "profile_memory") {
    facts.has_memory = is_on();
  } else if (name == "host_name") {
    facts.host = unescaped(value);
  } else if (name == "baseTimeNanoseconds") {
    facts.base_ns = integer_of(value);
    facts.unreadable += facts.base_ns ? 0 : 1;
  } else if (name == "distributedInfo" || name == "deviceProperties") {
    const bool is_list = name == "deviceProperties";
    if (!value.text.starts_with(is_list ? '[' : '{')) {
      facts.unreadable += 1;
    } else if (is_list) {
      take_devices(facts, value.text);
    } else {
      take_distributed(facts, value.text);
    }
  }
}

}  // namespace sextant::profile
