#include "impl/bridge/external.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "impl/bridge/external_allocator.hpp"
#include "impl/bridge/shell_word.hpp"

namespace poolproof {
namespace {

using Built = Result<std::unique_ptr<Allocator>, std::string>;

/// The sessions of all ranks, each started when its first pool is asked for.
class RankSessions {
 public:
  RankSessions(std::function<std::string(std::uint32_t)> command_of, std::chrono::milliseconds limit)
      : command_of_(std::move(command_of)), limit_(limit) {}

  /// Of rank 0: one that runs already.
  void begin_with(std::shared_ptr<ExternalSession> session) { sessions_.push_back(std::move(session)); }

  const std::shared_ptr<ExternalSession>& of(std::uint32_t rank) {
    while (sessions_.size() <= rank) {
      const auto next = static_cast<std::uint32_t>(sessions_.size());
      sessions_.push_back(ExternalSession::prepare(command_of_(next), limit_));
    }
    return sessions_[rank];
  }

  /// A trace that hangs waits for the limit in each run, so shrinking cuts it down.
  void hurry(bool on) {
    constexpr std::chrono::milliseconds least(250);
    for (const std::shared_ptr<ExternalSession>& session : sessions_) {
      session->set_limit(on ? std::clamp(limit_ / 10, std::min(limit_, least), limit_) : limit_);
    }
  }

 private:
  std::function<std::string(std::uint32_t)> command_of_;
  std::chrono::milliseconds limit_;
  std::vector<std::shared_ptr<ExternalSession>> sessions_;
};

Built build(const std::shared_ptr<ExternalSession>& session, const Geometry& geometry, const Offers& offers) {
  if (std::optional<std::string> fault = session->reset(geometry)) {
    return *std::move(fault);
  }
  return std::unique_ptr<Allocator>(std::make_unique<ExternalAllocator>(session, geometry, offers));
}

/// How `info` is built: in the sessions, with what `offers_for` says, or an error sentence.
void build_in(ImplInfo& info, const std::shared_ptr<RankSessions>& sessions,
              std::function<Result<Offers, std::string>(const Geometry&)> offers_for) {
  info.make_rank = [sessions, offers_for = std::move(offers_for)](const Geometry& g, std::uint32_t rank) -> Built {
    const Result<Offers, std::string> offers = offers_for(g);
    return offers ? build(sessions->of(rank), g, *offers) : Built(offers.error());
  };
  info.make = [make_rank = info.make_rank](const Geometry& g) { return make_rank(g, 0); };
  info.hurry = [sessions](bool on) { sessions->hurry(on); };
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
  const auto sessions = std::make_shared<RankSessions>([command](std::uint32_t /*rank*/) { return command; }, limit);
  sessions->begin_with(shared);
  build_in(info, sessions, [shared](const Geometry& g) -> Result<Offers, std::string> {
    const PoolKind* kind = shared->capabilities().kind_for(g);
    if (kind == nullptr) {
      return fmt::format("{} offers no pool like {}", shared->capabilities().name, to_string(g));
    }
    return kind->offers;
  });
  return ExternalImpl{std::move(info), shared};
}

ExternalImpl isolated(const ImplInfo& impl, const std::string& program, std::chrono::milliseconds limit) {
  const auto sessions = std::make_shared<RankSessions>(
      [program, name = impl.name](std::uint32_t rank) {
        return fmt::format("exec {} worker --impl {} --rank {}", shell_word(program), shell_word(name), rank);
      },
      limit);
  ImplInfo info = impl;
  // What it offers and takes is known here: it is this program's own.
  build_in(info, sessions, [](const Geometry& /*g*/) -> Result<Offers, std::string> { return Offers().set(); });
  return ExternalImpl{std::move(info), sessions->of(0)};
}

}  // namespace poolproof
