// The other side of the external protocol: an implementation of the registry serves it (`poolproof worker`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impl/bridge/capabilities.hpp"
#include "impl/registry.hpp"
#include "impl/script.hpp"

namespace poolproof {

/// A line that is no request, and why.
struct BadRequest {
  std::string what;
  std::size_t line = 0;  ///< of the session, from 1
};

/// Answers the lines of one session.
class Server {
 public:
  /// Serves the replica of `rank`. `impl` outlives this.
  explicit Server(const ImplInfo& impl, std::uint32_t rank = 0);

  /// The answer to one request line.
  Result<std::string, BadRequest> answer(std::string_view line);
  /// The allocator is beyond repair, so the last answer was the last one that this process can give.
  [[nodiscard]] bool over() const;

 private:
  std::string hello() const;
  std::string reset(const Geometry& geometry);
  std::string run(std::vector<Call> calls);
  Reply perform(const Call& call);
  Reply lend(Answer answer);
  Reply free_segments(Side side, const Call& call);
  Reply gauges();
  Reply census();
  [[nodiscard]] RaisedError raised() const;
  [[nodiscard]] std::string unresolved(const Call& call) const;
  [[nodiscard]] Locs locs_of(const LocRuns& runs) const;
  [[nodiscard]] std::int64_t slot_of(const SlotRef& ref) const;

  const ImplInfo& impl_;
  std::uint32_t rank_;
  Geometry geo_;
  std::unique_ptr<Allocator> allocator_;
  std::vector<Reply> replies_;  ///< of the line being run
  Locs locs_;
};

/// Lines in, lines out, until `in` ends, nobody reads `out` any more, a line is no request (which is answered), or the
/// server is over.
std::optional<BadRequest> serve_lines(Server& server, std::istream& in, std::FILE* out);

}  // namespace poolproof
