// The external protocol's lines, written and read (docs/external.md). What was read has been checked: shapes, ranges,
// names. Errors are sentences that say what was expected where.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "impl/bridge/capabilities.hpp"
#include "impl/script.hpp"
#include "model/result.hpp"

namespace poolproof {

/// The wire's name of a call, and back.
std::string_view method_name(Method method);
std::optional<Method> method_from(std::string_view name);

// Our side: requests out, answers in.

std::string write_hello(std::string_view our_version);
std::string write_reset(const Geometry& geometry);
std::string write_run(std::span<const Call> calls);

Result<Capabilities, std::string> read_hello_answer(std::string_view line);
/// Nothing, or the error that it answers.
Result<std::optional<RaisedError>, std::string> read_reset_answer(std::string_view line);
/// Answers of `calls`: one each, or fewer when the last one is an error. Lists much longer than the pool of `geometry`
/// or than what was asked for are an error.
Result<std::vector<Reply>, std::string> read_run_answer(std::string_view line, std::span<const Call> calls,
                                                        const Geometry& geometry);

// The other side, for `poolproof worker`: requests in, answers out.

struct HelloRequest {
  int protocol = 0;
};
struct RunRequest {
  std::vector<Call> calls;
};
using Request = std::variant<HelloRequest, Geometry, RunRequest>;
Result<Request, std::string> read_request(std::string_view line);

std::string write_capabilities(const Capabilities& capabilities);
std::string write_reset_answer(const std::string& error);
std::string write_run_answer(std::span<const Call> calls, std::span<const Reply> replies);

}  // namespace poolproof
