#include "impl/bridge/external.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "impl/bridge/external_allocator.hpp"

namespace poolproof {
namespace {

Result<std::unique_ptr<Allocator>, std::string> build(const std::shared_ptr<ExternalSession>& session,
                                                      const Geometry& geometry) {
  const PoolKind* kind = session->capabilities().kind_for(geometry);
  if (kind == nullptr) {
    return fmt::format("{} offers no pool like {}", session->capabilities().name, to_string(geometry));
  }
  const Offers offers = kind->offers;
  if (std::optional<std::string> fault = session->reset(geometry)) {
    return *std::move(fault);
  }
  return std::unique_ptr<Allocator>(std::make_unique<ExternalAllocator>(session, geometry, offers));
}

}  // namespace

Result<ExternalImpl, std::string> open_external(const std::string& name, std::chrono::milliseconds limit) {
  const std::string command = name.substr(external_prefix.size());
  if (command.find_first_not_of(' ') == std::string::npos) {
    return std::string("exec: needs a command, as in exec:'python3 adapter.py'");
  }
  auto session = ExternalSession::open(command, limit);
  if (!session) {
    return session.error();
  }
  const std::shared_ptr<ExternalSession> shared = *session;
  ImplInfo info;
  info.name = name;
  info.mechanism = fmt::format("{} {}", shared->capabilities().name, shared->capabilities().version);
  info.supports = [shared](const Geometry& g) { return shared->capabilities().kind_for(g) != nullptr; };
  info.offers = [shared](const Geometry& g) {
    const PoolKind* kind = shared->capabilities().kind_for(g);
    return kind == nullptr ? OpWords() : words_of(kind->offers);
  };
  info.takes = [shared](const Op& op, const Machine& machine) {
    const PoolKind* kind = shared->capabilities().kind_for(machine.geometry());
    return kind == nullptr || takes(kind->offers, op, machine);
  };
  info.make = [shared](const Geometry& g) { return build(shared, g); };
  info.hurry = [shared, limit](bool on) {
    constexpr std::chrono::milliseconds least(250);
    shared->set_limit(on ? std::clamp(limit / 10, std::min(limit, least), limit) : limit);
  };
  return ExternalImpl{std::move(info), shared};
}

}  // namespace poolproof
