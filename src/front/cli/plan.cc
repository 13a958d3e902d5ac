#include "app/plan_command.h"
#include "front/cli/command.h"
#include "front/cli/interrupt.h"
#include "front/cli/job_options.h"

namespace sextant::front {
namespace {

std::vector<Option> plan_options() {
  return {
      {"--on", "CLUSTER", "COUNTxDEVICE[@FABRIC], COUNTxSYSTEM, a TPU slice, or a cluster.toml",
       "devices"},
      {"--framework", "NAME", "who runs it (default: the setting, megatron-core)", "frameworks"},
      {"--seq", "TOKENS", "tokens a sequence: 4096, packed:8192, … (default 4096)", ""},
      {"--gbs", "SEQUENCES", "global batch (default: about 4 Mi tokens a step)", ""},
      {"--precision", "FORMAT", "of the large products (default bf16)",
       "fp32|tf32|fp16|bf16|fp8|mxfp8|nvfp4|int8"},
      {"--workload", "KIND", "pretrain, sft, lora[:RANK[:MODULE+…]] or forward",
       "pretrain|sft|lora|forward"},
      {"--fix", "LAYOUT", "keys that keep their value: tp=8,recompute=full", "layout-keys"},
      {"--free", "WHAT", "of what changes convergence: gbs, seq, precision, joined by commas",
       "gbs|seq|precision"},
      {"--headroom", "SHARE", "of a device's memory that stays free (default 5%)", ""},
      {"--objective", "WHAT", "step (default), memory, energy (tokens per joule), devices or cost",
       "step|memory|energy|devices|cost"},
      {"--tokens", "COUNT", "of a training: 15T, 300B; days and device-hours", ""},
      {"--days", "NUMBER", "the deadline of those tokens", ""},
      {"--price", "AMOUNT", "of a device-hour: what those tokens cost", ""},
      {"--pareto", "", "also what no other layout beats in both time and memory", ""},
      {"--top", "COUNT", "plans shown, each of another mesh (default 5)", ""},
      {"--why-not", "LAYOUT", "a layout: why it is not the plan", "layout-keys"},
      {"--from", "FILE", "your own job: the smallest changes worth making", "files", true},
      {"--emit", "DIALECT", "also the plan as files of a framework",
       "megatron|bridge|torchtitan|torchtitan-toml|deepspeed|maxtext|accelerate|nanotron"},
      {"--launcher", "NAME", "of these files: torchrun (default) or slurm", "torchrun|slurm"},
      {"--out", "FOLDER", "write these files there instead of printing them", "files"},
      {"--plot", "FOLDER", "pictures: memory, timeline, waterfall, front, heat map", "files"},
      {"--plot-as", "FORM", "of the pictures: svg (default) or png", "svg|png"},
      {"--baselines", "NAMES",
       "also what others choose: megatron-rule,alpa,black-box,random,exhaustive", ""},
      {"--proof", "", "try what the search left out: all of it up to 1e8, else a sample", ""},
      {"--threads", "COUNT", "to search with (default: all)", ""}};
}

app::PlanRequest plan_request(const Arguments& arguments) {
  app::PlanRequest request;
  request.job = job_request(arguments);
  request.job.layout = arguments.one("--fix");
  request.from = arguments.all("--from");
  request.precision = arguments.one("--precision");
  request.free = arguments.one("--free");
  request.headroom = arguments.one("--headroom");
  request.top = arguments.one("--top");
  request.threads = arguments.one("--threads");
  request.objective = arguments.one("--objective");
  request.days = arguments.one("--days");
  request.training = {.tokens = arguments.one("--tokens"), .price = arguments.one("--price")};
  request.pareto = arguments.has("--pareto");
  request.proof = arguments.has("--proof");
  request.baselines = arguments.one("--baselines");
  request.why_not = arguments.one("--why-not");
  request.dialect = arguments.one("--emit");
  request.launcher = arguments.one("--launcher");
  request.folder = arguments.one("--out");
  request.plot_folder = arguments.one("--plot");
  request.plot_format = arguments.one("--plot-as");
  return request;
}

Result<app::Output> run_plan(const Arguments& arguments, const app::Context& context) {
  app::PlanRequest request = plan_request(arguments);
  const app::Control control = watched_control();
  request.stop = control.stop;
  request.progress = control.progress;
  auto output = app::show_plan(request, context);
  end_progress();
  return output;
}

}  // namespace

Command plan_command() {
  return {
      .name = "plan",
      .summary = "The best layout of a model on a cluster, why, and the files to run it",
      .examples =
          {"sextant plan llama-3.1-70b --on 64xh100-sxm --gbs 256",
           "sextant plan llama-3.1-70b --on 64xh100-sxm --fix tp=8 --why-not tp=8,pp=4",
           "sextant plan llama-3.1-8b --on 64xh100-sxm --objective devices --tokens 1T --days 9",
           "sextant plan llama-3.1-8b --on 8xh100-sxm --emit megatron --out job/",
           "sextant plan --from train.sh --on h100-sxm"},
      .positionals = {{.name = "MODEL",
                       .help = "catalogue name or config.json; with --from the files' own",
                       .required = false,
                       .complete = "models"}},
      .options = plan_options(),
      .run = run_plan};
}

}  // namespace sextant::front
