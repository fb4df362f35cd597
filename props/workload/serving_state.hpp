// The simulated scheduler's inside. Included by serving*.cpp alone.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "props/choices.hpp"
#include "props/workload/prefix_tree.hpp"
#include "props/workload/row_numbers.hpp"
#include "props/workload/serving.hpp"

namespace poolproof {

/// A request that is not running: it has not begun, or was retracted.
struct QueuedRequest {
  Request request;
  std::uint64_t id = 0;
  Pos generated = 0;  ///< tokens, before it was retracted
  /// Aborted once its prompt and answer are this far; nothing: never. 0: while it waits.
  std::optional<Pos> abort_at;

  [[nodiscard]] Pos prompt() const { return request.input_tokens + generated; }
  [[nodiscard]] Pos answer() const { return request.output_tokens > 0 ? request.output_tokens : 1; }
  [[nodiscard]] Pos longest() const { return request.input_tokens + answer(); }
};

/// One that runs. Its row holds [0, length); [0, shared) are the prefix cache's pages, whose node it holds.
struct RunningRequest {
  QueuedRequest queued;
  Row row = 0;
  Pos generated = 0;
  Pos length = 0;
  Pos shared = 0;
  Pos frontier = 0;  ///< its SWA halves before this are gone
  PrefixNodeId node = PrefixTree::root;

  [[nodiscard]] bool decodes() const { return length >= queued.prompt(); }
  [[nodiscard]] bool ended() const { return generated >= queued.answer(); }
  [[nodiscard]] bool abort_due() const { return queued.abort_at && length + generated >= *queued.abort_at; }
};

/// Pages of both pools.
struct PageNeed {
  std::int64_t full = 0;
  std::int64_t swa = 0;
};

/// A request's part of what a step lends.
struct LentPiece {
  RunningRequest* request = nullptr;
  Range range;
  PageNeed need;
};

struct Serving::State {
  State(const ServingOptions& options, RequestSource requests, ServingListener listener);

  /// What comes next, once all ops handed out were carried out.
  enum class Stage : std::uint8_t { step, take_in, lend_prompts, prompts_lent, decode, decoded, end_step, drain, over };

  ServingOptions options;
  const Geometry& geo;
  RequestSource source;
  ServingListener listener;
  RandomChoices choices;
  ServingCounts counts;
  std::optional<TextError> error;

  std::deque<Op> ops;  ///< to be handed out
  Stage stage = Stage::step;
  std::uint64_t now_us = 0;
  std::optional<Request> arriving;  ///< read, not arrived yet
  bool source_ended = false;
  std::deque<QueuedRequest> waiting;
  std::vector<std::unique_ptr<RunningRequest>> running;  ///< in the order of admission
  RowNumbers rows;
  PrefixTree tree;
  bool caching;      ///< there is a prefix cache
  bool sliding_swa;  ///< window eviction gives SWA halves back, or (pure SWA) whole slots
  Pos block_tokens;

  std::vector<LentPiece> batch;  ///< of the lending that is asked for
  std::size_t flight_begin = 0;  ///< of the batch: what one call asks for
  std::size_t flight_end = 0;
  bool asked_too_much = false;  ///< the lending was refused once in this step
  bool grouping = false;        ///< the next free opens a group
  bool group_open = false;
  std::uint64_t reserve_permille = 0;  ///< of what running requests may still generate, kept free at admission
  Pos prompt_tokens_now = 0;           ///< taken in by this step
  std::size_t decoded_now = 0;         ///< requests that this step decoded for
  bool moved = false;                  ///< this step changed something

  // serving.cpp: steps and arrivals.
  void advance(const Machine& machine);
  void begin_step(const Machine& machine);
  void end_step();
  void take_arrivals();
  void read_arrival();
  void abort_due();
  void unblock();
  void drain();
  void say(ServingEventKind kind, std::string text);
  void tell_step(const Machine& machine);

  // serving_prompts.cpp: admission and prefill.
  void take_in(const Machine& machine);
  bool admit_next(const Machine& machine, Pos& budget);
  [[nodiscard]] bool ever_fits(const QueuedRequest& queued) const;
  [[nodiscard]] Pos first_chunk(const Machine& machine, Pos begin, Pos prompt, Pos budget) const;
  [[nodiscard]] bool admissible(const Machine& machine, const QueuedRequest& queued, Pos cached, Pos chunk) const;
  void start(QueuedRequest queued, PrefixTree::Found cached);
  void add_piece(RunningRequest& request, Pos end);
  void lend_prompts(const Machine& machine);
  void prompts_lent(const Machine& machine);
  void load_back(const RunningRequest& request);
  void keep_prompt(RunningRequest& request);
  [[nodiscard]] bool lends_tails() const { return options.features.tails && geo.paired(); }
  [[nodiscard]] std::vector<PromptBlock> blocks_of(const QueuedRequest& queued, Pos tokens) const;

  // serving_decode.cpp
  void decode(const Machine& machine);
  void decoded(const Machine& machine);
  void accept(RunningRequest& request, Pos end);
  void retract_least();
  void retract(RunningRequest& request);

  // serving_memory.cpp: whether it fits, and what goes so that it does.
  [[nodiscard]] bool fits(const Machine& machine) const;
  [[nodiscard]] PageNeed flight_need() const;
  [[nodiscard]] PageNeed within_reach(const Machine& machine) const;
  bool ask_too_much();
  bool make_room(const Machine& machine, PageNeed need);
  PageNeed evict_leaf(PrefixNodeId leaf, Tokens wanted);
  PageNeed evict_swa();
  bool make_tombstone(PrefixNodeId id);

  // serving_release.cpp: what ends, and what the cache keeps of it.
  void begin_frees();
  void end_frees();
  void settle(RunningRequest& request);
  void evict_window(RunningRequest& request);
  void finish(RunningRequest& request);
  void give_back_duplicates(RunningRequest& request, PrefixTree::Found known);
  void recover_path(RunningRequest& request, PrefixTree::Found known, Pos bound);
  void recover(RunningRequest& request, PrefixNodeId id, Pos bound);
  void hand_over(RunningRequest& request, PrefixTree::Found known, std::span<const PromptBlock> blocks);
  void become_leaf(RunningRequest& request, PrefixTree::Found known, std::span<const PromptBlock> blocks);
  void copy_to_leaf(RunningRequest& request, PrefixTree::Found known, std::span<const PromptBlock> blocks);
  void release(RunningRequest& request);
  void let_go(RunningRequest& request, Pos own_begin);
  void give_slot(const RunningRequest& request);
  void forget(const RunningRequest& request);
  void free_range(Side side, Row row, Range range);
  void write(const RunningRequest& request, Range range);
  void read_sometimes(const RunningRequest& request);

  [[nodiscard]] std::int64_t pages(Pos begin, Pos end) const { return geo.pages_of(end) - geo.pages_of(begin); }
  [[nodiscard]] Pos aligned(Pos pos) const { return pos / geo.page * geo.page; }
  /// Eviction of a request's window may go up to here (C8).
  [[nodiscard]] Pos window_bound(Pos length) const { return aligned(length > geo.window ? length - geo.window : 0); }
};

}  // namespace poolproof
