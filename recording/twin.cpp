#include "recording/twin.hpp"

#include <utility>

#include "impl/registry.hpp"

namespace poolproof {

Twin::Twin(const Geometry& geometry, std::unique_ptr<Allocator> allocator)
    : machine_(geometry), allocator_(std::move(allocator)), lockstep_(machine_, *allocator_) {}

Result<std::unique_ptr<Twin>, std::string> Twin::make(const Geometry& geometry) {
  const ImplInfo* host = find_impl("host");
  if (host == nullptr) {
    return std::string("there is no implementation 'host'");
  }
  auto allocator = host->make(geometry);
  if (!allocator) {
    return allocator.error();
  }
  std::unique_ptr<Twin> twin(new Twin(geometry, std::move(*allocator)));
  if (const std::optional<Verdict> fault = twin->lockstep_.start()) {
    return fault->what;
  }
  twin->read_gauges();
  return twin;
}

void Twin::read_gauges() { allocator_->gauges(gauges_); }

std::optional<Verdict> Twin::step(const Op& op) {
  std::optional<Verdict> verdict = lockstep_.step(op);
  if (verdict && verdict->caller_fault()) {
    lockstep_.step(op::Expect{});  // keeps its place, so that ops are numbered as in the trace
  }
  read_gauges();
  return verdict;
}

}  // namespace poolproof
