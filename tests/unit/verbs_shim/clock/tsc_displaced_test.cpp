#include "verbs_shim/client/clock/tsc_displaced.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace simverbs::client::clock {
namespace {

size_t length_of(std::initializer_list<uint8_t> bytes) {
    uint8_t code[16] = {};
    size_t n = 0;
    for (const uint8_t b : bytes) code[n++] = b;
    return displaceable_length(code);
}

TEST(TscDisplaced, WhatCompilersPutBehindAnRdtsc_HasItsLength) {
    EXPECT_EQ(length_of({0x48, 0xC1, 0xE2, 0x20}), 4U);                 // shl $32, %rdx
    EXPECT_EQ(length_of({0x89, 0xC3}), 2U);                             // mov %eax, %ebx
    EXPECT_EQ(length_of({0x48, 0x09, 0xD0}), 3U);                       // or %rdx, %rax
    EXPECT_EQ(length_of({0x48, 0x8B, 0x8F, 0x28, 0x02, 0, 0}), 7U);     // mov 0x228(%rdi), %rcx
    EXPECT_EQ(length_of({0x4C, 0x8B, 0xAC, 0x24, 0x88, 0, 0, 0}), 8U);  // mov 0x88(%rsp), %r13
    EXPECT_EQ(length_of({0x48, 0x8B, 0x74, 0x24, 0x58}), 5U);           // mov 0x58(%rsp), %rsi
    EXPECT_EQ(length_of({0x4A, 0x89, 0x04, 0xC7}), 4U);                 // mov %rax, (%rdi,%r8,8)
    EXPECT_EQ(length_of({0x48, 0x8B, 0x04, 0xCD, 0, 0, 0, 0}), 8U);     // mov 0x0(,%rcx,8), %rax
    EXPECT_EQ(length_of({0x48, 0x8B, 0x45, 0xF8}), 4U);                 // mov -8(%rbp), %rax
    EXPECT_EQ(length_of({0x48, 0x8D, 0x48, 0x08}), 4U);                 // lea 8(%rax), %rcx
}

TEST(TscDisplaced, WhatDependsOnItsPlaceOrMayJump_StaysWhereItIs) {
    EXPECT_EQ(length_of({0x48, 0x8B, 0x0D, 0xDC, 0x9F, 0x01, 0}), 0U);  // mov 0x19fdc(%rip), %rcx
    EXPECT_EQ(length_of({0xE8, 0, 0, 0, 0}), 0U);                       // call
    EXPECT_EQ(length_of({0xEB, 0xC4}), 0U);                             // jmp
    EXPECT_EQ(length_of({0x0F, 0x83, 0, 0, 0, 0}), 0U);                 // jae
    EXPECT_EQ(length_of({0x90}), 0U);                                   // nop
    EXPECT_EQ(length_of({0xC3}), 0U);                                   // ret
    EXPECT_EQ(length_of({0xF0, 0x48, 0x01, 0x07}), 0U);                 // lock add
    EXPECT_EQ(length_of({0x64, 0x48, 0x8B, 0x04, 0x25}), 0U);           // mov %fs:…
    EXPECT_EQ(length_of({0x66, 0x89, 0xC3}), 0U);                       // mov %ax, %bx
    EXPECT_EQ(length_of({0xC1, 0xE2, 0x10}), 0U);                       // shl $16, %edx
    EXPECT_EQ(length_of({0x48, 0x8D, 0xC1}), 0U);                       // lea of a register
}

}  // namespace
}  // namespace simverbs::client::clock
