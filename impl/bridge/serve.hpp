// The other side of the external protocol: an implementation of the registry serves it (`poolproof worker`).
#pragma once

#include <memory>
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
};

/// Answers the lines of one session.
class Server {
 public:
  explicit Server(const ImplInfo& impl);

  /// The answer to one request line.
  Result<std::string, BadRequest> answer(std::string_view line);

 private:
  std::string hello() const;
  std::string reset(const Geometry& geometry);
  std::string run(std::vector<Call> calls);
  Reply perform(const Call& call);
  Reply lend(Answer answer);
  Reply free_segments(Side side, const Call& call);
  Reply gauges();
  Reply census();
  [[nodiscard]] std::string unresolved(const Call& call) const;
  [[nodiscard]] Locs locs_of(const LocRuns& runs) const;
  [[nodiscard]] std::int64_t slot_of(const SlotRef& ref) const;

  const ImplInfo& impl_;
  Geometry geo_;
  std::unique_ptr<Allocator> allocator_;
  std::vector<Reply> replies_;  ///< of the line being run
  Locs locs_;
};

}  // namespace poolproof
