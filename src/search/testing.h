// Random problems small enough to be tried layout by layout, and every layout of them. Only tests
// include this.
#pragma once

#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "base/integers.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/framework_defaults.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/legality.h"
#include "describe/layout/pipeline_split.h"
#include "describe/model/load_model.h"
#include "describe/torus_facts.h"
#include "search/space.h"
#include "search/splits.h"

namespace sextant::search {

class AnyProblem {
 public:
  explicit AnyProblem(unsigned seed) : random_(seed) {}

  template <typename T>
  T one_of(const std::vector<T>& values) {
    return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random_)];
  }

  Problem problem() {
    using describe::Framework;
    const describe::DataStore data;
    Problem problem;
    describe::Job& job = problem.job;
    job.framework = one_of<Framework>(
        {Framework::kMegatronCore, Framework::kMegatronCore, Framework::kMegatronCore,
         Framework::kTorchtitan, Framework::kMaxtext, Framework::kMegatronDeepspeed,
         Framework::kDeepspeed, Framework::kNanotron, Framework::kAccelerate, Framework::kFsdp1});
    job.model = *describe::load_model(
        one_of<std::string>({"llama-3.2-1b", "gpt2", "llama-3.1-8b", "deepseek-v2-lite-16b",
                             "granite-3.1-3b-a800m", "qwen3-next-80b-a3b"}),
        data);
    job.model.layers.resize(
        std::min<std::size_t>(job.model.layers.size(), one_of<std::size_t>({2, 3, 4, 5, 6, 8})));
    job.cluster = *describe::load_cluster("8xh100-sxm", data);
    job.cluster.devices = one_of<std::int64_t>({2, 4, 4, 6, 8, 12, 16});
    job.global_batch = one_of<std::int64_t>({4, 6, 8, 12, 16, 32});
    job.sequences.length = one_of<std::int64_t>({512, 1024, 2048});
    describe::fill_defaults(job.layout, {}, job.framework);
    problem.memory = *describe::memory_facts(data, job.framework);
    const auto domain = one_of<std::int64_t>({2, 4, 6, 8});
    job.cluster.system.domain_size.value = domain;  // rules ask for it too
    problem.machine = machine(data, domain);
    problem.headroom = one_of<double>({0.05, 0.5, 0.8, 0.9, 0.95});
    narrow(problem);
    return problem;
  }

  // A model with experts on two slices of four chips.
  static Problem two_slices() {
    const describe::DataStore data;
    Problem problem;
    describe::Job& job = problem.job;
    job.framework = describe::Framework::kMaxtext;
    job.model = *describe::load_model("granite-3.1-3b-a800m", data);
    job.model.layers.resize(2);
    job.cluster = *describe::load_cluster("2xv6e-4", data);
    job.global_batch = 16;
    job.sequences.length = 1024;
    describe::fill_defaults(job.layout, {}, job.framework);
    problem.memory = *describe::memory_facts(data, job.framework);
    problem.machine = slices(data, job.cluster, 1.0);
    return problem;
  }

  // Tensor parallelism may leave the scale-up domains, where its messages cannot be hidden.
  static Problem small_domains() {
    const describe::DataStore data;
    Problem problem;
    describe::Job& job = problem.job;
    job.model = *describe::load_model("llama-3.1-8b", data);
    job.model.layers.resize(2);
    job.cluster = *describe::load_cluster("8xh100-sxm", data);
    job.cluster.system.domain_size.value = 2;
    job.global_batch = 8;
    job.sequences.length = 1024;
    describe::fill_defaults(job.layout, {}, job.framework);
    problem.memory = *describe::memory_facts(data, job.framework);
    problem.machine = machine(data, 2);
    problem.fixed = {"cp", "pp", "mbs", "recompute", "zero"};
    return problem;
  }

  // MaxText on several slices of TPUs: who crosses them is searched too.
  Problem problem_on_slices() {
    const describe::DataStore data;
    Problem problem;
    describe::Job& job = problem.job;
    job.framework = describe::Framework::kMaxtext;
    job.model =
        *describe::load_model(one_of<std::string>({"llama-3.2-1b", "llama-3.1-8b",
                                                   "deepseek-v2-lite-16b", "granite-3.1-3b-a800m"}),
                              data);
    job.model.layers.resize(
        std::min<std::size_t>(job.model.layers.size(), one_of<std::size_t>({2, 3, 4, 6, 8})));
    job.cluster = *describe::load_cluster(
        one_of<std::string>({"2xv6e-4", "2xv6e-8", "4xv6e-4", "4xv6e-8", "2xv5p-16", "8xv6e-4"}),
        data);
    job.global_batch = one_of<std::int64_t>({8, 16, 32, 512});
    job.sequences.length = one_of<std::int64_t>({512, 1024, 2048, 8192});
    describe::fill_defaults(job.layout, {}, job.framework);
    problem.memory = *describe::memory_facts(data, job.framework);
    // A torus of a hundredth of the speed: whoever stays inside slices loses.
    problem.machine = slices(data, job.cluster, one_of<double>({1.0, 1.0, 0.01}));
    problem.headroom = one_of<double>({0.05, 0.5, 0.8, 0.9, 0.95});
    // Free, dp would stand alone and cross slices in every order.
    if (one_of<int>({0, 1}) == 1) {
      job.layout.pp = 2;
      problem.fixed.emplace_back("pp");
    }
    if (one_of<int>({0, 0, 1}) == 1) {
      job.layout.cp = 2;
      problem.fixed.emplace_back("cp");
    }
    narrow(problem);
    return problem;
  }

 private:
  // `links`: times the rate of the torus' own.
  static step::StepModel slices(const describe::DataStore& data, const describe::Cluster& cluster,
                                double links) {
    step::StepModel model;
    model.device = *cost::device_model(data, cluster.device);
    model.host = *describe::host_facts(data);
    model.facts = *describe::step_facts(data);
    const BytesPerSecond rate = cluster.network_per_device().value_or(BytesPerSecond());
    model.comm =
        cost::comm_model(std::nullopt, std::nullopt,
                         *describe::network_facts(describe::FabricFamily::kDcn, rate, data), rate);
    model.domain_size = cluster.devices / cluster.slices;
    if (const auto& link = cluster.device.ici_link_bandwidth) {
      const describe::TorusFacts torus = *describe::torus_facts(data);
      model.torus = step::Torus{cost::torus_axes(cluster),
                                {link->value * (torus.share.value * links), torus.hop.value}};
    }
    return model;
  }

  static step::StepModel machine(const describe::DataStore& data, std::int64_t domain) {
    step::StepModel model;
    model.device = *cost::device_model(data, *describe::load_device("h100-sxm", data));
    model.host = *describe::host_facts(data);
    model.facts = *describe::step_facts(data);
    model.comm = cost::comm_model(*describe::load_link_facts("nvlink4", data), std::nullopt,
                                  *describe::load_network_facts("ib", data), 50_GBps);
    model.domain_size = domain;
    return model;
  }

  // Fixes keys until what is left can be tried one by one.
  void narrow(Problem& problem) {
    std::vector<std::string> keys{"cp", "mbs", "order", "cp_method", "etp", "overlap", "recompute",
                                  "ep", "vpp", "zero",  "schedule",  "tp",  "sp"};
    std::shuffle(keys.begin(), keys.end(), random_);
    const double most = one_of<double>({100.0, 300.0, 1000.0});
    for (const std::string& key : keys) {
      if (Space(problem).count() <= most) {
        return;
      }
      problem.fixed.push_back(key);
    }
  }

  std::mt19937 random_;
};

