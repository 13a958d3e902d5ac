#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "profile/hlo_module.h"
#include "profile/hlo_sharding.h"
#include "profile/wire.h"

namespace sextant::profile {
namespace {

constexpr std::size_t kLongestHloName = 512;
// What is asked of a backend's configuration stands in its first kilobytes.
constexpr std::size_t kLongestConfig = 16'384;

struct TypeFacts {
  int type = 0;
  int bits = 0;
  std::optional<timeline::ElementType> element = std::nullopt;
};
// Source: xla/xla_data.proto, PrimitiveType.
constexpr std::array<TypeFacts, 23> kTypes{{{1, 8, timeline::ElementType::kBool},
                                            {2, 8, timeline::ElementType::kInt8},
                                            {3, 16, timeline::ElementType::kInt16},
                                            {4, 32, timeline::ElementType::kInt32},
                                            {5, 64, timeline::ElementType::kInt64},
                                            {6, 8, timeline::ElementType::kUint8},
                                            {7, 16, std::nullopt},
                                            {8, 32, std::nullopt},
                                            {9, 64, std::nullopt},
                                            {10, 16, timeline::ElementType::kFloat16},
                                            {11, 32, timeline::ElementType::kFloat32},
                                            {12, 64, timeline::ElementType::kFloat64},
                                            {15, 64, std::nullopt},
                                            {16, 16, timeline::ElementType::kBfloat16},
                                            {18, 128, std::nullopt},
                                            {19, 8, timeline::ElementType::kFloat8E5m2},
                                            {20, 8, timeline::ElementType::kFloat8E4m3},
                                            {21, 4, std::nullopt},
                                            {22, 4, std::nullopt},
                                            {23, 8, std::nullopt},
                                            {24, 8, std::nullopt},
                                            {25, 8, std::nullopt},
                                            {28, 8, std::nullopt}}};

class HloReader {
 public:
  explicit HloReader(HloRoom& room) : room_(room) {}

  HloModule module(Wire& fields) {
    HloModule module;
    while (fields.next()) {
      switch (fields.field()) {
        case 1:
          module.name = text(fields);
          break;
        case 3:
          add_computation(fields, module);
          break;
        case 6:
          module.entry = fields.integer();
          break;
        case 7:
          fields.message([&](Wire& schedule) { read_schedule(schedule); });
          break;
        case 15:
          fields.message([&](Wire& devices) { read_devices(devices, module); });
          break;
        default:
          break;
      }
    }
    for (auto& [computation, order] : schedule_) {
      if (const auto found = module.computations.find(computation);
          found != module.computations.end()) {
        found->second.schedule = std::move(order);
      }
    }
    module.mesh = mesh_;
    return module;
  }

 private:
  std::string text(Wire& fields) {
    std::string value = fields.text(kLongestHloName);
    if (static_cast<std::int64_t>(value.size()) > room_.text) {
      ++room_.left_out;
      return {};
    }
    room_.text -= static_cast<std::int64_t>(value.size());
    return first_invalid_utf8(value) ? printable(value, kLongestHloName) : value;
  }

  void add_numbers(Wire& fields, std::vector<std::int64_t>& into) {
    fields.integers([&](std::int64_t value) {
      if (room_.numbers <= 0) {
        ++room_.left_out;
        return;
      }
      --room_.numbers;
      into.push_back(value);
    });
  }

  void add_computation(Wire& fields, HloModule& module) {
    HloComputation computation;
    fields.each([&](Wire& inner) {
      if (inner.field() == 5) {
        computation.id = inner.integer();
      } else if (inner.field() == 6) {
        computation.root = inner.integer();
      } else if (inner.field() == 2) {
        add_instruction(inner, computation);
      }
    });
    // An id that is there twice is a mistake of the file; the first stays.
    if (!computation.instructions.empty()) {
      module.computations.try_emplace(computation.id, std::move(computation));
    }
  }

