// SPDX-License-Identifier: Apache-2.0
//
// Does a trampoline pass on each argument and each result, at its first call and later ones? Made
// for the processor that it runs on; says what is wrong and ends with 1.
#include <cstdarg>
#include <cstdio>

extern "C" {
extern unsigned* berth_test_called;
extern void* berth_test_targets[];
extern const char* const berth_test_names[];

struct Shape {
    long sides[6];  // more than fits into registers
};
long berth_test_hooked();
long berth_test_many(long, long, long, long, long, long, long, long, long, int, double, double,
                     double, double, double, double, double, double, double, float);
long berth_test_missing();
Shape berth_test_shape(long, double);
double berth_test_sum(int count, ...);
void* berth_test_resolve(unsigned index);
}

namespace {

unsigned resolved = 0;
int wrong = 0;

void check(bool holds, const char* what) {
    if (holds) return;
    std::printf("wrong: %s\n", what);
    wrong = 1;
}

long many(long a, long b, long c, long d, long e, long f, long g, long h, long i, int j, double k,
          double l, double m, double n, double o, double p, double q, double r, double s, float t) {
    return a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7 && h == 8 && i == 9 &&
           j == 10 && k == 11 && l == 12 && m == 13 && n == 14 && o == 15 && p == 16 && q == 17 &&
           r == 18 && s == 19 && t == 20;
}

Shape shape(long from, double step) {
    Shape result{};
    for (int side = 0; side < 6; ++side) result.sides[side] = from + static_cast<long>(step) * side;
    return result;
}

double sum(int count, ...) {
    va_list numbers;
    va_start(numbers, count);
    double result = 0;
    for (int index = 0; index < count; ++index)
        result += va_arg(numbers, double) + va_arg(numbers, int);
    va_end(numbers);
    return result;
}

long missing() { return -7; }

}  // namespace

// In the place of its trampoline, which is weak.
long berth_test_hooked() { return 42; }

// Uses the registers of arguments for its own.
void* berth_test_resolve(unsigned index) {
    ++resolved;
    void* const targets[] = {nullptr, reinterpret_cast<void*>(many),
                             reinterpret_cast<void*>(missing), reinterpret_cast<void*>(shape),
                             reinterpret_cast<void*>(sum)};
    volatile double spent[10] = {};
    for (int at = 0; at < 10; ++at) spent[at] = spent[at] + index * 1.5;
    std::printf("%s%s", berth_test_names[index], spent[9] < 0 ? "!" : "\n");
    return berth_test_targets[index] = targets[index];
}

int main() {
    unsigned called = 0;
    berth_test_called = &called;
    for (int call = 0; call < 3; ++call) {
        called = 0;
        check(berth_test_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                              20) == 1,
              "an argument is another one");
        check(called == 1, "the call is not noted");
        const Shape square = berth_test_shape(3, 2);
        for (int side = 0; side < 6; ++side)
            check(square.sides[side] == 3 + 2 * side, "a result in memory is another one");
        check(berth_test_sum(3, 0.5, 1, 0.25, 2, 0.125, 3) == 6.875, "of any number of arguments");
        check(berth_test_missing() == -7, "a function that is missing");
        check(berth_test_hooked() == 42, "the hook is not in its place");
    }
    check(resolved == 4, "a function is asked for more than once");
    return wrong;
}