// Every layout of the space, found by trying each combination of choices against the rules: nothing
// of Space is asked.
class EveryLayout {
 public:
  explicit EveryLayout(const Problem& problem)
      : problem_(problem), choices_(choices_of(problem)), job_(problem.job) {}

  std::vector<describe::Layout> list() {
    for (const std::int64_t tp : choices_.tp) {
      for (const std::int64_t cp : choices_.cp) {
        for (const std::int64_t ep : choices_.ep) {
          for (const std::int64_t etp : choices_.etp) {
            for (const std::int64_t mbs : choices_.mbs) {
              for (const std::int64_t pp : choices_.pp) {
                describe::Layout layout = problem_.job.layout;
                layout.tp = tp;
                layout.cp = cp;
                layout.ep = ep;
                layout.etp = etp;
                layout.mbs = mbs;
                layout.pp = pp;
                layout.dp = 0;
                if (divides(layout)) {
                  add_pipelines(layout);
                }
              }
            }
          }
        }
      }
    }
    return std::move(list_);
  }

 private:
  // No choice made later mends one of these rules: without this, most of the time goes to the
  // wording of their violations.
  bool divides(const describe::Layout& layout) {
    job_.layout = layout;
    job_.layout.split = describe::plausible_split(job_.model.layer_count(), layout.pp);
    const std::vector<describe::Violation> found = describe::check_rules(job_);
    return std::none_of(found.begin(), found.end(), [](const describe::Violation& violation) {
      const std::vector<std::string_view> rules{"WORLD-PRODUCT", "BATCH-DP",    "BATCH-MICRO",
                                                "EXPERTS-EP",    "HEADS-TP",    "EXPERT-FFN-ETP",
                                                "FFN-TP",        "EXPERT-WORLD"};
      return std::find(rules.begin(), rules.end(), violation.rule) != rules.end();
    });
  }

