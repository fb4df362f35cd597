/* A paged and token pool in C that speaks poolproof's external protocol (docs/external.md). Copy it and put your own in.
 *
 *     cc -O2 -o /tmp/template adapters/template.c
 *     poolproof check --impl exec:/tmp/template
 *
 * No JSON library: poolproof's lines are read by a scanner of some thirty lines, which knows where a key's value is. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long long loc_t;

/* A growing list of numbers. */
struct list {
  loc_t *items;
  size_t count, room;
};

static void push(struct list *list, loc_t item) {
  if (list->count == list->room) {
    list->room = list->room ? 2 * list->room : 64;
    list->items = realloc(list->items, list->room * sizeof *list->items);
    if (list->items == NULL) {
      fputs("template: out of memory\n", stderr);
      exit(1);
    }
  }
  list->items[list->count++] = item;
}

/* ---- the pool: pages 1..pages; a stack of free ones, and the pages given back in the open free group */

static loc_t page_size, pages;
static struct list free_pages, deferred;
static bool group_open;

static void pool_clear(void) {
  free_pages.count = deferred.count = 0;
  group_open = false;
  for (loc_t page = pages; page >= 1; --page) push(&free_pages, page);
}

static loc_t pages_of(loc_t tokens) { return (tokens + page_size - 1) / page_size; }

/* False: it does not fit, and nothing has changed. */
static bool pool_extend(const struct list *prefix, const struct list *seq, const struct list *last, struct list *out) {
  loc_t wanted = 0;
  for (size_t i = 0; i < seq->count; ++i) wanted += pages_of(seq->items[i]) - pages_of(prefix->items[i]);
  if (wanted > (loc_t)free_pages.count) return false;
  for (size_t i = 0; i < seq->count; ++i) {
    loc_t loc = last->items[i];
    for (loc_t pos = prefix->items[i]; pos < seq->items[i]; ++pos) {
      loc = pos % page_size == 0 ? free_pages.items[--free_pages.count] * page_size : loc + 1;
      push(out, loc);
    }
  }
  return true;
}

/* Any loc of a page releases it; named twice in one call it counts once. */
static void pool_free(const struct list *locs) {
  struct list *target = group_open ? &deferred : &free_pages;
  const size_t before = target->count;
  for (size_t i = 0; i < locs->count; ++i) {
    const loc_t page = locs->items[i] / page_size;
    bool seen = false;
    for (size_t j = before; j < target->count && !seen; ++j) seen = target->items[j] == page;
    if (!seen) push(target, page);
  }
}

static void pool_group_end(void) {
  for (size_t i = 0; i < deferred.count; ++i) push(&free_pages, deferred.items[i]);
  deferred.count = 0;
  group_open = false;
}

/* ---- reading: an object is the text from its brace; a key's value starts behind `"key":` */

static const char *value_of(const char *object, const char *key) {
  size_t length = strlen(key);
  int depth = 0;
  for (const char *at = object; *at != '\0'; ++at) {
    if (*at == '{' || *at == '[') ++depth;
    if ((*at == '}' || *at == ']') && --depth == 0) break;
    if (*at == '"') { /* texts of requests have no escapes */
      const char *end = strchr(at + 1, '"');
      if (end == NULL) break;
      if (depth == 1 && (size_t)(end - at - 1) == length && strncmp(at + 1, key, length) == 0 && end[1] == ':')
        return end + 2;
      at = end;
    }
  }
  return NULL;
}

static loc_t number_of(const char *object, const char *key) {
  const char *value = value_of(object, key);
  return value == NULL ? 0 : strtoll(value, NULL, 10);
}

/* The numbers of `[1,2,3]`; answers what comes behind it. */
static const char *read_numbers(const char *at, struct list *out) {
  for (++at; *at != ']' && *at != '\0';) {
    char *end;
    const loc_t number = strtoll(at, &end, 10);
    if (end == at) break;
    push(out, number);
    at = *end == ',' ? end + 1 : end;
  }
  return *at == ']' ? at + 1 : at;
}

/* What each call of the line lent, in one list; call i lent lent.items[lent_at.items[i] ..]. */
static struct list lent, lent_at;

/* Runs, spelled out: [first, count], or [call, first, count] of what an earlier call lent. */
static void read_locs(const char *at, struct list *out) {
  for (++at; *at == '[' || *at == ',';) {
    if (*at == ',') ++at;
    struct list run = {0};
    at = read_numbers(at, &run);
    const loc_t first = run.items[run.count - 2], count = run.items[run.count - 1];
    for (loc_t i = 0; i < count; ++i)
      push(out, run.count == 2 ? first + i : lent.items[lent_at.items[run.items[0]] + first + i]);
    free(run.items);
  }
}