  void add_instruction(Wire& fields, HloComputation& computation) {
    if (room_.instructions <= 0) {
      ++room_.left_out;
      return;
    }
    HloInstruction instruction;
    const bool is_whole = fields.each([&](Wire& inner) { take(inner, instruction); });
    if (!is_whole || (instruction.opcode.empty() && instruction.name.empty())) {
      ++room_.left_out;
      return;
    }
    --room_.instructions;
    computation.at.try_emplace(instruction.id, computation.instructions.size());
    computation.instructions.push_back(std::move(instruction));
  }

  // Source: xla/service/hlo.proto, HloInstructionProto.
  void take(Wire& fields, HloInstruction& instruction) {
    switch (fields.field()) {
      case 1:
        instruction.name = text(fields);
        break;
      case 2:
        instruction.opcode = text(fields);
        break;
      case 3:
        fields.message([&](Wire& shape) { read_shape(shape, instruction.shape); });
        break;
      case 7:
        fields.each([&](Wire& metadata) {
          if (metadata.field() == 2) {
            instruction.op_name = text(metadata);
          }
        });
        break;
      case 11:
        instruction.fusion_kind = text(fields);
        break;
      case 15:
        fields.message([&](Wire& window) { instruction.window = window_elements(window); });
        break;
      case 28:
        instruction.target = text(fields);
        break;
      case 35:
        instruction.id = fields.integer();
        break;
      case 36:
        add_numbers(fields, instruction.operands);
        break;
      case 38:
        add_numbers(fields, instruction.called);
        break;
      default:
        take_special(fields, instruction);
    }
  }

  static void read_convolution(Wire& fields, HloInstruction& instruction) {
    instruction.convolution = HloConvolution{};
    while (fields.next()) {
      if (fields.field() == 4) {
        instruction.convolution->kernel_output = fields.integer();
      }
    }
  }

  void take_special(Wire& fields, HloInstruction& instruction) {
    switch (fields.field()) {
      case 16:
        fields.message([&](Wire& convolution) { read_convolution(convolution, instruction); });
        break;
      case 26:
        instruction.channel = fields.integer();
        break;
      case 30:
        fields.each([&](Wire& dot) { add_if_first(dot, instruction.contracting); });
        break;
      case 40:
        fields.message([&](Wire& proto) {
          HloSharding sharding = read_sharding(proto);
          if (mesh_.empty()) {
            mesh_ = sharding.mesh;
          }
          instruction.sharding = std::move(sharding.text);
          room_.text -= static_cast<std::int64_t>(instruction.sharding.size());
        });
        break;
      case 43:
        take_config(fields.text(kLongestConfig), instruction);
        break;
      case 49:
        add_group(fields, instruction);
        break;
      case 71:
        instruction.uses_global_ids = fields.flag();
        break;
      case 87:
        fields.message([&](Wire& devices) { read_groups(devices, instruction); });
        break;
      default:
        break;
    }
  }

  void read_shape(Wire& fields, HloShape& leaves) {
    HloArray array;
    bool is_tuple = false;
    while (fields.next()) {
      if (fields.field() == 2) {
        array.type = static_cast<int>(std::clamp<std::int64_t>(fields.integer(), 0, 1000));
      } else if (fields.field() == 3) {
        add_numbers(fields, array.dimensions);
      } else if (fields.field() == 4) {
        is_tuple = true;
        fields.message([&](Wire& inner) { read_shape(inner, leaves); });
      }
    }
    if (!is_tuple && array.type != static_cast<int>(HloType::kTuple) && room_.numbers > 0) {
      --room_.numbers;
      leaves.push_back(std::move(array));
    }
  }

  static std::int64_t window_elements(Wire& window) {
    double elements = 1.0;
    const auto take_size = [&](Wire& dimension) {
      if (dimension.field() == 1) {
        elements *= static_cast<double>(std::max<std::int64_t>(dimension.integer(), 1));
      }
    };
    while (window.next()) {
      if (window.field() == 1) {
        window.each(take_size);
      }
    }
    return static_cast<std::int64_t>(std::min(elements, 1e15));
  }

