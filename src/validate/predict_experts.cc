#include "validate/predict_experts.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "describe/assumption.h"

namespace sextant::validate {
namespace {

using cost::ExpertExchange;
using cost::ExpertLibrary;
using cost::ExpertMode;
using cost::ExpertOp;
using describe::ExpertCommFacts;
using measured::Answer;
using measured::EpAllToAllSubject;
using measured::EpOperation;
using measured::Prediction;
using measured::Refusal;

// DeepSeek-V3's layer, which every table that leaves the number out follows.
constexpr std::int64_t kUsualExperts = 256;
// Ranks of one domain in the measured tables. Beyond, the libraries' kernels differ.
constexpr std::int64_t kMeasuredDomain = 8;

// A row as the model takes it.
struct AskedExchange {
  ExpertExchange call;
  describe::Assumptions assumed;
  bool determined = true;  // false: a rate or a shape is not known well
};

std::optional<ExpertLibrary> library_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, ExpertLibrary>, 4> kNames{
      {{"DeepEP via SGLang", ExpertLibrary::kDeepEp},
       {"DeepEP V1", ExpertLibrary::kDeepEpRelease},
       {"DeepEP V2", ExpertLibrary::kDeepEpV2},
       {"UCCL-EP", ExpertLibrary::kUcclEp}}};
  for (const auto& [name, library] : kNames) {
    if (text == name) {
      return library;
    }
  }
  return std::nullopt;
}

std::optional<ExpertMode> mode_of(std::string_view text, ExpertLibrary library) {
  const bool v2 = library == ExpertLibrary::kDeepEpV2;
  if (text == (v2 ? "unified" : "normal")) {
    return ExpertMode::kNormal;
  }
  return !v2 && text == "low_latency" ? std::optional(ExpertMode::kLowLatency) : std::nullopt;
}

Result<void> set_kernels(const EpAllToAllSubject& subject, ExpertExchange& call) {
  const auto library = library_of(subject.library);
  if (!library) {
    return invalid(fmt::format("expert library \"{}\" is not modelled", subject.library));
  }
  const auto mode = mode_of(subject.mode, *library);
  if (!mode || subject.op == EpOperation::kAllToAll) {
    return invalid(fmt::format("{} {} is not modelled", subject.library, subject.mode));
  }
  call.library = *library;
  call.mode = *mode;
  call.op = subject.op == EpOperation::kDispatch ? ExpertOp::kDispatch : ExpertOp::kCombine;
  return {};
}

// How many tokens of which size go to how many experts.
Result<void> set_shape(const EpAllToAllSubject& subject, const ExpertCommFacts& facts,
                       AskedExchange& asked) {
  ExpertExchange& call = asked.call;
  call.ranks = subject.ep;
  call.tokens = subject.tokens_per_rank.value_or(0);
  call.topk = subject.topk.value_or(0);
  call.experts = subject.experts.value_or(kUsualExperts);
  call.topk_domains = subject.topk_groups.value_or(0);
  call.sms = subject.sms.value_or(facts.sms.value);
  if (!subject.experts) {
    asked.assumed.push_back({"experts", std::to_string(call.experts), "not stated", {}});
  }
  if (!subject.sms && call.mode == ExpertMode::kNormal) {
    asked.assumed.push_back({"sms", std::to_string(call.sms), "not stated", {}});
  }
  const bool dispatch = call.op == ExpertOp::kDispatch;
  if (subject.dtype.empty()) {
    asked.assumed.push_back(
        {"dtype", dispatch ? "fp8" : "bf16", "of the tokens sent: not stated", {}});
  } else if (subject.dtype != "fp8" && subject.dtype != "bf16") {
    return invalid(fmt::format("expert tokens in \"{}\" are not modelled", subject.dtype));
  }
  const bool fp8 = subject.dtype.empty() ? dispatch : subject.dtype == "fp8";
  const std::int64_t hidden = subject.hidden.value_or(0);
  call.token = fp8 ? cost::fp8_token(hidden) : cost::bf16_token(hidden);
  if (call.ranks < 1 || call.tokens < 1 || call.topk < 1 || hidden < 1 || call.sms < 1) {
    return invalid("message shape not stated: tokens_per_rank, hidden, topk");
  }
  if (call.topk > call.experts) {
    return invalid(fmt::format("top-{} of {} experts", call.topk, call.experts));
  }
  return {};
}

// Domains and the rates of the links.
Result<void> set_links(const EpAllToAllSubject& subject, const describe::Cluster& cluster,
                       AskedExchange& asked) {
  ExpertExchange& call = asked.call;
  // A domain that spans nodes (NVL72) counts by itself; else a node is one.
  const std::int64_t domain = subject.links.domain_size.value_or(cluster.system.domain_size.value);
  call.domains = domain > cluster.devices_per_node() ? (call.ranks + domain - 1) / domain
                                                     : std::min(subject.nodes, call.ranks);
  if (call.domains < 1) {
    return invalid("nodes not stated");
  }
  if (call.ranks > call.domains * kMeasuredDomain) {
    asked.determined = false;
    asked.assumed.push_back(
        {"domain", "kernels of at most 8 ranks a domain hold for more", {}, {}});
  }
  // The device's own rate: texts of these tables print what is reached ("~160 GB/s" of 200).
  if (!cluster.device.scale_up_bandwidth) {
    return invalid(fmt::format("scale-up rate of {} not known", cluster.device.id));
  }
  call.scale_up = cluster.device.scale_up_bandwidth->value;
  if (call.domains == 1) {
    return {};
  }
  call.efa = subject.links.fabric == describe::FabricFamily::kEfa;
  if (const auto stated = subject.links.network_rate) {
    call.network = *stated;
    return {};
  }
  const auto usual = cluster.network_per_device();
  if (!usual || *usual <= BytesPerSecond()) {
    return invalid("network rate not stated");
  }
  call.network = *usual;
  asked.determined = false;
  asked.assumed.push_back({"network", fmt::format("{} a device", to_text(*usual)),
                           fmt::format("as in {}", cluster.system.id),
                           fmt::format("systems/{}.toml", cluster.system.id)});
  return {};
}

// Measured on one cluster only, or not at all.
Result<void> check_class(AskedExchange& asked) {
  const ExpertExchange& call = asked.call;
  if (call.library == ExpertLibrary::kDeepEpV2 && call.domains == 1) {
    return invalid("DeepEP V2 inside one domain is in no table: its copy rates are not known");
  }
  constexpr std::int64_t kMeasuredDomains = 8;
  if (call.library == ExpertLibrary::kDeepEp && call.domains > kMeasuredDomains) {
    asked.determined = false;
    asked.assumed.push_back(
        {"buffers", "beyond 8 domains the default ones slow down as they do up to 8", {}, {}});
  }
  return {};
}

double spread_of(const AskedExchange& asked, const ExpertCommFacts& facts) {
  const bool crosses = asked.call.domains > 1;
  if (crosses && asked.call.efa) {
    return facts.efa_spread.value;
  }
  if (!asked.determined) {
    return facts.undetermined_spread.value;
  }
  return crosses ? facts.network_spread.value : facts.one_domain_spread.value;
}

// The bytes that a table divides by the time. Copies that stay at home count.
Result<Bytes> counted_bytes(std::string_view kind, const ExpertExchange& call) {
  const cost::ExpertReach reach = cost::expert_reach(call);
  const Bytes tokens = call.token * static_cast<double>(call.tokens);
  if (call.mode == ExpertMode::kLowLatency && kind == "RDMA") {
    return tokens * static_cast<double>(call.topk);
  }
  if (call.mode == ExpertMode::kNormal && kind.starts_with("RDMA bottleneck")) {
    return tokens * reach.domains;
  }
  if (call.mode == ExpertMode::kNormal &&
      (kind.starts_with("NVLink bottleneck") || kind.starts_with("xGMI bottleneck"))) {
    return tokens * reach.ranks;
  }
  return invalid(fmt::format("bandwidth \"{}\" is not defined: which bytes it counts", kind));
}

// In the row's own unit.
Result<double> exchange_value(const measured::Row& row, std::string_view kind,
                              const ExpertExchange& call, Seconds time) {
  if (row.quantity == "time_us") {
    return time / 1_us;
  }
  if (row.quantity != "bandwidth_GBps" || time <= Seconds()) {
    return invalid(fmt::format("{} of an expert exchange is not modelled", row.quantity));
  }
  SEXTANT_TRY(const Bytes bytes, counted_bytes(kind, call));
  return bytes / time / 1_GBps;
}

Result<Prediction> exchange_prediction(const measured::Row& row, const EpAllToAllSubject& subject,
                                       const ExpertCommFacts& facts, measured::Hardware& hardware) {
  SEXTANT_TRY(const describe::Device* device, hardware.device(subject.device.value_or("")));
  if (device == nullptr) {
    return invalid("device not stated");
  }
  const describe::ExpertKernelFacts* kernels = facts.kernels_of(device->generation);
  if (kernels == nullptr) {
    return invalid(fmt::format("expert kernels were not measured on {} (generation {})", device->id,
                               device->generation));
  }
  AskedExchange asked;
  SEXTANT_CHECK_OK(set_kernels(subject, asked.call));
  SEXTANT_CHECK_OK(set_shape(subject, facts, asked));
  SEXTANT_TRY(const describe::Cluster cluster, hardware.cluster(subject.ep, *device));
  SEXTANT_CHECK_OK(set_links(subject, cluster, asked));
  SEXTANT_CHECK_OK(check_class(asked));
  const cost::ExpertTime time = cost::expert_time(asked.call, cost::expert_model(facts, *kernels));
  SEXTANT_TRY(const double value,
              exchange_value(row, subject.bandwidth_kind, asked.call, time.total()));
  const double spread = spread_of(asked, facts);
  return Prediction{value, std::pair(value / spread, value * spread), std::move(asked.assumed)};
}

}  // namespace

Answer ExpertPredictor::operator()(const measured::Row& row) {
  const auto* subject = std::get_if<EpAllToAllSubject>(&row.subject);
  if (subject == nullptr) {
    return Refusal{"not modelled yet"};
  }
  if (!facts_) {
    auto read = describe::expert_comm_facts(data_);
    if (!read) {
      return Refusal{to_text(read.error())};
    }
    facts_ = std::move(*read);
  }
  auto prediction = exchange_prediction(row, *subject, *facts_, hardware_);
  if (!prediction) {
    return Refusal{prediction.error().what};
  }
  return std::move(*prediction);
}

}  // namespace sextant::validate
