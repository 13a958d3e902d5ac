#include "profile/kineto_reader.h"

#include "profile/kineto_handler.h"
#include "profile/trace_text.h"

namespace sextant::profile {

Result<timeline::Recording> read_kineto(ByteSource& source, const std::string& name,
                                        const ReadOptions& options) {
  KinetoHandler handler(name, options);
  SEXTANT_TRY(const TraceTextFacts text, walk_trace(source, handler, options.progress));
  timeline::Recording recording = handler.finish(text, source.damage());
  recording.source = name;
  return recording;
}

}  // namespace sextant::profile