  // cuBLAS's and cuDNN's calls say in a configuration (JSON) what a dot says in fields.
  static void take_config(std::string_view config, HloInstruction& instruction) {
    constexpr std::string_view kContracting = "\"lhs_contracting_dimensions\":[";
    if (const std::size_t at = config.find(kContracting); at != std::string_view::npos) {
      const std::string_view rest = config.substr(at + kContracting.size());
      for (const std::string_view word : split(rest.substr(0, rest.find(']')), ',')) {
        if (const auto dimension = to_integer(unquoted(trimmed(word)))) {
          instruction.contracting.push_back(*dimension);
        }
      }
    }
    instruction.is_causal =
        config.find("\"mask_type\":\"CAUSAL\"") != std::string_view::npos ||
        config.find("\"mask_type\":\"PADDING_CAUSAL\"") != std::string_view::npos;
  }

  void add_group(Wire& fields, HloInstruction& instruction) {
    std::vector<std::int64_t> ids;
    fields.each([&](Wire& group) { add_if_first(group, ids); });
    if (!ids.empty()) {
      instruction.groups.push_back(std::move(ids));
    }
  }

  // Source: xla/xla_data.proto, CollectiveDeviceListProto.
  void read_groups(Wire& fields, HloInstruction& instruction) {
    while (fields.next()) {
      if (fields.field() == 1) {
        add_group(fields, instruction);
      } else if (fields.field() == 2) {
        fields.message([&](Wire& iota) { read_iota(iota, instruction); });
      }
    }
  }

  // 0, 1, 2 … laid out as `reshape`, its dimensions in the order of `transpose`, cut into groups.
  void read_iota(Wire& fields, HloInstruction& instruction) {
    std::int64_t groups = 0;
    std::int64_t size = 0;
    std::vector<std::int64_t> reshape;
    std::vector<std::int64_t> transpose;
    while (fields.next()) {
      if (fields.field() == 1) {
        groups = fields.integer();
      } else if (fields.field() == 2) {
        size = fields.integer();
      } else if (fields.field() == 3) {
        add_numbers(fields, reshape);
      } else if (fields.field() == 4) {
        add_numbers(fields, transpose);
      }
    }
    constexpr std::int64_t kMostDevices = 1'000'000;
    if (groups < 1 || size < 1 || groups > kMostDevices / size || groups * size > room_.numbers) {
      ++room_.left_out;
      return;
    }
    const std::vector<std::int64_t> ids = transposed(reshape, transpose, groups * size);
    if (ids.empty()) {
      ++room_.left_out;
      return;
    }
    room_.numbers -= groups * size;
    for (std::int64_t group = 0; group < groups; ++group) {
      const auto first = ids.begin() + group * size;
      instruction.groups.emplace_back(first, first + size);
    }
  }

  // Empty where the dimensions don't multiply to `count` or the order is none.
  static std::vector<std::int64_t> transposed(const std::vector<std::int64_t>& reshape,
                                              const std::vector<std::int64_t>& transpose,
                                              std::int64_t count) {
    std::vector<std::int64_t> order = transpose;
    if (order.empty()) {
      for (std::size_t i = 0; i < reshape.size(); ++i) {
        order.push_back(static_cast<std::int64_t>(i));
      }
    }
    std::int64_t product = 1;
    for (const std::int64_t dimension : reshape) {
      if (dimension < 1 || dimension > count / product) {
        return {};
      }
      product *= dimension;
    }
    std::vector<std::int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    bool is_order = product == count && order.size() == reshape.size();
    for (std::size_t i = 0; is_order && i < sorted.size(); ++i) {
      is_order = sorted[i] == static_cast<std::int64_t>(i);
    }
    if (!is_order) {
      return {};
    }
    std::vector<std::int64_t> stride(reshape.size(), 1);
    for (std::size_t i = reshape.size(); i-- > 1;) {
      stride[i - 1] = stride[i] * reshape[i];
    }
    std::vector<std::int64_t> ids;
    ids.reserve(static_cast<std::size_t>(count));
    for (std::int64_t at = 0; at < count; ++at) {
      std::int64_t rest = at;
      std::int64_t id = 0;
      for (std::size_t i = order.size(); i-- > 0;) {
        const auto dimension = static_cast<std::size_t>(order[i]);
        id += rest % reshape[dimension] * stride[dimension];
        rest /= reshape[dimension];
      }
      ids.push_back(id);
    }
    return ids;
  }

