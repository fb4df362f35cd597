// A child that serves the host twin until it is told to go wrong: `hostile_child --at METHOD[:NTH] --do WHAT
// [--once FILE]` breaks at the NTH call of METHOD after a reset, or at "hello", "reset" or each "exchange" of several
// ops. "leave" goes away once that line is answered. With --once it does so while FILE is not there yet, and makes it.
// `--renamed` numbers pages backwards;
// `--without OFFER` leaves one out of the hello.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <utility>

#include "impl/bridge/serve.hpp"
#include "impl/bridge/wire.hpp"
#include "tests/bridge/child/renamed_allocator.hpp"

namespace poolproof::testing {
namespace {

struct Plan {
  std::string at;
  int nth = 1;
  std::string what;
  std::string once;
  std::string without;
  bool renamed = false;
};

Plan plan_of(int argc, char** argv) {
  Plan plan;
  std::map<std::string, std::string*> options{
      {"--at", &plan.at}, {"--do", &plan.what}, {"--once", &plan.once}, {"--without", &plan.without}};
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--renamed") {
      plan.renamed = true;
    } else if (options.contains(option) && i + 1 < argc) {
      *options[option] = argv[++i];
    } else {
      std::fprintf(stderr, "hostile_child: what is %s?\n", argv[i]);
      std::exit(64);
    }
  }
  if (const std::size_t colon = plan.at.find(':'); colon != std::string::npos) {
    plan.nth = std::stoi(plan.at.substr(colon + 1));
    plan.at.resize(colon);
  }
  return plan;
}

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

/// Goes wrong. Comes back only where the child lives on.
void misbehave(const std::string& what) {
  std::fprintf(stderr, "about to %s\n", what.c_str());
  if (what == "crash") {
    std::abort();
  } else if (what == "exit") {
    std::exit(7);
  } else if (what == "close") {
    ::close(STDOUT_FILENO);
    ::pause();
  } else if (what == "hang") {
    ::pause();
  } else if (what == "half-line") {
    say("{\"answers\":[{\"lo");
    std::exit(0);
  } else if (what == "huge") {
    const std::string block(1U << 20U, 'x');
    for (int i = 0; i < 80; ++i) {
      say(block);
    }
    ::pause();
  } else {
    static const std::map<std::string, std::string> lines{
        {"garbage", "Traceback (most recent call last):"},
        {"wrong-type", R"({"answers":"none"})"},
        {"too-few", R"({"answers":[]})"},
        {"wrong-version", R"({"poolproof":2,"name":"hostile","pools":[]})"},
        {"nameless", R"({"poolproof":1})"},
        {"unknown-call", R"({"poolproof":1,"name":"x","pools":[{"layout":"paged","calls":["alloc_extend","fly"]}]})"},
        {"needs-more", R"({"poolproof":1,"name":"x","pools":[{"layout":"hybrid","calls":["alloc_extend","free"]}]})"},
    };
    say(lines.at(what) + "\n");
  }
}

bool due(const Plan& plan) {
  if (plan.once.empty()) {
    return true;
  }
  if (std::ifstream(plan.once).good()) {
    return false;
  }
  std::ofstream(plan.once) << "done\n";
  return true;
}

/// How many of the planned method's calls a line has.
int calls_in(const std::string& line, const std::string& method) {
  const std::string wanted = "\"call\":\"" + method + "\"";
  int count = 0;
  for (std::size_t at = line.find(wanted); at != std::string::npos; at = line.find(wanted, at + 1)) {
    ++count;
  }
  return count;
}

ImplInfo served(bool renamed) {
  ImplInfo info;
  info.name = "hostile";
  info.supports = [renamed](const Geometry& g) { return !renamed || !g.need_sort; };  // lists descend
  info.make = [renamed](const Geometry& g) -> Result<std::unique_ptr<Allocator>, std::string> {
    auto host = make_host(g);
    if (!host || !renamed) {
      return host;
    }
    return std::unique_ptr<Allocator>(std::make_unique<RenamedAllocator>(g, std::move(host).value()));
  };
  return info;
}

std::string without(std::string hello, const std::string& offer) {
  const std::string name = "\"" + offer + "\"";
  for (std::size_t at = hello.find(name); !offer.empty() && at != std::string::npos; at = hello.find(name)) {
    const bool last = hello[at + name.size()] == ']';
    hello.erase(last ? at - 1 : at, name.size() + 1);
  }
  return hello;
}

/// An error that spoils the process: all that comes after it fails too.
int serve_spoilt() {
  const std::string error = R"("error":{"type":"DeviceError","text":"sticky","where":"kernel.cu:1"})";
  say("{\"answers\":[{" + error + "}]}\n");
  for (std::string line; std::getline(std::cin, line);) {
    say(line.starts_with("{\"reset\"") ? "{" + error + "}\n" : "{\"answers\":[{" + error + "}]}\n");
  }
  return 0;
}

int serve(const Plan& plan) {
  const ImplInfo info = served(plan.renamed);
  Server server(info);
  int seen = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const bool hello = line.find("\"hello\"") != std::string::npos;
    const bool reset = line.starts_with("{\"reset\"");
    const int before = std::exchange(seen, reset ? 0 : seen + calls_in(line, plan.at));
    const bool reached = (plan.at == "hello" && hello) || (plan.at == "reset" && reset) ||
                         (plan.at == "exchange" && calls_in(line, "gauges") > 1) ||
                         (before < plan.nth && seen >= plan.nth);
    const bool leaves = reached && plan.what == "leave";
    if (reached && !leaves && due(plan)) {
      if (plan.what == "spoil") {
        return serve_spoilt();
      }
      misbehave(plan.what);
      continue;
    }
    Result<std::string, BadRequest> answer = server.answer(line);
    if (!answer) {
      std::fprintf(stderr, "hostile_child: %s\n", answer.error().what.c_str());
      return 65;
    }
    say((hello ? without(*answer, plan.without) : *answer) + "\n");
    if (leaves) {
      return 0;
    }
  }
  return 0;
}

}  // namespace
}  // namespace poolproof::testing

int main(int argc, char** argv) { return poolproof::testing::serve(poolproof::testing::plan_of(argc, argv)); }
