// The traces in the manual do what the manual says of them, and each invariant and each rule is explained by one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "impl/ranks.hpp"
#include "model/invariants.hpp"
#include "model/trace_text.hpp"
#include "props/lockstep.hpp"
#include "tests/props/trace_header.hpp"

namespace poolproof {
namespace {

/// A trace of a page, without the page's indentation.
struct Example {
  std::string page;
  std::size_t line = 0;  ///< of the page, from 1
  std::string text;
  [[nodiscard]] std::string mutant() const { return trace_header(text, "mutant"); }
  [[nodiscard]] std::string expected() const { return trace_header(text, "expect"); }
};

void PrintTo(const Example& example, std::ostream* out) { *out << example.page << ":" << example.line; }

/// What stands between one heading and the next.
struct Section {
  std::string heading;
  std::string prose;
  std::vector<Example> examples;
};

constexpr std::string_view code_indent = "    ";

/// Reads one page: code is what stands in a fence or is indented by four blanks, and traces are the code that begins
/// with the header line of one.
class PageReader {
 public:
  explicit PageReader(std::string page) : page_(std::move(page)) {
    std::istringstream lines(file_text(POOLPROOF_SOURCE_DIR "/" + page_));
    for (std::string line; std::getline(lines, line);) {
      ++number_;
      read(line);
    }
    end_block();
  }
  [[nodiscard]] std::vector<Section> take() { return std::move(sections_); }

 private:
  void read(const std::string& line) {
    if (line.starts_with("```")) {
      end_block();
      fenced_ = !fenced_;
    } else if (fenced_) {
      add_code(line);
    } else if (line.starts_with(code_indent)) {
      add_code(line.substr(code_indent.size()));
    } else {
      end_block();
      add_prose(line);
    }
  }
  void add_code(const std::string& line) {
    if (block_.text.empty()) {
      block_ = {page_, number_, {}};
    }
    block_.text += line + "\n";
  }
  void end_block() {
    if (block_.text.starts_with("poolproof 1\n")) {
      sections_.back().examples.push_back(block_);
    }
    block_ = {};
  }
  void add_prose(const std::string& line) {
    const std::size_t marks = line.find_first_not_of('#');
    if (marks != 0 && marks != std::string::npos && line[marks] == ' ') {
      sections_.push_back({line.substr(marks + 1), {}, {}});
    } else {
      sections_.back().prose += line + "\n";
    }
  }