  void read_schedule(Wire& fields) {
    while (fields.next()) {
      if (fields.field() == 1) {
        read_order(fields);
      }
    }
  }

  // Of one computation.
  void read_order(Wire& fields) {
    std::int64_t computation = 0;
    std::vector<std::int64_t> order;
    fields.each([&](Wire& entry) {
      if (entry.field() == 1) {
        computation = entry.integer();
      } else if (entry.field() == 2) {
        entry.each([&](Wire& sequence) { add_if_first(sequence, order); });
      }
    });
    if (!order.empty()) {
      schedule_.insert_or_assign(computation, std::move(order));
    }
  }

  // Numbers of field 1.
  void add_if_first(Wire& fields, std::vector<std::int64_t>& into) {
    if (fields.field() == 1) {
      add_numbers(fields, into);
    }
  }

  // Source: xla/xla_data.proto, DeviceAssignmentProto.
  void read_devices(Wire& fields, HloModule& module) {
    while (fields.next()) {
      if (fields.field() == 1) {
        module.replicas = std::clamp<std::int64_t>(fields.integer(), 1, 1'000'000);
      } else if (fields.field() == 2) {
        module.partitions = std::clamp<std::int64_t>(fields.integer(), 1, 1'000'000);
      } else if (fields.field() == 3) {
        std::vector<std::int64_t> replicas;
        fields.each([&](Wire& devices) { add_if_first(devices, replicas); });
        if (!replicas.empty()) {
          module.devices.push_back(std::move(replicas));
        }
      }
    }
  }

  HloRoom& room_;
  std::map<std::int64_t, std::vector<std::int64_t>> schedule_;
  std::string mesh_;
};

}  // namespace

int bits_of(int type) {
  for (const TypeFacts& facts : kTypes) {
    if (facts.type == type) {
      return facts.bits;
    }
  }
  return 0;
}

std::optional<timeline::ElementType> element_of(int type) {
  for (const TypeFacts& facts : kTypes) {
    if (facts.type == type) {
      return facts.element;
    }
  }
  return std::nullopt;
}

double HloArray::elements() const {
  double product = 1.0;
  for (const std::int64_t dimension : dimensions) {
    product *= static_cast<double>(std::max<std::int64_t>(dimension, 0));
  }
  return product;
}

double HloArray::bytes() const {
  return elements() * bits_of(type) / 8.0;
}

const HloInstruction* HloComputation::find(std::int64_t instruction) const {
  const auto found = at.find(instruction);
  return found == at.end() ? nullptr : &instructions[found->second];
}

std::optional<HloModule> read_hlo(Wire& proto, HloRoom& room) {
  std::optional<HloModule> module;
  while (proto.next()) {
    if (proto.field() == 1 && !module) {
      proto.message([&](Wire& fields) { module = HloReader(room).module(fields); });
    }
  }
  return module && !module->computations.empty() ? std::move(module) : std::nullopt;
}

void index_by_name(HloModule& module) {
  for (const auto& [id, computation] : module.computations) {
    for (const HloInstruction& instruction : computation.instructions) {
      if (module.by_name.try_emplace(instruction.name, &instruction).second) {
        module.computation_of.try_emplace(instruction.name, &computation);
      }
    }
  }
}

}  // namespace sextant::profile
