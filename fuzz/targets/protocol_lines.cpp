#include "fuzz/targets/protocol_lines.hpp"

#include "fuzz/targets/demand.hpp"
#include "impl/bridge/wire.hpp"

namespace poolproof {
namespace {

template <typename Value>
void check(const Result<Value, std::string>& read) {
  demand(read.ok() || !read.error().empty(), "a bad line of the protocol, and no word about it");
}

/// What a request asks for is what an answer is read against.
void read_line(std::string_view line, Geometry& geometry, std::vector<Call>& calls) {
  check(read_hello_answer(line));
  check(read_reset_answer(line));
  check(read_run_answer(line, calls, geometry));
  Result<Request, std::string> request = read_request(line);
  check(request);
  if (!request) {
    return;
  }
  if (const auto* pool = std::get_if<Geometry>(&*request)) {
    geometry = *pool;
  } else if (auto* run = std::get_if<RunRequest>(&*request)) {
    calls = std::move(run->calls);
  }
}

}  // namespace

void read_protocol_lines(std::string_view text) {
  Geometry geometry{.layout = Layout::hybrid, .page = 4, .full = 32, .swa = 32, .window = 4, .reqs = 2};
  std::vector<Call> calls;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    read_line(text.substr(0, end), geometry, calls);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace poolproof