  std::string page_;
  std::size_t number_ = 0;
  bool fenced_ = false;
  Example block_;
  std::vector<Section> sections_{Section{}};
};

std::vector<Section> sections_of(const std::string& page) { return PageReader(page).take(); }

std::vector<Example> examples_of(const std::string& page) {
  std::vector<Example> examples;
  for (Section& section : sections_of(page)) {
    std::move(section.examples.begin(), section.examples.end(), std::back_inserter(examples));
  }
  return examples;
}

const std::vector<std::string>& pages() {
  static const std::vector<std::string> names{"README.md", "docs/trace-language.md", "docs/invariants.md"};
  return names;
}

std::vector<Example> all_examples() {
  std::vector<Example> all;
  for (const std::string& page : pages()) {
    const std::vector<Example> examples = examples_of(page);
    all.insert(all.end(), examples.begin(), examples.end());
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Example>& info) {
  std::string name = info.param.page + "_" + std::to_string(info.param.line);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

std::string outcome(const Trace& trace, const std::string& impl_name) {
  const ImplInfo* impl = find_impl(impl_name);
  if (impl == nullptr) {
    return "there is no implementation " + impl_name;
  }
  const RunResult result = run_and_pin(trace, with_ranks(*impl, 1));
  if (!result.build_error.empty()) {
    return result.build_error;
  }
  return result.verdict ? std::string(cause_id(result.verdict->cause)) : "holds";
}

class DocsExample : public testing::TestWithParam<Example> {};

TEST_P(DocsExample, DoesWhatItSays) {
  const Example& example = GetParam();
  const auto trace = parse_trace(example.text, example.page);
  ASSERT_TRUE(trace) << trace.error().render();
  const std::string& right = host_impl_for(trace->geometry).name;
  if (!example.mutant().empty()) {
    EXPECT_EQ(outcome(*trace, example.mutant()), example.expected()) << example.mutant();
    EXPECT_EQ(outcome(*trace, right), "holds");
  } else {
    EXPECT_EQ(outcome(*trace, right), example.expected().empty() ? "holds" : example.expected());
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, DocsExample, testing::ValuesIn(all_examples()), name_of);

/// docs/adapter.md quotes code in fences that name its file: "```cpp tests/consumer/main.cpp".
TEST(Docs, CodeIsQuotedAsItIs) {
  const std::string page = file_text(POOLPROOF_SOURCE_DIR "/docs/adapter.md");
  const std::string path_start = " tests/consumer/";
  std::size_t quotes = 0;
  for (std::size_t at = page.find(path_start); at != std::string::npos; at = page.find(path_start, at + 1)) {
    const std::size_t code = page.find('\n', at) + 1;
    const std::string path = page.substr(at + 1, code - at - 2);
    const std::string quoted = page.substr(code, page.find("```", code) - code);
    EXPECT_NE(file_text(POOLPROOF_SOURCE_DIR "/" + path).find(quoted), std::string::npos) << path << ":\n" << quoted;
    ++quotes;
  }
  EXPECT_GE(quotes, 8U);
}

TEST(Docs, EachPageHasExamples) {
  for (const std::string& page : pages()) {
    EXPECT_FALSE(examples_of(page).empty()) << page;
  }
}

/// In lower case, and broken nowhere.
std::string flowing(const std::string& prose) {
  std::istringstream words(prose);
  std::string text;
  for (std::string word; words >> word;) {
    text += (text.empty() ? "" : " ") + word;
  }
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The sections of docs/invariants.md whose headings are ids of invariants or rules, in their order.
std::vector<Section> explained() {
  std::vector<Section> all = sections_of("docs/invariants.md");
  std::erase_if(all, [](const Section& section) {
    const bool rule =
        std::any_of(rules().begin(), rules().end(), [&](const RuleInfo& info) { return info.id == section.heading; });
    return !rule && !invariant_from(section.heading);
  });
  return all;
}

void expect_states(const Section& section, std::string_view id, std::string_view statement) {
  EXPECT_EQ(section.heading, id);
  EXPECT_TRUE(flowing(section.prose).starts_with(flowing(std::string(statement)) + "."))
      << id << " begins with its statement: " << statement;
}

TEST(Docs, EachInvariantIsStatedInOrderAndShown) {
  const std::vector<Section> sections = explained();
  ASSERT_EQ(sections.size(), invariant_count + rule_count);
  for (std::size_t i = 0; i < invariant_count; ++i) {
    const InvariantInfo& info = invariants().at(i);
    const Section& section = sections[i];
    expect_states(section, info.id, info.statement);
    EXPECT_EQ(flowing(section.prose).find("checked by the census") != std::string::npos, info.census) << info.id;
    ASSERT_FALSE(section.examples.empty()) << info.id;
    for (const Example& example : section.examples) {
      EXPECT_NE(example.mutant(), "") << info.id;
      EXPECT_EQ(example.expected(), info.id);
    }
  }
}

TEST(Docs, EachRuleIsStatedInOrderAndShown) {
  const std::vector<Section> sections = explained();
  ASSERT_EQ(sections.size(), invariant_count + rule_count);
  for (std::size_t i = 0; i < rule_count; ++i) {
    const RuleInfo& info = rules().at(i);
    const Section& section = sections[invariant_count + i];
    expect_states(section, info.id, info.statement);
    ASSERT_FALSE(section.examples.empty()) << info.id;
    for (const Example& example : section.examples) {
      EXPECT_EQ(example.mutant(), "") << info.id;
      EXPECT_EQ(example.expected(), info.id);
    }
  }
}

}  // namespace
}  // namespace poolproof