/* The next `{...}` of a list of objects, or NULL. */
static const char *next_object(const char *at) {
  while (*at != '\0' && *at != '{' && *at != ']') ++at;
  return *at == '{' ? at : NULL;
}

static const char *behind_object(const char *at) {
  int depth = 0;
  bool text = false;
  for (; *at != '\0'; ++at) {
    if (*at == '"') text = !text;
    if (!text && *at == '{') ++depth;
    if (!text && *at == '}' && --depth == 0) return at + 1;
  }
  return at;
}

/* ---- answering */

static void print_runs(const loc_t *items, size_t count) {
  putchar('[');
  for (size_t i = 0; i < count; ++i) printf("%s[%lld,1]", i == 0 ? "" : ",", items[i]);
  putchar(']');
}

static bool is(const char *name, const char *wanted) {
  return strncmp(name, wanted, strlen(wanted)) == 0 && name[strlen(wanted)] == '"';
}

static void lend(const char *call, const char *name) {
  struct list prefix = {0}, seq = {0}, last = {0};
  if (is(name, "alloc")) {
    push(&prefix, 0);
    push(&seq, number_of(call, "tokens"));
    push(&last, -1);
  } else {
    read_numbers(value_of(call, "seq_lens"), &seq);
    read_locs(value_of(call, "last_locs"), &last);
    if (is(name, "alloc_extend"))
      read_numbers(value_of(call, "prefix_lens"), &prefix);
    else
      for (size_t i = 0; i < seq.count; ++i) push(&prefix, seq.items[i] - 1);
  }
  const size_t before = lent.count;
  if (pool_extend(&prefix, &seq, &last, &lent)) {
    printf("{\"locs\":");
    print_runs(lent.items + before, lent.count - before);
    putchar('}');
  } else {
    printf("{\"refused\":true}");
  }
  free(prefix.items);
  free(seq.items);
  free(last.items);
}

static void give_back(const char *call, const char *name) {
  struct list locs = {0};
  if (is(name, "free")) {
    read_locs(value_of(call, "locs"), &locs);
  } else {
    for (const char *at = next_object(value_of(call, "segments")); at != NULL; at = next_object(behind_object(at)))
      read_locs(value_of(at, "locs"), &locs);
  }
  pool_free(&locs);
  free(locs.items);
  printf("{}");
}

static void perform(const char *call) {
  const char *name = value_of(call, "call") + 1;
  push(&lent_at, (loc_t)lent.count);
  if (strncmp(name, "alloc", 5) == 0) {
    lend(call, name);
  } else if (is(name, "free") || is(name, "free_segments")) {
    give_back(call, name);
  } else if (is(name, "gauges")) {
    printf("{\"gauges\":{\"available\":%lld,\"size\":%lld}}", (loc_t)free_pages.count * page_size, pages * page_size);
  } else if (is(name, "census")) {
    printf("{\"census\":{\"full\":{\"free\":");
    print_runs(free_pages.items, free_pages.count);
    printf(",\"deferred\":");
    print_runs(deferred.items, deferred.count);
    printf("}}}");
  } else {
    if (is(name, "free_group_begin")) group_open = true;
    if (is(name, "free_group_end")) pool_group_end();
    if (is(name, "clear")) pool_clear();
    printf("{}");
  }
}

static void answer(const char *line) {
  const char *calls = "[\"alloc\",\"alloc_extend\",\"alloc_decode\",\"free\",\"free_segments\",\"free_duplicates\","
                      "\"free_group\",\"clear\",\"census\"]";
  const char *reset = value_of(line, "reset");
  if (value_of(line, "hello") != NULL) {
    printf("{\"poolproof\":1,\"name\":\"template in C\",\"pools\":[{\"layout\":\"token\",\"page\":[1,1],\"calls\":%s},"
           "{\"layout\":\"paged\",\"calls\":%s}]}\n", calls, calls);
  } else if (reset != NULL) {
    page_size = number_of(reset, "page");
    pages = number_of(reset, "full") / page_size;
    pool_clear();
    printf("{\"ok\":true}\n");
  } else {
    lent.count = lent_at.count = 0;
    printf("{\"answers\":[");
    const char *at = next_object(value_of(line, "run"));
    for (bool first = true; at != NULL; at = next_object(behind_object(at)), first = false) {
      if (!first) putchar(',');
      perform(at);
    }
    printf("]}\n");
  }
  fflush(stdout);
}

int main(void) {
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) >= 0) answer(line);
  free(line);
  return 0;
}
