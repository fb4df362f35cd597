#include "recording/explain_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "props/wrapped.hpp"

namespace poolproof {
namespace {

constexpr std::size_t width = 100;

/// Broken into lines, indented.
std::string paragraph(const std::string& text) {
  std::string out;
  for (const std::string& line : wrapped(text, width)) {
    out += "  " + line + "\n";
  }
  return out;
}

std::string counted(std::int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

/// "512 tokens, 2 pages of 256".
std::string amount(Tokens tokens, std::optional<Tokens> page) {
  std::string text = counted(tokens, "token");
  if (!page || *page == 1) {
    return text;
  }
  if (tokens % *page == 0) {
    return text + fmt::format(", {} of {}", counted(tokens / *page, "page"), *page);
  }
  return text + fmt::format(", {} of {} and {} over", counted(tokens / *page, "page"), *page, tokens % *page);
}

class Explainer {
 public:
  Explainer(const EngineMessage& message, std::optional<Tokens> page)
      : message_(message), page_(message.page ? message.page : page) {}

  std::string explain();

 private:
  void add(const std::string& text) { out_ += paragraph(text); }
  void sums();
  void sum(const PoolSum& sum);
  void states(std::int64_t over_by);
  void over(const PoolSum& sum, Tokens tokens);
  void missing(const PoolSum& sum, Tokens tokens);
  void ring(const PoolSum& sum);
  void both_pools();
  void slots(const SlotSum& slots);
  void out_of_memory(const OutOfMemory& refused);
  void known();
  void next();
  [[nodiscard]] const PoolSum* find(std::string_view pool) const {
    const auto at =
        std::find_if(message_.sums.begin(), message_.sums.end(), [&](const PoolSum& sum) { return sum.pool == pool; });
    return at == message_.sums.end() ? nullptr : &*at;
  }
  [[nodiscard]] bool odd(Tokens tokens) const { return page_ && *page_ > 1 && tokens % *page_ != 0; }
  [[nodiscard]] bool one_page(Tokens tokens) const { return page_ && *page_ > 1 && tokens == *page_; }

  const EngineMessage& message_;
  std::optional<Tokens> page_;
  std::string out_;
};

std::string pool_name(const PoolSum& sum) {
  return sum.pool == "kv" ? "KV pool" : sum.pool == "swa" ? "SWA pool" : sum.pool + " pool";
}

void Explainer::sum(const PoolSum& sum) {
  std::string terms;
  for (const CountedPart& part : sum.parts) {
    terms += fmt::format("{}{} {}", terms.empty() ? "" : " + ", part.tokens, part.name);
  }
  out_ += fmt::format("{}: {} = {} of {}\n", pool_name(sum), terms, sum.sum(), sum.total);
  if (sum.ring) {
    return ring(sum);
  }
  const Tokens over_by = sum.over();
  if (sum.pool.starts_with("mamba")) {
    return states(over_by);
  }
  if (over_by == 0) {
    return add("It adds up: nothing is wrong with this pool in this line.");
  }
  over_by > 0 ? over(sum, over_by) : missing(sum, -over_by);
}

/// State slots of state-space layers: not this program's pools, but the same arithmetic.
void Explainer::states(std::int64_t over_by) {
  if (over_by == 0) {
    return add("It adds up.");
  }
  add(
      fmt::format("{} {}. State slots are given back with their request or their cache node; poolproof does not model "
                  "them.",
                  over_by > 0 ? "Too many by" : "Missing", counted(std::abs(over_by), "state slot")));
}

void Explainer::over(const PoolSum& sum, Tokens tokens) {
  out_ += fmt::format("  Too much by {}: an over-free.\n", amount(tokens, page_));
  if (sum.parts.front().name == "available" && sum.parts.front().tokens > sum.total) {
    add(
        fmt::format("More is free than the pool has, so the free list itself is wrong: a page stands in it twice, or a "
                    "page came that this pool never lent{}. AVAIL_LE_SIZE; like B41, B94, credited-twice{} (`poolproof "
                    "list mutants`).",
                    sum.pool == "swa" ? " (page 0, or any page when the SWA KV lives in a per-request ring)" : "",
                    sum.pool == "swa" ? ", B15-group-end, B08" : ""));
  } else {
    add("These tokens are counted twice: pages were given back while the cache or a request still holds them (C1, C3), "
        "or two holders count the same tokens. AVAIL_EXACT; like B41, B36, credited-twice (`poolproof list mutants`).");
  }
  if (one_page(tokens)) {
    add("It is exactly one page: look at a page at a border that two calls give back (B26, B27), and at page 0 (B08).");
  } else if (odd(tokens)) {
    add("It is no whole number of pages: lists hold whole pages, so a length was counted that was not rounded to pages "
        "(B61), or more than one thing went wrong.");
  }
}

void Explainer::missing(const PoolSum& sum, Tokens tokens) {
  out_ += fmt::format("  Missing {}: a leak.\n", amount(tokens, page_));
  add("They were lent, and neither the free list nor the cache nor a request has them. AVAIL_EXACT and CONSERVATION "
      "when "
      "the allocator lost them, a caller's C9 or C10 when nobody gave them back.");
  if (one_page(tokens)) {
    add("It is exactly one page: look at the partly filled last page of a request, whose tail nobody gives back when "
        "the "
        "length is cut to whole pages, and at a lending that was refused half way (B30).");
  } else if (odd(tokens)) {
    add("It is no whole number of pages: lists hold whole pages, so one side counts tokens and the other pages (B61), "
        "or "
        "a length was not brought up to date.");
  } else if (sum.pool == "swa") {
    add("SWA pages go missing when a full half is given back while its peer is live (B46: free_full where free was "
        "due), "
        "or when a peer is lost by a mapping that was cleared too wide (B01).");
  }
  if (message_.busy && find("uncached") == nullptr) {
    add("It was found with requests running: a request whose length the check took too short looks like a leak too.");
  }
}

void Explainer::ring(const PoolSum& sum) {
  add("The SWA KV lives in a per-request ring: available counts request slots, and the engine does not add it up. A "
      "leak "
      "of slots shows in the req_to_token_pool check.");
  if (sum.parts.front().tokens > sum.total) {
    add("More is available than the total: the total is of another unit (B16), or frees give pages to the paged SWA "
        "pool, "
        "which lent none (RING_POOL_IDLE; sgl-project/sglang#38571, B15-group-end).");
  }
}

void Explainer::both_pools() {
  const PoolSum* full = find("full");
  const PoolSum* swa = find("swa");
  if (full == nullptr || swa == nullptr || swa->ring) {
    return;
  }
  if (full->over() == swa->over() && full->over() < 0) {
    add("Both pools miss the same: whole requests were not given back (an abort, a retract, a queue), not one half.");
  } else if (full->over() < 0 && swa->over() == 0) {
    add("The full pool alone misses pages: a lending whose SWA half was refused (B30), or free_swa where free was "
        "due.");
  } else if (full->over() == 0 && swa->over() > 0) {
    add("The SWA pool alone has too much: peers went back twice, or through a stale mapping (B01, B20, B36).");
  }
}

void Explainer::sums() {
  for (const PoolSum& each : message_.sums) {
    sum(each);
  }
  both_pools();
  const bool differs = std::any_of(message_.sums.begin(), message_.sums.end(), [](const PoolSum& sum) {
    return !sum.ring && sum.over() != 0 && !sum.pool.starts_with("mamba");
  });
  if (differs && !page_) {
    add("The message does not say the page size; --page N counts the difference in pages.");
  }
}

void Explainer::slots(const SlotSum& slots) {
  const std::int64_t accounted = slots.available + slots.session_held;
  out_ += fmt::format("request slots: {} free + {} held by sessions = {} of {}\n", slots.available, slots.session_held,
                      accounted, slots.total);
  const std::int64_t over_by = accounted - slots.total;
  if (over_by > 0) {
    add(fmt::format(
        "Too many by {}: slots were given back twice. C9, RING_SLOT_EXCLUSIVE; like slot-given-twice. (On the "
        "decode side of a disaggregated engine the total leaves out the slots for pre-allocation.)",
        counted(over_by, "slot")));
  } else if (over_by < 0) {
    add(fmt::format(
        "Missing {}: requests ended, were retracted or aborted without giving their slot back. C9. With a ring "
        "each of them holds a whole ring of SWA KV.",
        counted(-over_by, "slot")));
  } else {
    add("It adds up. (On the decode side of a disaggregated engine the total leaves out the slots for pre-allocation, "
        "so "
        "some of those are missing.)");
  }
}

void Explainer::out_of_memory(const OutOfMemory& refused) {
  out_ += fmt::format("refused: {}", amount(refused.wanted, page_));
  if (!refused.available) {
    out_ += "\n";
    return add("What was free then, the message does not say.");
  }
  const Tokens evictable = refused.evictable.value_or(0);
  out_ += fmt::format(" with {} free and {} evictable\n", *refused.available, evictable);
  if (*refused.available >= refused.wanted) {
    add("As many tokens are free: a refusal that need not be (SERVED_WHEN_FITS; like estimate-refuses, "
        "no-merge-when-short), unless they are spread over the heads of pages: a request needs whole new pages, and "
        "with "
        "an SWA pool both pools must have them.");
  } else if (*refused.available + evictable >= refused.wanted) {
    add("It fits after eviction: the cache evicted too little, or from the wrong pool, before it asked.");
  } else {
    add("It does not fit: the engine admitted more than the pool has. That is the scheduler's estimate, or a leak "
        "before "
        "it: look for an earlier leak message.");
  }
}

void Explainer::known() {
  for (const KnownText* text : message_.known) {
    out_ += fmt::format("\"{}\"\n", text->text);
    add(std::string(text->meaning));
    add(fmt::format("{}{}.", text->rule,
                    text->family.empty() ? "" : fmt::format("; like {} (`poolproof list mutants`)", text->family)));
  }
}

void Explainer::next() {
  out_ +=
      "next:\n"
      "  1. Record the calls of the running engine until it says so again (docs/recording.md).\n"
      "  2. poolproof import LOG... -o bug.trace     says whose fault it is, and which call's\n"
      "  3. poolproof replay bug.trace               the life of each page; --impl exec:'...' runs your allocator\n"
      "  4. poolproof shrink bug.trace --impl NAME -o small.trace   the ops that matter, of an allocator's fault\n"
      "The engine's own switches, to have it found nearer to its cause:\n"
      "  SGLANG_ENABLE_STRICT_MEM_CHECK_DURING_BUSY=1  counts after every batch (0.5.6 and later)\n"
      "  SGLANG_DEBUG_MEMORY_POOL=1                    looks for duplicates in the lists on every free\n"
      "  SGLANG_CHECK_KV_PAGE_INVARIANTS=1             looks for pages that are held and free (0.5.15 and later)\n";
}

std::string Explainer::explain() {
  known();
  sums();
  if (message_.slots) {
    slots(*message_.slots);
  }
  if (message_.out_of_memory) {
    out_of_memory(*message_.out_of_memory);
  }
  next();
  return std::move(out_);
}

}  // namespace

std::string explain_engine_message(const EngineMessage& message, std::optional<Tokens> page) {
  return Explainer(message, page).explain();
}

std::string known_messages() {
  std::string text =
      "  '... memory leak detected!', 'Mem Leak Detected!' and '[Mem Check (BUSY)]' lines with their numbers\n"
      "  'req_to_token_pool memory leak detected!' with its numbers\n"
      "  'Prefill out of memory', 'Decode out of memory' with the lines behind them\n";
  for (const KnownText& known : known_texts()) {
    text += fmt::format("  '{}'\n", known.text);
  }
  return text;
}

}  // namespace poolproof
