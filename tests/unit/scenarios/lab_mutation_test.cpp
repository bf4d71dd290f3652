// Labs changed at random, always in the same way: whatever comes out, it is a lab or it is told why not.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "scenarios/lang/lab_library.hpp"
#include "tests/unit/scenarios/lab_test_support.hpp"

namespace simverbs::scenarios {
namespace {

constexpr int kMutantsOfEachSeed = 100;

/// Pieces that mean something to the language or to YAML.
constexpr std::array<std::string_view, 40> kPieces{
    "hosts:",   "nics: 2",   "links:",  "topology:", "{",      "}",        "[",    "]",       "- ",       ": ",
    "\n",       "\n  ",      "'",       "\"",        "&a ",    "*a",       "|",    ">",       "#",        "!!int ",
    "400 Gb/s", "4096 B",    "2 us",    "0.1 %",     "-1",     "1e99",     "0x",   "9999999", "h0",       "sw0",
    "mlx5_0",   "h0.mlx5_0", "faults:", "every: 0",  "count:", "explicit", "null", "~",       "\xC3\xA9", "\t"};

class Mutator {
  public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}

    std::string mutated(std::string text, const std::string& other) {
        const std::size_t changes = 1 + below(6);
        for (std::size_t i = 0; i < changes; ++i) change(text, other);
        return text;
    }

  private:
    std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }

    void change(std::string& text, const std::string& other) {
        const std::size_t at = below(text.size() + 1);
        const std::size_t length = below(std::min<std::size_t>(text.size() - at, 30) + 1);
        switch (below(6)) {
            case 0:
                text.erase(at, length);
                break;
            case 1:
                text.insert(at, kPieces.at(below(kPieces.size())));
                break;
            case 2:
                text.insert(at, text.substr(below(text.size() + 1), length));
                break;
            case 3:
                text.insert(at, other.substr(below(other.size() + 1), 40));
                break;
            case 4:
                if (at < text.size()) text[at] = static_cast<char>(below(256));
                break;
            case 5:
                if (at < text.size()) text[at] = static_cast<char>(' ' + below(95));
                break;
            default:
                break;
        }
    }

    std::mt19937_64 random_;
};

std::vector<std::string> seeds() {
    std::vector<std::string> texts;
    for (const std::string& name : list_labs(testing::library_dir())) {
        texts.push_back(testing::file_text(testing::library_dir() + "/" + name + ".yaml"));
    }
    for (const auto& entry : std::filesystem::directory_iterator(testing::source_root() / "tests/golden/lab_errors")) {
        if (entry.path().extension() == ".yaml") texts.push_back(testing::file_text(entry.path()));
    }
    std::sort(texts.begin(), texts.end());
    return texts;
}

TEST(LabMutation, AMutantIsALabOrIsToldWhyNot) {
    const std::vector<std::string> texts = seeds();
    std::size_t labs = 0;
    std::size_t refused = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        Mutator mutator(i + 1);
        for (int k = 0; k < kMutantsOfEachSeed; ++k) {
            const std::string text = mutator.mutated(texts[i], texts[(i + 1) % texts.size()]);
            const testing::Loaded loaded = testing::load(text);
            ASSERT_NE(loaded.lab.has_value(), !loaded.errors.empty()) << text << "\n---\n" << loaded.errors;
            (loaded.lab ? labs : refused) += 1;
        }
    }
    // Both outcomes must really be exercised.
    EXPECT_GT(labs, 200U);
    EXPECT_GT(refused, 500U);
}

TEST(LabMutation, ALabThatIsBuiltHasOnlyLinksBetweenThingsThatExist) {
    const std::vector<std::string> texts = seeds();
    for (std::size_t i = 0; i < texts.size(); ++i) {
        Mutator mutator(1000 + i);
        for (int k = 0; k < kMutantsOfEachSeed / 4; ++k) {
            const testing::Loaded loaded = testing::load(mutator.mutated(texts[i], texts[0]));
            if (!loaded.lab) continue;
            const LabSpec& lab = *loaded.lab;
            for (const LinkSpec& link : lab.links) {
                for (const LinkEnd* end : {&link.a, &link.b}) {
                    const auto node = static_cast<std::size_t>(end->node);
                    ASSERT_LT(node, end->is_switch ? lab.switches.size() : lab.hosts.size());
                    const int ports = end->is_switch
                                          ? lab.switches[node].ports
                                          : lab.hosts[node].nics.at(static_cast<std::size_t>(end->nic)).ports;
                    ASSERT_GE(end->port, 1);
                    ASSERT_LE(end->port, ports);
                }
            }
        }
    }
}

}  // namespace
}  // namespace simverbs::scenarios
