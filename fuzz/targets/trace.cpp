// Any bytes as the text of a trace: what parses is printed and parsed again to the same trace and the same bytes; what
// does not is an error that says where.
#include <algorithm>
#include <string>
#include <string_view>

#include "fuzz/targets/demand.hpp"
#include "fuzz/targets/engine.hpp"
#include "model/trace_text.hpp"

namespace poolproof {
namespace {

void check_error(const TextError& error, std::string_view text) {
  const auto lines = static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  demand(!error.message.empty(), "an error without a message");
  demand(error.line <= lines, "an error behind the end of the text");
  demand(error.line == 0 || error.column > 0, "an error in a line and in none of its columns");
  demand(error.render().find("input.trace:") == 0, "an error that does not begin with its place");
}

void check_round_trip(const Trace& trace) {
  const std::string printed = print_trace(trace);
  const auto again = parse_trace(printed, "printed.trace");
  if (!again) {
    demand(false, again.error().render());
    return;
  }
  demand(again->geometry == trace.geometry, "another pool after printing and parsing");
  demand(again->ops == trace.ops, "other ops after printing and parsing");
  demand(print_trace(*again) == printed, "other bytes after printing again");
}

}  // namespace
}  // namespace poolproof

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto trace = poolproof::parse_trace(text, "input.trace");
  if (trace) {
    poolproof::check_round_trip(*trace);
  } else {
    poolproof::check_error(trace.error(), text);
  }
  return 0;
}
