#include "profile/kineto_labels.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "profile/kineto_collective.h"
#include "profile/kineto_shapes.h"

namespace sextant::profile {
namespace {

using timeline::Label;
using timeline::SpanKind;

// A collective's work on the host, where the host carries it out. Source: torch, c10d's
// ProcessGroupGloo.cpp and ProcessGroupMPI.cpp, the titles of their operations; those of other
// backends only enclose the launch of a kernel.
bool is_host_communication(std::string_view name) {
  return name.starts_with("gloo:") || name.starts_with("mpi:");
}

bool tells_collective(KinetoRole role, std::string_view name) {
  return (role == KinetoRole::kOperator && name == "record_param_comms") ||
         (role == KinetoRole::kHostMark && name.starts_with("nccl:"));
}

SpanKind kind_of(KinetoRole role, std::string_view name, const Recognised& recognised) {
  switch (role) {
    case KinetoRole::kKernel:
      return recognised.kind.value_or(SpanKind::kCompute);
    case KinetoRole::kCopy:
      return SpanKind::kCopy;
    case KinetoRole::kDeviceMark:
      return SpanKind::kMark;
    case KinetoRole::kHostMark:
      return is_host_communication(name) ? SpanKind::kCommunication : SpanKind::kMark;
    case KinetoRole::kCall:
    case KinetoRole::kOperator:
    case KinetoRole::kPython:
    case KinetoRole::kOverhead:
    case KinetoRole::kSync:
    case KinetoRole::kLeftOut:
    case KinetoRole::kUnknown:
      break;
  }
  return SpanKind::kHost;
}

std::optional<Bytes> larger(std::optional<Bytes> a, std::optional<Bytes> b) {
  return a && b ? std::max(*a, *b) : a ? a : b;
}

}  // namespace

KnownName KinetoLabels::named(const RawEvent& event) const {
  KnownName known;
  known.role = kineto_role(event.cat.text);
  const std::string name = unescaped(event.name);
  const bool may_be_step =
      known.role == KinetoRole::kHostMark || known.role == KinetoRole::kOperator;
  known.is_step = may_be_step && name.starts_with("ProfilerStep#");
  known.tells_collective = tells_collective(known.role, name);
  const bool is_asked = known.role == KinetoRole::kKernel || is_host_communication(name);
  const Recognised recognised = is_asked ? recognition_.of(name) : Recognised{};
  known.label = Label{kind_of(known.role, name, recognised), name, {}, {}};
  if (known.is_step) {
    known.label.kind = SpanKind::kMark;
  }
  if (known.label.kind == SpanKind::kCommunication) {
    known.label.collective =
        timeline::Collective{.op = recognised.op, .element = recognised.element};
  }
  if (recognised.use || recognised.unit) {
    known.label.call = timeline::OperatorCall{.use = recognised.use, .unit = recognised.unit};
  }
  if (known.role == KinetoRole::kOperator) {
    known.facts = operators_.of(name);
    if (known.facts != nullptr) {
      known.label.call = timeline::OperatorCall{.use = known.facts->use};
    }
  }
  return known;
}

KnownName& KinetoLabels::known(const RawEvent& event) {
  const RawTable::Found found =
      names_.find_or_add(RawTable::Parts<2>{event.cat.text, event.name.text});
  if (found.number == RawTable::kNoRoom) {
    unnamed_ += 1;
    unnamed_name_ = {};
    unnamed_name_.role = kineto_role(event.cat.text);
    unnamed_name_.label = Label{
        kind_of(unnamed_name_.role, "", {}), std::string(timeline::Timeline::kOtherName), {}, {}};
    return unnamed_name_;
  }
  if (found.is_new) {
    known_.push_back(named(event));
  }
  return known_[found.number];
}

timeline::LabelId KinetoLabels::plain(KnownName& known) {
  if (!known.has_id) {
    known.id = timeline_.label(known.label);
    known.has_id = true;
  }
  return known.id;
}

timeline::Label KinetoLabels::operator_label(const KnownName& known,
                                             const KinetoArguments& arguments) const {
  Label label = known.label;
  timeline::OperatorCall& call =
      label.call.emplace(timeline::OperatorCall{.use = known.facts->use});
  const KinetoInputs inputs = kineto_inputs(arguments);
  call.inputs = inputs.tensors;
  call.is_differentiated = arguments.autograd_sequence.is_number();
  OperatorArguments counted{.inputs = inputs.by_place,
                            .is_causal = std::nullopt,
                            .writes_first = label.name.ends_with('_')};
  if (known.facts->causal) {
    counted.is_causal = mask_argument(arguments, *known.facts->causal);
  }
  const OperatorAmounts amounts = amounts_of(*known.facts, counted);
  label.flops = amounts.flops;
  label.bytes = amounts.bytes;
  return label;
}

timeline::LabelId KinetoLabels::operation(KnownName& known, std::string_view arguments) {
  constexpr std::string_view kSequence = "\"Sequence number\"";
  if (known.facts == nullptr || arguments.find("\"Input Dims\"") == std::string_view::npos) {
    if (arguments.find(kSequence) == std::string_view::npos) {
      return plain(known);
    }
    if (!known.has_differentiated) {
      Label label = known.label;
      label.call = label.call.value_or(timeline::OperatorCall{});
      label.call->is_differentiated = true;
      known.differentiated = timeline_.label(label);
      known.has_differentiated = true;
    }
    return known.differentiated;
  }
  const KinetoArguments all = kineto_arguments(arguments);
  const std::string_view values = known.facts->causal ? all.input_values.text : std::string_view();
  const RawTable::Found found = variants_.find_or_add(
      RawTable::Parts<6>{"operator", known.label.name, all.input_dims.text, all.input_types.text,
                         values, all.autograd_sequence.is_number() ? "recorded" : ""});
  if (found.number == RawTable::kNoRoom) {
    return plain(known);
  }
  if (found.is_new) {
    variant_labels_.push_back(timeline_.label(operator_label(known, all)));
  }
  return variant_labels_[found.number];
}

timeline::LabelId KinetoLabels::copy(const KnownName& known, const RawValue& bytes) {
  const RawTable::Found found =
      variants_.find_or_add(RawTable::Parts<3>{"copy", known.label.name, bytes.text});
  if (!found.is_new && found.number != RawTable::kNoRoom) {
    return variant_labels_[found.number];
  }
  Label label = known.label;
  const auto count = integer_of(bytes);
  if (count && *count >= 0) {
    label.bytes = Bytes(static_cast<double>(*count));
  }
  const timeline::LabelId id = timeline_.label(label);
  if (found.is_new) {
    variant_labels_.push_back(id);
  }
  return id;
}

const KinetoLabels::LinkOf* KinetoLabels::link_of(const KinetoArguments& arguments) const {
  const auto external = integer_of(arguments.external_id);
  if (arguments.external_id.text == arguments.correlation.text) {
    return nullptr;
  }
  const auto at = external ? links_.find(*external) : links_.end();
  return at == links_.end() ? nullptr : &at->second;
}

timeline::Occurrence KinetoLabels::communication(const KnownName& known,
                                                 const KinetoArguments& arguments,
                                                 const LinkOf* linked) {
  timeline::Occurrence what;
  const Link* link = linked == nullptr ? nullptr : &link_values_[linked->number];
  const std::string_view link_text =
      link == nullptr ? std::string_view()
                      : std::string_view(reinterpret_cast<const char*>(&linked->number),
                                         sizeof(linked->number));
  const RawTable::Found found = variants_.find_or_add(RawTable::Parts<15>{
      "collective", known.label.name, link_text, arguments.collective_name.text,
      arguments.in_elements.text, arguments.out_elements.text, arguments.element.text,
      arguments.group_size.text, arguments.group_name.text, arguments.group_description.text,
      arguments.group_ranks.text, arguments.sender.text, arguments.receiver.text,
      arguments.input_dims.text, arguments.input_types.text});
  if (!found.is_new && found.number != RawTable::kNoRoom) {
    what.label = variant_labels_[found.number];
  } else {
    what.label = variant_label(found.number, known, arguments, link);
  }
  const auto sequence =
      linked != nullptr && linked->sequence ? linked->sequence : integer_of(arguments.sequence);
  if (sequence) {
    what.sequence = timeline::SequenceNumber{*sequence};
  }
  return what;
}

timeline::LabelId KinetoLabels::variant_label(std::uint32_t number, const KnownName& known,
                                              const KinetoArguments& arguments, const Link* link) {
  Label label = known.label;
  timeline::Collective collective = says_collective(arguments) ? collective_of(arguments, timeline_)
                                    : link != nullptr          ? link->collective
                                                               : timeline::Collective{};
  const timeline::Collective by_name = known.label.collective.value_or(timeline::Collective{});
  if (!collective.op) {
    collective.op = by_name.op;
  }
  if (!collective.element) {
    collective.element = by_name.element ? by_name.element : tensor_element(arguments);
  }
  label.bytes = larger(collective.input, collective.output);
  if (!label.bytes) {
    label.bytes = link != nullptr ? link->bytes : tensor_bytes(arguments);
  }
  label.collective = std::move(collective);
  const timeline::LabelId id = timeline_.label(label);
  if (number != RawTable::kNoRoom) {
    variant_labels_.push_back(id);
  }
  return id;
}

std::optional<KinetoLabels::LinkOf> KinetoLabels::remember(const KnownName& known,
                                                           const KinetoArguments& arguments) {
  const auto external = integer_of(arguments.external_id);
  if (links_.size() >= kMostLinks) {
    return std::nullopt;
  }
  const bool is_said = says_collective(arguments);
  if (!is_said && !arguments.input_dims.is_nested()) {
    return std::nullopt;
  }
  const RawTable::Found found = link_texts_.find_or_add(RawTable::Parts<13>{
      known.label.name, arguments.collective_name.text, arguments.in_elements.text,
      arguments.out_elements.text, arguments.element.text, arguments.group_size.text,
      arguments.group_name.text, arguments.group_description.text, arguments.group_ranks.text,
      arguments.sender.text, arguments.receiver.text, arguments.input_dims.text,
      arguments.input_types.text});
  if (found.number == RawTable::kNoRoom) {
    return std::nullopt;
  }
  if (found.is_new) {
    Link link;
    if (is_said) {
      link.collective = collective_of(arguments, timeline_);
    } else {
      link.collective.element = tensor_element(arguments);
    }
    link.bytes = tensor_bytes(arguments);
    link_values_.push_back(std::move(link));
  }
  const LinkOf what{found.number, integer_of(arguments.sequence)};
  if (external) {
    links_.try_emplace(*external, what);
  }
  return what;
}

}  // namespace sextant::profile
