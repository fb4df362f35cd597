// `poolproof check --guided`: the same verdicts, by other traces.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace poolproof {
namespace {

using Json = nlohmann::json;

TEST(CliGuided, FindsAndHolds) {
  const Sandbox sandbox;
  EXPECT_EQ(sandbox.run({"check", "--guided", "--impl", "B22", "--seed", "3"}).status, 1);
  const auto ops = [&](bool guided) {
    std::vector<std::string> args{"check", "--traces", "400", "--json", "-"};
    if (guided) {
      args.emplace_back("--guided");
    }
    const ProgramRun run = sandbox.run(args);
    EXPECT_EQ(run.status, 0) << run.err;
    return Json::parse(run.out)["results"][0]["ops"].get<std::uint64_t>();
  };
  EXPECT_LT(ops(true), ops(false));  // traces without news end early
}

}  // namespace
}  // namespace poolproof