  // Who crosses slices on a mesh: factor by factor of their number, the outermost axis that has it
  // left (slices divide the devices, so there is one). Nothing where an axis is cut and one inside
  // it crosses.
  std::optional<std::array<std::int64_t, 5>> crossing(
      const describe::Layout& layout, const std::array<describe::Axis, 5>& order) const {
    using describe::Axis;
    const std::int64_t devices = problem_.job.cluster.devices;
    const std::int64_t domain = problem_.machine.domain_size;
    const std::int64_t dp = devices / (layout.tp * layout.cp * layout.pp);
    const std::int64_t experts = std::gcd(dp, layout.ep);
    std::array<std::int64_t, 5> left{};
    left[static_cast<std::size_t>(Axis::kTp)] = layout.tp;
    left[static_cast<std::size_t>(Axis::kCp)] = layout.cp;
    left[static_cast<std::size_t>(Axis::kEp)] = experts;
    left[static_cast<std::size_t>(Axis::kDp)] = dp / experts;
    left[static_cast<std::size_t>(Axis::kPp)] = layout.pp;
    std::array<std::int64_t, 5> across{1, 1, 1, 1, 1};
    std::int64_t slices = devices % domain == 0 ? devices / domain : 1;
    for (std::int64_t factor = 2; slices > 1; ++factor) {
      for (const Axis axis : std::ranges::reverse_view(order)) {
        const auto place = static_cast<std::size_t>(axis);
        while (slices % factor == 0 && left[place] % factor == 0) {
          slices /= factor;
          left[place] /= factor;
          across[place] *= factor;
        }
      }
    }
    bool cut = false;
    for (const Axis axis : std::ranges::reverse_view(order)) {
      const auto place = static_cast<std::size_t>(axis);
      if (cut && across[place] > 1) {
        return std::nullopt;
      }
      cut = cut || left[place] > 1;
    }
    return across;
  }

  // Orders that differ in nothing but their words are one.
  std::vector<std::array<describe::Axis, 5>> orders(const describe::Layout& layout) {
    if (!choices_.mesh) {
      return layout.pp > 1 ? choices_.orders : std::vector{choices_.orders.front()};
    }
    std::vector<std::array<describe::Axis, 5>> list;
    std::set<std::array<std::int64_t, 5>> seen;
    for (const auto& order : choices_.orders) {
      const auto across = crossing(layout, order);
      if (across && seen.insert(*across).second) {
        list.push_back(order);
      }
    }
    return list.empty() ? std::vector{choices_.orders.front()} : list;
  }

  void add_pipelines(describe::Layout layout) {
    for (const auto& order : orders(layout)) {
      for (const describe::Schedule schedule : choices_.schedules) {
        for (const std::int64_t vpp : choices_.vpp) {
          layout.order = order;
          layout.schedule = layout.pp == 1 ? describe::Schedule::k1f1b : schedule;
          layout.vpp = vpp;
          const bool again = layout.pp == 1 && (schedule != choices_.schedules.front() || vpp > 1);
          if (again || layout.stages() > problem_.job.model.layer_count() + 2) {
            continue;
          }
          for (const describe::PipelineSplit& split :
               splits_of(problem_, choices_, layout.stages())) {
            layout.split = split;
            add_variants(layout);
          }
        }
      }
    }
  }

  void add_variants(describe::Layout layout) {
    for (const bool sp : choices_.sp) {
      for (const describe::CpMethod method : choices_.cp_methods) {
        for (const describe::Dispatcher dispatcher : choices_.dispatchers) {
          for (const describe::Launch launch : choices_.launches) {
            const bool again = (layout.tp == 1 && sp != choices_.sp.front()) ||
                               (layout.cp == 1 && method != choices_.cp_methods.front()) ||
                               (layout.ep == 1 && dispatcher != choices_.dispatchers.front());
            layout.sp = sp && layout.tp > 1;
            layout.cp_method = method;
            layout.dispatcher = dispatcher;
            layout.launch = launch;
            if (!again) {
              add_shardings(layout);
            }
          }
        }
      }
    }
  }

