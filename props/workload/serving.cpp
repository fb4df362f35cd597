#include "props/workload/serving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "props/workload/serving_state.hpp"

namespace poolproof {
namespace {

constexpr std::uint64_t serving_stream = 0x73657276;
/// More need not be known of the queue: they are served in the order of their arrival.
constexpr std::size_t most_waiting = 4096;

// What a step costs, in simulated time: of the order of a large model on one GPU. Nothing but the pace of arrivals
// depends on it.
constexpr std::uint64_t step_us = 4000;
constexpr std::uint64_t prompt_token_us = 10;
constexpr std::uint64_t decoded_request_us = 20;

}  // namespace

Serving::State::State(const ServingOptions& given, RequestSource requests, ServingListener told)
    : options(given),
      geo(options.geometry),
      source(std::move(requests)),
      listener(std::move(told)),
      choices(given.seed, serving_stream),
      tree(given.geometry.paired()),
      caching(given.features.prefix_cache && given.geometry.layout != Layout::pure_swa),
      sliding_swa(given.features.window_eviction && given.geometry.sliding()),
      block_tokens(std::max(prompt_block_tokens, given.geometry.page)) {}

Serving::Serving(const ServingOptions& options, RequestSource requests, ServingListener listener)
    : state_(std::make_unique<State>(options, std::move(requests), std::move(listener))) {}
Serving::~Serving() = default;
Serving::Serving(Serving&&) noexcept = default;
Serving& Serving::operator=(Serving&&) noexcept = default;

const ServingCounts& Serving::counts() const { return state_->counts; }
std::uint64_t Serving::now_us() const { return state_->now_us; }
const std::optional<TextError>& Serving::error() const { return state_->error; }

std::optional<Op> Serving::next(const Machine& machine) {
  State& s = *state_;
  while (s.ops.empty() && s.stage != State::Stage::over) {
    s.advance(machine);
  }
  if (s.ops.empty()) {
    return std::nullopt;
  }
  Op op = std::move(s.ops.front());
  s.ops.pop_front();
  return op;
}

void Serving::State::advance(const Machine& machine) {
  switch (stage) {
    case Stage::step:
      return begin_step(machine);
    case Stage::take_in:
      return take_in(machine);
    case Stage::lend_prompts:
      return lend_prompts(machine);
    case Stage::prompts_lent:
      return prompts_lent(machine);
    case Stage::decode:
      return decode(machine);
    case Stage::decoded:
      return decoded(machine);
    case Stage::end_step:
      return end_step();
    case Stage::drain:
      return drain();
    case Stage::over:
      return;
  }
}

void Serving::State::say(ServingEventKind kind, std::string text) {
  if (listener.event) {
    listener.event({kind, now_us, std::move(text)});
  }
}

void Serving::State::tell_step(const Machine& machine) {
  if (!listener.step) {
    return;
  }
  ServingMoment moment{now_us, running.size(), waiting.size(), 0};
  for (const auto& request : running) {
    moment.unused_tokens += geo.pages_of(request->length) * geo.page - request->length;
  }
  listener.step(moment, machine);
}

/// Reads the next request of the workload.
void Serving::State::read_arrival() {
  if (arriving || source_ended) {
    return;
  }
  if (options.requests != 0 && counts.arrived == options.requests) {
    source_ended = true;
    return;
  }
  Result<std::optional<Request>, TextError> read = source();
  if (!read) {
    error = std::move(read.error());
    source_ended = true;
  } else if (!*read) {
    source_ended = true;
  } else {
    arriving = **std::move(read);
    const std::uint64_t at = arriving->arrival_us;
    arriving->arrival_us =
        at / options.speed_permille * 1000 + at % options.speed_permille * 1000 / options.speed_permille;
    ++counts.arrived;
  }
}

void Serving::State::take_arrivals() {
  for (read_arrival(); arriving && arriving->arrival_us <= now_us && waiting.size() < most_waiting; read_arrival()) {
    QueuedRequest queued;
    queued.request = *std::exchange(arriving, std::nullopt);
    queued.id = counts.arrived;
    if (options.features.aborts && choices.odds(options.abort_permille, 1000)) {
      queued.abort_at = static_cast<Pos>(choices.draw(static_cast<std::uint64_t>(queued.longest())));
    }
    waiting.push_back(std::move(queued));
  }
}

void Serving::State::begin_step(const Machine& machine) {
  take_arrivals();
  if (running.empty() && waiting.empty()) {
    if (!arriving) {
      stage = error ? Stage::over : Stage::drain;
      return;
    }
    now_us = std::max(now_us, arriving->arrival_us);
    take_arrivals();
  }
  if (error) {
    stage = Stage::over;
    return;
  }
  ++counts.steps;
  prompt_tokens_now = 0;
  decoded_now = 0;
  moved = false;
  asked_too_much = false;
  tell_step(machine);
  abort_due();
  stage = Stage::take_in;
}

void Serving::State::abort_due() {
  const auto gone = std::remove_if(waiting.begin(), waiting.end(), [&](const QueuedRequest& queued) {
    const bool due = queued.abort_at && *queued.abort_at == 0;
    if (due) {
      ++counts.aborted;
      say(ServingEventKind::abort, fmt::format("request {} aborted while it waited", queued.id));
    }
    return due;
  });
  moved = moved || gone != waiting.end();
  waiting.erase(gone, waiting.end());
  begin_frees();
  for (std::size_t i = 0; i < running.size();) {
    RunningRequest& request = *running[i];
    if (!request.abort_due()) {
      ++i;
      continue;
    }
    ++counts.aborted;
    moved = true;
    say(ServingEventKind::abort, fmt::format("request {} aborted at {} tokens", request.queued.id, request.length));
    release(request);
    forget(request);
  }
  end_frees();
}

void Serving::State::end_step() {
  now_us +=
      step_us + static_cast<std::uint64_t>(prompt_tokens_now) * prompt_token_us + decoded_now * decoded_request_us;
  stage = Stage::step;
  if (!moved) {
    unblock();
  }
}

/// Nothing could move: room is made by force, one thing at a time.
void Serving::State::unblock() {
  if (const std::optional<PrefixNodeId> leaf = tree.oldest_leaf()) {
    evict_leaf(*leaf, tree.node(*leaf).end);
    return;
  }
  if (!running.empty()) {
    retract(*running.back());
  } else if (!waiting.empty()) {
    ++counts.rejected;
    say(ServingEventKind::abort, fmt::format("request {} given up: it does not fit", waiting.front().id));
    waiting.pop_front();
  }
}

/// All requests are done: the cache is given back too, so that the pools end as they began.
void Serving::State::drain() {
  const std::optional<PrefixNodeId> leaf = tree.oldest_leaf();
  if (!leaf) {
    stage = Stage::over;
    return;
  }
  evict_leaf(*leaf, tree.node(*leaf).end);
}

std::optional<std::string> serving_fault(const ServingOptions& options) {
  if (options.max_running < 1 || options.max_running > most_running) {
    return fmt::format("{} running requests: take 1 to {}", options.max_running, most_running);
  }
  if (options.chunk_tokens < options.geometry.page) {
    return fmt::format("chunks of {} tokens are less than a page of {}; take larger ones", options.chunk_tokens,
                       options.geometry.page);
  }
  if (options.speed_permille < 1) {
    return "the speed is zero: nothing would ever arrive";
  }
  if (options.geometry.ringed() && options.geometry.reqs == 0) {
    return "a ring lives in request slots: give reqs";
  }
  return std::nullopt;
}

ServingOptions draw_serving(const ServingOptions& base, Choices& choices) {
  ServingOptions drawn = base;
  drawn.features = draw_features(choices);
  const Geometry& g = base.geometry;
  drawn.chunk_tokens = std::max(g.page, Pos{1} << (5 + choices.draw(9)));
  drawn.max_running = static_cast<std::uint32_t>(1U << choices.draw(8));
  if (choices.odds(1, 3)) {
    drawn.speculate = static_cast<std::uint32_t>(1 + choices.draw(8));
  }
  if (g.ringed()) {  // what is written ahead must not meet what the window still reads
    drawn.speculate = std::min(drawn.speculate, static_cast<std::uint32_t>(g.ring - g.window));
  }
  drawn.abort_permille = static_cast<std::uint32_t>(choices.draw(200));
  return drawn;
}

}  // namespace poolproof
