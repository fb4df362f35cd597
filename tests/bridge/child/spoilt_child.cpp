// A child whose first segment-shaped free ends in an error that spoils the process, as a fault on a device does: it is
// answered, and then the process ends itself.
#include <iostream>

#include "impl/bridge/serve.hpp"
#include "impl/host/host.hpp"

namespace poolproof::testing {
namespace {

class Spoilt final : public SingleAllocator {
 public:
  using SingleAllocator::SingleAllocator;

  Answer free_segments(Side /*side*/, std::span<const Segment> /*segments*/) override {
    spoilt_ = true;
    return Answer::failed;
  }
  [[nodiscard]] std::string failure() const override { return "an illegal memory access was encountered"; }
  [[nodiscard]] std::optional<Breakdown> breakdown() const override {
    return Breakdown{BreakdownKind::raised, "DeviceFault in free_segments"};
  }
  [[nodiscard]] bool beyond_repair() const override { return spoilt_; }

 private:
  bool spoilt_ = false;
};

int serve() {
  ImplInfo info;
  info.name = "spoilt";
  info.supports = [](const Geometry& g) { return g.layout == Layout::paged; };
  info.make = [](const Geometry& g) { return build_checked(g, [&] { return std::make_unique<Spoilt>(g); }); };
  Server server(info);
  return serve_lines(server, std::cin, stdout) ? 65 : 0;
}

}  // namespace
}  // namespace poolproof::testing

int main() { return poolproof::testing::serve(); }
