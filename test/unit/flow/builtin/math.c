// Elementary functions: the same bits as other engines, on every machine.
#include "base/array.h"
#include "flow/builtin/number/math_functions.h"
#include "unit/unit.h"
#include <math.h>

typedef struct Sample { // arguments and results as bits, computed by V8
    const char *name;
    double (*function)(double);
    uint64_t x;
    uint64_t result;
} Sample;

static const Sample samples[] = {
    {"sin", flow_math_sin, 0x3FE0000000000000, 0x3FDEAEE8744B05F0},
    {"sin", flow_math_sin, 0x4004000000000000, 0x3FE326AF0DCFCAB0},
    {"sin", flow_math_sin, 0x4059000000000000, 0xBFE03425B78C4DB8},
    {"sin", flow_math_sin, 0x4480F0CF064DD592, 0xBFEB453AB76BF397},
    {"sin", flow_math_sin, 0xC008000000000000, 0xBFC210386DB6D55B},
    {"cos", flow_math_cos, 0x3FB999999999999A, 0x3FEFD712F9A817C0},
    {"cos", flow_math_cos, 0x408F400000000000, 0x3FE1FF026793F1BC},
    {"cos", flow_math_cos, 0x4480F0CF064DD592, 0x3FE0BE2CEF01C8F4},
    {"tan", flow_math_tan, 0x4010000000000000, 0x3FF2866F9BE4DE14},
    {"tan", flow_math_tan, 0x401C000000000000, 0x3FEBE2E6E13EEA78},
    {"tan", flow_math_tan, 0x3FF8000000000000, 0x402C33ED50B88777},
    {"asin", flow_math_asin, 0xBFE3F86A14F60F24, 0xBFE590F6FA60A7EE},
    {"asin", flow_math_asin, 0x3FECCCCCCCCCCCCD, 0x3FF1EA93705FA172},
    {"acos", flow_math_acos, 0xBFE6666666666666, 0x4002C501446CD5F2},
    {"acos", flow_math_acos, 0x3FD3333333333333, 0x3FF441F5ECBEEF59},
    {"atan", flow_math_atan, 0x400921FB54442D18, 0x3FF433B8A322DDD2},
    {"atan", flow_math_atan, 0x3FE0000000000000, 0x3FDDAC670561BB4F},
    {"sinh", flow_math_sinh, 0x4072D0A3D70A3D71, 0x5B03D20693C865F2},
    {"sinh", flow_math_sinh, 0x3FD3333333333333, 0x3FD37D42AF54B926},
    {"cosh", flow_math_cosh, 0x4059DE147AE147AE, 0x49335E63B4481792},
    {"cosh", flow_math_cosh, 0x4000000000000000, 0x400E18FA0DF2D9BC},
    {"tanh", flow_math_tanh, 0x3FE6666666666666, 0x3FE356FB17AF2E92},
    {"tanh", flow_math_tanh, 0x3E29C511DC3A41DF, 0x3E29C511DC3A41DF},
    {"asinh", flow_math_asinh, 0x4073480000000000, 0x4019B3118DD3352F},
    {"asinh", flow_math_asinh, 0xC016AE147AE147AE, 0xC0037CF9DBF703F2},
    {"acosh", flow_math_acosh, 0x4008000000000000, 0x3FFC34366179D426},
    {"acosh", flow_math_acosh, 0x40190A3D70A3D70A, 0x40042AC635C14F9E},
    {"atanh", flow_math_atanh, 0x3FBFB15B573EAB36, 0x3FBFDB311AB384E2},
    {"atanh", flow_math_atanh, 0x3FECCCCCCCCCCCCD, 0x3FF78E360604B32D},
    {"exp", flow_math_exp, 0xC024000000000000, 0x3F07CD79B5647C9A},
    {"exp", flow_math_exp, 0x3FEC28F5C28F5C29, 0x40034985C907FBBC},
    {"exp", flow_math_exp, 0x3FF0000000000000, 0x4005BF0A8B145769},
    {"exp", flow_math_exp, 0x4085E00000000000, 0x7F0D945DF4F8EC8E},
    {"expm1", flow_math_expm1, 0x3FD77CED916872B0, 0x3FDC60A1AA6DB482},
    {"expm1", flow_math_expm1, 0x3DDB7CDFD9D7BDBB, 0x3DDB7CDFD9DDA4E3},
    {"expm1", flow_math_expm1, 0x4044000000000000, 0x438A220D397972EA},
    {"log", flow_math_log, 0x4008000000000000, 0x3FF193EA7AAD030A},
    {"log", flow_math_log, 0x3FDB22D0E5604189, 0xBFEB74EA2F085C8A},
    {"log", flow_math_log, 0x7E37E43C8800759C, 0x4085963447F87FB5},
    {"log1p", flow_math_log1p, 0x3FD9EB851EB851EC, 0x3FD5C32BD1B89E70},
    {"log1p", flow_math_log1p, 0x3DDB7CDFD9D7BDBB, 0x3DDB7CDFD9D1D693},
    {"log2", flow_math_log2, 0x3FE41D7DBF487FCC, 0xBFE56EE2AD813D0B},
    {"log2", flow_math_log2, 0x408417851EB851EC, 0x4022A8366F22E66B},
    {"log2", flow_math_log2, 0x4020000000000000, 0x4008000000000000},
    {"log10", flow_math_log10, 0x3FE585F06F694467, 0xBFC60C10283BD016},
    {"log10", flow_math_log10, 0x3FF7525460AA64C3, 0x3FC4F21A0D7D1888},
    {"log10", flow_math_log10, 0x408F400000000000, 0x4008000000000000},
    {"cbrt", flow_math_cbrt, 0x3FB999999999999A, 0x3FDDB4C7760BCFF3},
    {"cbrt", flow_math_cbrt, 0x3FC999999999999A, 0x3FE2B6B5EDF6B54A},
    {"cbrt", flow_math_cbrt, 0x403B000000000000, 0x4008000000000000},
};

