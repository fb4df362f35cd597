// Decoding: one token a request and step, or several of which some are rejected; what happens when it does not fit.
#include <fmt/format.h>

#include <algorithm>

#include "props/workload/serving_state.hpp"

namespace poolproof {
namespace {

// How much of what running requests may still generate is kept free when others are admitted: more after each
// retraction, then less from step to step.
constexpr std::uint64_t reserve_after_retraction = 700;
constexpr std::uint64_t least_reserve = 100;

}  // namespace

void Serving::State::decode(const Machine& machine) {
  batch.clear();
  for (const auto& request : running) {
    if (request->decodes()) {
      const Pos ahead = static_cast<Pos>(options.speculate) + 1;
      LentPiece piece{request.get(), {request->length, request->length + ahead}, {}};
      piece.need.full = pages(piece.range.begin, piece.range.end);
      piece.need.swa = geo.paired() ? piece.need.full : 0;
      batch.push_back(piece);
    }
  }
  if (batch.empty()) {
    stage = Stage::end_step;
    return;
  }
  flight_begin = 0;
  flight_end = batch.size();
  if (!fits(machine) && !ask_too_much()) {
    if (!make_room(machine, flight_need())) {
      retract_least();
    }
    return;
  }
  if (options.speculate == 0) {
    op::Decode step;
    for (const LentPiece& piece : batch) {
      step.rows.push_back(piece.request->row);
    }
    ops.emplace_back(std::move(step));
  } else {
    op::Extend step;
    for (const LentPiece& piece : batch) {
      step.pieces.push_back({piece.request->row, piece.range});
    }
    ops.emplace_back(std::move(step));
  }
  stage = Stage::decoded;
}

/// The one that has least to lose.
void Serving::State::retract_least() {
  const auto least = std::min_element(running.begin(), running.end(), [](const auto& a, const auto& b) {
    return a->generated != b->generated ? a->generated < b->generated : a->queued.id > b->queued.id;
  });
  retract(**least);
  reserve_permille = reserve_after_retraction;
  moved = true;
}

/// A request gives all back and starts again later; one that runs alone could not do better then, and is given up.
void Serving::State::retract(RunningRequest& request) {
  if (running.size() == 1) {
    ++counts.rejected;
    say(ServingEventKind::abort, fmt::format("request {} given up: it does not fit", request.queued.id));
  } else {
    ++counts.retracted;
    say(ServingEventKind::retraction,
        fmt::format("request {} retracted at {} tokens", request.queued.id, request.length));
    QueuedRequest again = request.queued;
    again.generated = request.generated;
    waiting.push_front(std::move(again));
  }
  begin_frees();
  release(request);
  end_frees();
  forget(request);
}

void Serving::State::decoded(const Machine& machine) {
  if (machine.last_refused()) {
    ++counts.refusals;
    say(ServingEventKind::refusal, fmt::format("decoding for {} requests refused", batch.size()));
    stage = Stage::decode;
    return;
  }
  stage = Stage::end_step;
  moved = true;
  decoded_now = batch.size();
  reserve_permille = std::max(least_reserve, reserve_permille - std::min<std::uint64_t>(reserve_permille, 2));
  for (const LentPiece& piece : batch) {
    write(*piece.request, piece.range);
  }
  begin_frees();
  for (const LentPiece& piece : batch) {
    accept(*piece.request, piece.range.end);
    read_sometimes(*piece.request);
    settle(*piece.request);
    if (piece.request->ended()) {
      forget(*piece.request);
    }
  }
  end_frees();
}

/// The first token counts; of those speculated behind it, so many as the draw says. The others are rejected.
void Serving::State::accept(RunningRequest& request, Pos end) {
  const Pos wanted = request.queued.answer() - request.generated;
  const auto ahead = static_cast<std::uint64_t>(end - request.length);
  const Pos accepted = std::min(wanted, static_cast<Pos>(choices.draw(ahead)) + 1);
  const Pos length = request.length + accepted;
  request.generated += accepted;
  request.length = length;
  counts.rejected_tokens += end - length;
  if (length == end) {
    return;
  }
  const Pos page_end = std::min(end, geo.pages_of(length) * geo.page);
  free_range(Side::both, request.row, {page_end, end});
  if (length < page_end) {
    ops.emplace_back(op::Trim{request.row, length});
  }
}

}  // namespace poolproof
