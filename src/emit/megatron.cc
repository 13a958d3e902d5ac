#include "emit/megatron.h"

#include "emit/megatron_meaning.h"

namespace sextant::emit {

Writing write_megatron(const describe::Job& job) {
  const Arguments arguments = write_arguments(job, Megatron::kLm);
  Writing writing;
  writing.settings.dialect = Dialect::kMegatron;
  writing.settings.given = flags_of(arguments);
  writing.settings.environment = megatron_environment(job);
  writing.settings.launch = launch_settings(job.cluster);
  writing.left_out = left_out(job, arguments, Megatron::kLm);
  return writing;
}

Reading read_megatron(const Settings& settings, const describe::DataStore& data) {
  Reading reading;
  reading.dialect = Dialect::kMegatron;
  reading.unresolved = settings.unresolved;
  const Arguments arguments = arguments_of_flags(settings.given, data, reading);
  ArgumentReader in(Megatron::kLm, arguments, reading);
  read_arguments(in, settings, data, reading);
  return reading;
}

}  // namespace sextant::emit
