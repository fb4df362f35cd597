#include "tests/cli/xml.hpp"

#include <gtest/gtest.h>

namespace poolproof {
namespace {

const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

TEST(Xml, WellFormed) { EXPECT_EQ(xml_fault(head + "<a x=\"1\"><b/>text &amp; &#10;</a>\n"), ""); }

TEST(Xml, NotWellFormed) {
  for (const char* body : {"", "<a>", "</a>", "<a></b>", "<a>&</a>", "<a x=1/>", "<a/><a/>", "<a x=\"<\"/>", "<a/>x",
                           "<a x=\"&\"/>", "<a"}) {
    EXPECT_NE(xml_fault(head + body), "") << body;
  }
  EXPECT_NE(xml_fault("<a/>"), "");
}

}  // namespace
}  // namespace poolproof
