#include "timeline/label.h"

#include <array>
#include <cassert>
#include <functional>

namespace sextant::timeline {
namespace {

class Hash {
 public:
  template <typename T>
  Hash& operator<<(const T& value) {
    hash_ ^= std::hash<T>()(value) + 0x9e3779b97f4a7c15U + (hash_ << 6U) + (hash_ >> 2U);
    return *this;
  }
  template <typename T>
  Hash& operator<<(const std::optional<T>& value) {
    *this << value.has_value();
    return value ? *this << *value : *this;
  }
  template <int S, int B, int F, int J, int D>
  Hash& operator<<(const Quantity<S, B, F, J, D>& quantity) {
    return *this << quantity.base();
  }
  template <typename Tag>
  Hash& operator<<(const Id<Tag>& id) {
    return *this << id.value;
  }
  Hash& operator<<(const Collective& collective) {
    return *this << collective.op << collective.word << collective.element << collective.group
                 << collective.input << collective.output << collective.sender
                 << collective.receiver;
  }
  Hash& operator<<(const Operation& operation) {
    return *this << operation.name << operation.category << operation.module;
  }
  Hash& operator<<(const OperatorCall& call) {
    *this << call.use << call.unit << call.is_differentiated << call.pass;
    for (const auto* tensors : {&call.inputs, &call.outputs}) {
      *this << tensors->size();
      for (const Tensor& tensor : *tensors) {
        *this << tensor.dims.size() << tensor.element;
        for (const std::int64_t dim : tensor.dims) {
          *this << dim;
        }
      }
    }
    return *this;
  }
  [[nodiscard]] std::size_t value() const { return hash_; }

 private:
  std::size_t hash_ = 0;
};

}  // namespace

std::string_view name_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::kCompute:
      return "compute";
    case SpanKind::kCommunication:
      return "communication";
    case SpanKind::kCopy:
      return "copy";
    case SpanKind::kHost:
      return "host";
    case SpanKind::kIdle:
      return "idle";
    case SpanKind::kMark:
      return "mark";
  }
  return "?";
}

std::string_view name_of(OperatorUse use) {
  constexpr std::array<std::string_view, kOperatorUses> kNames{
      "product",   "convolution", "attention", "softmax", "norm",  "elementwise",
      "reduction", "copy",        "embedding", "loss",    "update"};
  return kNames[static_cast<std::size_t>(use)];
}

std::string_view name_of(ProductUnit unit) {
  constexpr std::array<std::string_view, kProductUnits> kNames{"vector", "tf32", "tensor"};
  return kNames[static_cast<std::size_t>(unit)];
}

const ElementFormat& format_of(ElementType type) {
  const ElementFormat& format = kElementFormats[static_cast<std::size_t>(type)];
  assert(format.type == type);
  return format;
}

std::size_t hash_of(const Group& group) {
  Hash hash;
  hash << group.name << group.size << group.description;
  for (const RankId rank : group.ranks) {
    hash << rank;
  }
  return hash.value();
}

std::size_t hash_of(const Label& label) {
  Hash hash;
  hash << label.kind << label.name << label.bytes << label.flops << label.collective
       << label.operation << label.call;
  return hash.value();
}

std::size_t stored_bytes(const Group& group) {
  return sizeof(Group) + group.name.size() + group.description.size() +
         group.ranks.size() * sizeof(RankId);
}

std::size_t stored_bytes(const Label& label) {
  const auto of = [](const Operation& operation) {
    return operation.name.size() + operation.category.size() + operation.module.size();
  };
  std::size_t call = 0;
  if (label.call) {
    for (const auto* tensors : {&label.call->inputs, &label.call->outputs}) {
      for (const Tensor& tensor : *tensors) {
        call += sizeof(Tensor) + tensor.dims.size() * sizeof(std::int64_t);
      }
    }
  }
  return sizeof(Label) + call + label.name.size() +
         (label.collective ? label.collective->word.size() : 0) +
         (label.operation ? of(*label.operation) : 0);
}

}  // namespace sextant::timeline