static void functions_give_the_bits_of_other_engines(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        const Sample *sample = &samples[i];
        uint64_t bits = math_bits(sample->function(math_from_bits(sample->x)));
        if (bits == sample->result) continue;
        fail_msg("%s(%.17g) is %.17g, not %.17g", sample->name, math_from_bits(sample->x),
                 math_from_bits(bits), math_from_bits(sample->result));
    }
}

static void powers_give_the_bits_of_other_engines(void **state) {
    (void)state;
    static const uint64_t powers[][3] = {
        {0x3FC999999999999A, 0x3FD3333333333333, 0x3FE3BEBDCC9D061B},
        {0x405EDD2F1A9FBE77, 0x4010000000000000, 0x41ABB13A1091B1B3},
        {0x4000000000000000, 0x3FE0000000000000, 0x3FF6A09E667F3BCD},
        {0x4024000000000000, 0xC014000000000000, 0x3EE4F8B588E368F0},
        {0x3FECCCCCCCCCCCCD, 0x4050000000000000, 0x3F5351296DEBD52C},
        {0xC020000000000000, 0x4008000000000000, 0xC080000000000000},
        {0x3FF0C152382D7365, 0x4010000000000000, 0x3FF33DC5F6A52932},
        {0x403B000000000000, 0x3FB999999999999A, 0x3FF63F08B6F382AE},
        {0x01A56E1FC2F8F359, 0x4000000000000000, 0x0000000000000000},
        {0x401C000000000000, 0x3FE0C152382D7365, 0x4006291FA92132C8},
        {0x4000000000000000, 0xC090C80000000000, 0x0000000000000001},
        {0x3FE0000000000000, 0x4090E00000000000, 0x0000000000000000},
        {0xC000000000000000, 0x3FE0000000000000, 0x7FF4000000000000},
        {0xBFF0000000000000, 0x7FF0000000000000, 0xFFF8000000000000},
        {0x3FF0000000000000, 0x7FF8000000000000, 0x7FF8000000000000},
        {0x7FF8000000000000, 0x0000000000000000, 0x3FF0000000000000},
    };
    for (size_t i = 0; i < COUNT_OF(powers); i++) {
        double expected = math_from_bits(powers[i][2]);
        double actual = flow_math_pow(math_from_bits(powers[i][0]), math_from_bits(powers[i][1]));
        if (isnan(expected) && isnan(actual)) continue;
        if (math_bits(actual) != powers[i][2]) fail_msg("%.17g is not %.17g", actual, expected);
    }
}

static void reduction_of_large_arguments_keeps_the_circle(void **state) {
    (void)state;
    for (double x = 1e3; x < 1e300; x *= 37.123) {
        double s = flow_math_sin(x);
        double c = flow_math_cos(x);
        assert_true(fabs(s * s + c * c - 1) < 1e-15);
    }
}

static void edges_follow_the_language(void **state) {
    (void)state;
    assert_true(isnan(flow_math_sin(INFINITY)) && isnan(flow_math_log(-1)));
    assert_true(isnan(flow_math_pow(1, INFINITY)) && isnan(flow_math_pow(-1, -INFINITY)));
    assert_true(flow_math_log(0) == -INFINITY && flow_math_exp(-INFINITY) == 0);
    assert_true(flow_math_pow(NAN, 0) == 1 && signbit(flow_math_pow(-0.0, 3)));
    assert_true(signbit(flow_math_sin(-0.0)) && signbit(flow_math_cbrt(-0.0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_give_the_bits_of_other_engines),
        cmocka_unit_test(powers_give_the_bits_of_other_engines),
        cmocka_unit_test(reduction_of_large_arguments_keeps_the_circle),
        cmocka_unit_test(edges_follow_the_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
