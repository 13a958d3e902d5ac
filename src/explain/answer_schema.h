// JSON Schema of what a use case answers, for protocols that promise one.
#pragma once

#include <string>
#include <string_view>

namespace sextant::explain {

// Draft 2020-12, of one document: an object whose "schema" is one of the use case's own
// ("sextant.plan/2"), with the members that these have (answer_fields.h), of which a shortened
// answer may lack some; what they mean is said in docs/interface.md. An answer that has no such
// form is "sextant.text/1", with its "text".
std::string answer_schema(std::string_view use_case);

}  // namespace sextant::explain
