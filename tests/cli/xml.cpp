#include "tests/cli/xml.hpp"

#include <regex>
#include <vector>

namespace poolproof {
namespace {

const char* const reference = R"(&(amp|lt|gt|quot|apos|#[0-9]+);)";

/// Text or an attribute's value without references holds neither '<' nor '&'.
bool plain(const std::string& text) {
  return std::regex_replace(text, std::regex(reference), "").find_first_of("<&") == std::string::npos;
}

}  // namespace

std::string xml_fault(const std::string& text) {
  static const std::regex declaration(R"(<\?xml version="1\.0" encoding="UTF-8"\?>\n)");
  static const std::regex open_tag(R"(([a-z]+)((?: [a-z]+="[^"<]*")*)(/?))");
  std::smatch match;
  if (!std::regex_search(text, match, declaration, std::regex_constants::match_continuous)) {
    return "no declaration";
  }
  std::vector<std::string> open;
  std::size_t roots = 0;
  for (std::size_t at = static_cast<std::size_t>(match.length()); at < text.size();) {
    const std::size_t tag = std::min(text.find('<', at), text.size());
    const std::string between = text.substr(at, tag - at);
    if (!plain(between) || (open.empty() && between.find_first_not_of('\n') != std::string::npos)) {
      return "wrong text: " + between;
    }
    if (tag == text.size()) {
      break;
    }
    const std::size_t end = text.find('>', tag);
    if (end == std::string::npos) {
      return "a tag without end";
    }
    const std::string inside = text.substr(tag + 1, end - tag - 1);
    if (inside.starts_with("/")) {
      if (open.empty() || open.back() != inside.substr(1)) {
        return "closes what is not open: " + inside;
      }
      open.pop_back();
    } else if (std::regex_match(inside, match, open_tag) && plain(match[2].str())) {
      roots += open.empty() ? 1 : 0;
      if (match[3].length() == 0) {
        open.push_back(match[1].str());
      }
    } else {
      return "wrong tag: " + inside;
    }
    at = end + 1;
  }
  return open.empty() && roots == 1 ? "" : "not one root, closed";
}

}  // namespace poolproof