  // Contexts and experts share the weights of a mesh: neither may cross slices where these are
  // sharded inside only. The ranks of a slice that share a part of the model are then those of dp
  // inside it, with cp.
  void add_group_of_slice(const describe::Layout& layout, std::vector<std::int64_t>& groups) {
    const auto across = crossing(layout, layout.order);
    if (!across) {
      return;
    }
    const auto of = [&](describe::Axis axis) { return (*across)[static_cast<std::size_t>(axis)]; };
    const std::int64_t ranks = problem_.job.cluster.devices / (layout.pp * layout.tp);
    const std::int64_t copies = of(describe::Axis::kDp);
    if (copies > 1 && copies < ranks && of(describe::Axis::kCp) == 1 &&
        of(describe::Axis::kEp) == 1) {
      groups.push_back(ranks / copies);
    }
  }

  void add_shardings(describe::Layout layout) {
    const std::int64_t ranks = problem_.job.cluster.devices / layout.pp;
    const bool replicas = ranks > layout.tp || ranks > layout.ep * layout.etp;
    const std::int64_t domain = problem_.machine.domain_size;
    std::vector<std::int64_t> groups{
        problem_.is_fixed("zero_group") ? problem_.job.layout.zero_group : std::int64_t{0}};
    if (choices_.zero_groups && choices_.mesh) {
      add_group_of_slice(layout, groups);
    } else if (choices_.zero_groups && domain % layout.tp == 0 && domain / layout.tp > 1 &&
               domain / layout.tp < ranks / layout.tp &&
               ranks / layout.tp % (domain / layout.tp) == 0) {
      groups.push_back(domain / layout.tp);
    }
    for (const describe::Zero zero : choices_.zero) {
      for (std::size_t group = 0; group < groups.size(); ++group) {
        for (const bool reshard : choices_.reshard) {
          const bool again = (!replicas && zero != choices_.zero.front()) ||
                             (group > 0 && (zero == describe::Zero::kNone || !replicas)) ||
                             (reshard != choices_.reshard.front() &&
                              (zero != describe::Zero::kParameters || !replicas));
          layout.zero = zero;
          layout.zero_group = groups[group];
          layout.reshard_after_forward = reshard;
          if (!again) {
            add_switches(layout, replicas);
          }
        }
      }
    }
  }

  void add_switches(describe::Layout layout, bool replicas) {
    using describe::Overlap;
    std::vector<describe::RecomputePolicy> policies = choices_.recompute;
    if (choices_.recomputes_some) {
      add_part_policies(problem_.job.model.layer_count(), layout.stages(), policies);
    }
    // Megatron hides pipeline messages behind other chunks only.
    const bool one_chunk =
        layout.vpp == 1 && problem_.job.framework == describe::Framework::kMegatronCore;
    for (std::uint32_t set = 0; set < (1U << choices_.switches.size()); ++set) {
      layout.overlap = choices_.always;
      bool again = false;
      for (std::size_t i = 0; i < choices_.switches.size(); ++i) {
        if ((set >> i & 1U) != 0) {
          const Overlap what = choices_.switches[i];
          layout.overlap.push_back(what);
          again = again || (what == Overlap::kGradReduce && !replicas) ||
                  (what == Overlap::kParamGather &&
                   (!replicas || layout.zero == describe::Zero::kNone)) ||
                  (what == Overlap::kTensorParallel && layout.tp == 1) ||
                  (what == Overlap::kPipeline && (layout.pp == 1 || one_chunk)) ||
                  (what == Overlap::kExpert && layout.ep == 1) ||
                  (what == Overlap::kContext && layout.cp == 1);
        }
      }
      std::sort(layout.overlap.begin(), layout.overlap.end());
      for (const describe::RecomputePolicy& policy : policies) {
        layout.recompute = policy;
        job_.layout = layout;
        if (!again && describe::is_legal(job_)) {
          list_.push_back(layout);
        }
      }
    }
  }

  const Problem& problem_;
  Choices choices_;
  describe::Job job_;
  std::vector<describe::Layout> list_;
};

}  // namespace sextant::search
