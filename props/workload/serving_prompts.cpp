// Admission and prefill: which requests begin, which part of their prompts a step takes in.
#include <fmt/format.h>

#include <algorithm>

#include "props/workload/serving_state.hpp"

namespace poolproof {
namespace {

constexpr std::size_t most_pieces = 1024;
constexpr std::uint64_t own_block = std::uint64_t{1} << 63U;  // ids of workloads are below it
/// Room for two pages that a window cuts.
constexpr std::int64_t spare_pages = 2;
constexpr std::size_t most_leaves = 60'000;

}  // namespace

/// What the tokens are known by: whole blocks of the prompt by their ids, all others by the request's number.
std::vector<PromptBlock> Serving::State::blocks_of(const QueuedRequest& queued, Pos tokens) const {
  std::vector<PromptBlock> blocks;
  for (Pos begin = 0; begin < tokens; begin += block_tokens) {
    const auto index = static_cast<std::size_t>(begin / block_tokens);
    const Pos size = std::min(block_tokens, tokens - begin);
    const bool named = block_tokens == prompt_block_tokens && index < queued.request.blocks.size() &&
                       begin + block_tokens <= queued.request.input_tokens;
    blocks.push_back({named ? queued.request.blocks[index] : own_block | queued.id << 22U | index, size});
  }
  return blocks;
}

/// Can the pools hold it at all, with nothing else in them?
bool Serving::State::ever_fits(const QueuedRequest& queued) const {
  const Pos longest = queued.longest() + static_cast<Pos>(options.speculate);
  const Pos window = std::min(longest, geo.window + std::max(options.chunk_tokens, geo.page));
  const bool holes = geo.layout == Layout::pure_swa && sliding_swa;
  if (longest > max_position || geo.pages_of(holes ? window : longest) > geo.full_pages()) {
    return false;
  }
  const Pos swa_longest = sliding_swa ? std::min(longest, geo.window + spare_pages * geo.page) : longest;
  return !geo.paired() || geo.pages_of(swa_longest) <= geo.swa_pages();
}

/// How much of a prompt this step can take in from `begin` on; chunks end with a page.
Pos Serving::State::first_chunk(const Machine& machine, Pos begin, Pos prompt, Pos budget) const {
  const PageNeed reach = within_reach(machine);
  std::int64_t page_room = std::max<std::int64_t>(0, reach.full);
  if (geo.paired() && !options.features.tails) {
    // Some of the requests that run will need a page for their next token.
    const auto decoding = static_cast<std::int64_t>(running.size()) / 4;
    page_room = std::min(page_room, std::max<std::int64_t>(0, reach.swa - decoding));
  }
  const Pos room = (geo.pages_of(begin) + page_room) * geo.page - begin;
  const Pos rest = prompt - begin;
  if (options.features.tails || !options.features.chunked_prefill) {
    const bool first = batch.empty() && prompt_tokens_now == 0;
    return rest <= room && (rest <= budget || first) ? rest : 0;
  }
  const Pos size = std::min({rest, budget, room});
  return size == rest ? size : std::max<Pos>(0, aligned(begin + size) - begin);
}

/// Does the whole prompt fit beside what the running requests may still ask for?
bool Serving::State::admissible(const Machine& machine, const QueuedRequest& queued, Pos cached, Pos chunk) const {
  const PageNeed reach = within_reach(machine);
  Tokens open = 0;
  for (const auto& request : running) {
    open += std::max<Pos>(0, request->queued.longest() - request->length);
  }
  const Tokens kept = open * static_cast<Tokens>(reserve_permille) / 1000;
  const bool holes = geo.layout == Layout::pure_swa && sliding_swa;
  const Pos end = holes ? cached + chunk : queued.prompt();
  const std::int64_t full = pages(cached, end) + geo.pages_of(kept);
  return chunk > 0 && full <= reach.full;
}

void Serving::State::add_piece(RunningRequest& request, Pos end) {
  LentPiece piece{&request, {request.length, end}, {}};
  piece.need.full = pages(request.length, end);
  if (geo.paired()) {
    piece.need.swa = piece.need.full;
    if (options.features.tails) {
      const Pos begin = std::max(request.length, window_bound(end));
      piece.need.swa = geo.pages_of(end) - begin / geo.page;
    }
  }
  batch.push_back(piece);
}

void Serving::State::start(QueuedRequest queued, PrefixTree::Found cached) {
  auto request = std::make_unique<RunningRequest>();
  request->queued = std::move(queued);
  request->row = rows.take();
  request->generated = request->queued.generated;
  request->length = request->shared = cached.end;
  request->node = cached.node;
  if (geo.reqs > 0) {
    ops.emplace_back(op::SlotTake{request->row});
  }
  if (cached.end > 0) {
    ops.emplace_back(op::Copy{request->row, {0, cached.end}, tree.row_of(cached.node)});
    tree.touch(cached.node);
    tree.lock(cached.node, request->row);
    if (geo.ringed() && options.features.window_rewrite) {
      ops.emplace_back(op::Write{request->row, {std::max<Pos>(0, cached.end - geo.window), cached.end}});
    }
  }
  counts.prompt_tokens += request->queued.prompt();
  counts.cached_tokens += cached.end;
  running.push_back(std::move(request));
}

/// The request that has waited longest begins, if it can; false when none can.
bool Serving::State::admit_next(const Machine& machine, Pos& budget) {
  const QueuedRequest& next = waiting.front();
  if (!ever_fits(next)) {
    ++counts.rejected;
    moved = true;
    say(ServingEventKind::abort, fmt::format("request {} of {} tokens does not fit", next.id, next.longest()));
    waiting.pop_front();
    return true;
  }
  const auto slots_left =
      machine.slots_free() - static_cast<std::int64_t>(std::count_if(
                                 ops.begin(), ops.end(), [](const Op& op) { return word_of(op) == OpWord::slot; }));
  if (running.size() >= options.max_running || (geo.reqs > 0 && slots_left <= 0)) {
    return false;
  }
  if (tree.leaves() >= most_leaves && tree.oldest_leaf()) {
    evict_leaf(*tree.oldest_leaf(), 1);
  }
  PrefixTree::Found cached;
  if (caching) {
    cached = tree.match(blocks_of(next, next.prompt()), next.prompt() - 1, geo.window);
  }
  // What it shares can no longer be evicted for it.
  const Row unnamed = max_rows;
  tree.lock(cached.node, unnamed);
  const Pos chunk = first_chunk(machine, cached.end, next.prompt(), budget);
  const bool admitted = admissible(machine, next, cached.end, chunk);
  tree.unlock(cached.node, unnamed);
  if (!admitted) {
    return false;
  }
  QueuedRequest queued = std::move(waiting.front());
  waiting.pop_front();
  start(std::move(queued), cached);
  add_piece(*running.back(), cached.end + chunk);
  budget = std::max<Pos>(0, budget - chunk);
  moved = true;
  return true;
}

void Serving::State::take_in(const Machine& machine) {
  batch.clear();
  Pos budget = options.chunk_tokens;
  for (const auto& request : running) {
    if (budget > 0 && !request->decodes() && batch.size() < most_pieces) {
      const Pos chunk = first_chunk(machine, request->length, request->queued.prompt(), budget);
      if (chunk > 0) {
        add_piece(*request, request->length + chunk);
        budget = std::max<Pos>(0, budget - chunk);
      }
    }
  }
  while (budget > 0 && !waiting.empty() && batch.size() < most_pieces && admit_next(machine, budget)) {
  }
  flight_begin = flight_end = 0;
  stage = Stage::lend_prompts;
}

/// Asks for the batch: in one extend, or, when the prompts were computed elsewhere, a tail each.
void Serving::State::lend_prompts(const Machine& machine) {
  if (flight_begin == batch.size()) {
    stage = Stage::decode;
    return;
  }
  flight_end = lends_tails() ? flight_begin + 1 : batch.size();
  if (!fits(machine) && !ask_too_much()) {
    if (!make_room(machine, flight_need())) {
      batch.pop_back();  // it takes its turn in a later step
    }
    return;
  }
  if (lends_tails()) {
    const LentPiece& piece = batch[flight_begin];
    const Pos begin = std::max(piece.range.begin, window_bound(piece.range.end));
    ops.emplace_back(op::Tail{piece.request->row, piece.range, {begin, piece.range.end}});
  } else {
    op::Extend extend;
    for (const LentPiece& piece : batch) {
      extend.pieces.push_back({piece.request->row, piece.range});
    }
    ops.emplace_back(std::move(extend));
  }
  stage = Stage::prompts_lent;
}

void Serving::State::prompts_lent(const Machine& machine) {
  stage = Stage::lend_prompts;
  if (machine.last_refused()) {
    ++counts.refusals;
    say(ServingEventKind::refusal, fmt::format("{} prompts refused", flight_end - flight_begin));
    return;
  }
  moved = true;
  for (std::size_t i = flight_begin; i < flight_end; ++i) {
    RunningRequest& request = *batch[i].request;
    const Range range = batch[i].range;
    request.length = range.end;
    prompt_tokens_now += range.size();
    if (lends_tails()) {
      request.frontier = std::max({request.frontier, range.begin, window_bound(range.end)});
    }
    write(request, range);
    read_sometimes(request);
    load_back(request);
  }
  begin_frees();
  for (std::size_t i = flight_begin; i < flight_end; ++i) {
    RunningRequest& request = *batch[i].request;
    if (request.decodes()) {
      ++request.generated;
      keep_prompt(request);
    }
    settle(request);
    if (request.ended()) {
      forget(request);
    }
  }
  end_frees();
  flight_begin = flight_end;
}

/// A load-back from a lower cache names the ring's rows in the mapping, for the whole pages of the last window.
void Serving::State::load_back(const RunningRequest& request) {
  if (!geo.ringed() || !options.features.load_back || !request.decodes() || !choices.odds(1, 8)) {
    return;
  }
  const Range window{window_bound(request.length), aligned(request.length)};
  if (window.begin < window.end) {
    ops.emplace_back(op::Remap{request.row, window, request.row, window.begin});
  }
}

/// The prompt's whole blocks go to the cache while the request runs on, unless others were faster.
void Serving::State::keep_prompt(RunningRequest& request) {
  const Pos end = request.queued.prompt() / block_tokens * block_tokens;
  if (!caching || end <= request.shared) {
    return;
  }
  const std::vector<PromptBlock> blocks = blocks_of(request.queued, end);
  const PrefixTree::Found known = tree.walk(blocks);
  if (known.end != request.shared) {
    recover_path(request, known, window_bound(request.length));
    return;
  }
  const bool leaf = tree.leaf(known.node);
  const Row row = leaf ? tree.row_of(known.node) : rows.take();
  ops.emplace_back(op::Copy{row, {leaf ? known.end : 0, end}, request.row});
  tree.unlock(request.node, request.row);
  request.node = tree.grow(known.node, std::span(blocks).subspan(known.blocks), request.frontier, row);
  tree.touch(request.node);
  tree.lock(request.node, request.row);
  request.shared = end;
}

}  // namespace poolproof
